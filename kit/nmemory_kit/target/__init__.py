"""Reaching a server: over stdio, over Streamable HTTP, or in this process.

A `Target` opens connections, a `Connection` sends requests; what comes back is a `Reply` exactly as it was
sent, or a `Fault` that says why nothing usable came and whose doing that is. Knows no pack, no tool and no
case.
"""

from .build import make_target
from .command import Command
from .connection import NOBODY, STRANGER, Connection, Era, ServerInfo, Store, Target
from .environment import Inherit
from .era import McpVersion
from .errors import ProfileError, TargetError
from .http import HttpTarget
from .inprocess import Double, Handled, InProcessTarget
from .limits import Limits
from .listing import Listing, list_tools
from .profile import Profile, load_profile
from .reply import Blame, Fault, FaultKind, Noise, Reply, Unreachable
from .secrets import Redactor
from .served import ServedTarget
from .stdio import StdioTarget

__all__ = [
    "NOBODY",
    "STRANGER",
    "Blame",
    "Command",
    "Connection",
    "Double",
    "Era",
    "Fault",
    "FaultKind",
    "Handled",
    "HttpTarget",
    "InProcessTarget",
    "Inherit",
    "Limits",
    "Listing",
    "McpVersion",
    "Noise",
    "Profile",
    "ProfileError",
    "Redactor",
    "Reply",
    "ServedTarget",
    "ServerInfo",
    "StdioTarget",
    "Store",
    "Target",
    "TargetError",
    "Unreachable",
    "list_tools",
    "load_profile",
    "make_target",
]
