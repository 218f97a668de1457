"""The nMEMORY conformance kit: does an agent-memory server keep its promises?"""

__version__ = "0.1.0"
