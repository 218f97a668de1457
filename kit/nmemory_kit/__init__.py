"""The conformance kit for agent-memory servers."""

__version__ = "0.1.0"
