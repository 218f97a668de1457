"""The contract as values: packs, clauses, cases; loading, templates, linting, freezing. Knows no target."""

from .case import Case
from .clause import Clause, Level
from .pack import Pack, PackError, load_pack, pack_names

__all__ = ["Case", "Clause", "Level", "Pack", "PackError", "load_pack", "pack_names"]
