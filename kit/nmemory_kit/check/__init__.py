"""Judging one answer: JSON Schema with the kit's few keywords, and laws. Pure; knows no target."""

from .answer import Answer, Outcome
from .broken import Broken
from .judge import Judgement, Judges

__all__ = ["Answer", "Broken", "Judgement", "Judges", "Outcome"]
