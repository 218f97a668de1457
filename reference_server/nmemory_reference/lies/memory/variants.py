"""The conforming variants that know the memory tools."""

from __future__ import annotations

from nmemory_reference.lies.memory.freedoms import FREEDOMS
from nmemory_reference.lies.memory.habits import HABITS
from nmemory_reference.lies.memory.later import BUILDS
from nmemory_reference.lies.memory.orders import ORDERS
from nmemory_reference.lies.memory.wordings import WORDINGS
from nmemory_reference.lies.variant import Variant

VARIANTS: tuple[Variant, ...] = (*FREEDOMS, *BUILDS, *ORDERS, *HABITS, *WORDINGS)
