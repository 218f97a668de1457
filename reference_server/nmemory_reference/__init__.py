"""The nMEMORY reference server: a durable agent memory behind MCP, on one SQLite file.

It implements the contracts that the conformance kit judges and shares no code with the kit.
Importing the package is cheap; `mcp` is loaded only when a server speaks HTTP.
"""

__version__ = "0.1.0"
