"""Scanning a content for text that tries to command its reader. Advisory: it is flagged, never refused."""

from __future__ import annotations

import re
from collections import defaultdict
from types import MappingProxyType
from typing import Final, NamedTuple

from nmemory_reference.capsules.fold import fold
from nmemory_reference.capsules.taint_rules import RULES, TEMPLATE_MARKS, TEMPLATE_RULE

_WORD_OR_END = re.compile(r"[^\W_]+|[.!?;](?=\s)|\n\s*\n")
#: Characters that don't show and would cut a word in two: soft hyphen, zero-width ones, marks of direction.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")


class _Phrase(NamedTuple):
    """One phrase of one group of one rule."""

    words: tuple[str, ...]
    rule: int
    group: int


def _by_first_word() -> MappingProxyType[str, tuple[_Phrase, ...]]:
    phrases: dict[str, list[_Phrase]] = defaultdict(list)
    for number, rule in enumerate(RULES):
        for group, alternatives in enumerate(rule.groups):
            for alternative in alternatives:
                words = tuple(alternative.split())
                phrases[words[0]].append(_Phrase(words, number, group))
    return MappingProxyType({word: tuple(found) for word, found in phrases.items()})


_PHRASES: Final = _by_first_word()


def scan(content: str) -> list[str]:
    """What fires, a line for each rule, as `rule: phrase, phrase`; empty for clean text.

    Takes time linear in the length of `content`, and gives the same lines for the same bytes.
    """
    text = fold(_INVISIBLE.sub("", content))
    found = _fired(text)
    if marks := [mark for mark in TEMPLATE_MARKS if mark in text]:
        found.append(f"{TEMPLATE_RULE}: {', '.join(marks)}")
    return found


def _fired(text: str) -> list[str]:
    words = _WORD_OR_END.findall(text)
    # For each rule: where each of its groups was met last, in the present sentence.
    met: dict[int, dict[int, tuple[int, str]]] = {}
    findings: dict[int, str] = {}
    for place, word in enumerate(words):
        if not word[0].isalnum():
            met.clear()
            continue
        for phrase in _PHRASES.get(word, ()):
            if phrase.rule in findings or tuple(words[place : place + len(phrase.words)]) != phrase.words:
                continue
            rule = RULES[phrase.rule]
            groups = met.setdefault(phrase.rule, {})
            groups[phrase.group] = (place, " ".join(phrase.words))
            near = sorted(hit for hit in groups.values() if place - hit[0] < rule.span)
            if len(near) == len(rule.groups):
                findings[phrase.rule] = f"{rule.id}: {', '.join(dict.fromkeys(text for _, text in near))}"
    return [findings[number] for number in sorted(findings)]
