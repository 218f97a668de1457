"""Laws about how a number has moved since an earlier answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...contract.template import is_integer
from ..answer import Answer
from ..broken import Broken
from ..vocabulary import show
from . import law
from .places import Unfit, fitting, integer_at


@law("moved-by")
@fitting
def moved_by(answer: Answer, args: Mapping[str, Any]) -> Iterable[Broken]:
    """The integer at ``at`` is the saved integer ``from`` and ``by`` more (less, where ``by`` is negative)."""
    before, by = args["from"], args["by"]
    if not is_integer(before):
        raise Unfit(Broken("", "an integer in the earlier answer", show(before)))
    now = integer_at(answer.body, args["at"])
    if now != before + by:
        yield Broken(args["at"], f"{before + by}, {by:+} on {before}", show(now))
