"""Mining a text for candidates: pieces of it, verbatim, with a kind and the cue that told it."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple

from nmemory_reference.capsules.capture.cues import LABELS, RULES, STANDING_ADVERBS, SUBJECT_OPENERS, Place, Rule
from nmemory_reference.capsules.capture.segments import Segment, segments

LEAST_WORDS: Final = 2
#: What a question may still be.
_QUESTION_RULES: Final = frozenset({"idea-label", "exploration-opener"})

_WORD = re.compile(r"[\w'’-]+")
_AFTER_LABEL = re.compile(r"(?:\([^()\n]*\))?(?:\s*:|\s+[-–—]\s)")
_CODE = re.compile(r"`([^`\s][^`]*)`")
_EDGES: Final = ".,:;!?\"'“”‘’«»<>*_…`"
#: What stands around a token and is no part of it. A bracket that does not enclose it is the mark of a call.
_BEFORE: Final = _EDGES + "([{"
_AFTER: Final = _EDGES + ")]}"
_CALL_MARKS: Final = frozenset("(){};")


class Candidate(NamedTuple):
    """A piece of the text that may be worth a capsule."""

    content: str
    kind: str
    #: `rule:'literal'`, and for an anchored fact also ` entity:'token'`.
    cue: str


class _Phrase(NamedTuple):
    """A cue's words in lower case; `precedence` is its rule's place in the table."""

    words: tuple[str, ...]
    literal: str
    precedence: int


def _by_first_word() -> MappingProxyType[str, tuple[_Phrase, ...]]:
    phrases: dict[str, list[_Phrase]] = defaultdict(list)
    for precedence, rule in enumerate(RULES):
        for literal in rule.phrases:
            words = tuple(_WORD.findall(literal))
            phrases[words[0]].append(_Phrase(words, literal, precedence))
    # Longer phrases first: `must not` before `must`.
    return MappingProxyType(
        {word: tuple(sorted(found, key=lambda phrase: -len(phrase.words))) for word, found in phrases.items()}
    )


_PHRASES: Final = _by_first_word()
_COMMAND: Final = next(place for place, rule in enumerate(RULES) if rule.id == "imperative-opener")


def mine(text: str) -> list[Candidate]:
    """The candidates of `text`, in order, at most one a segment. Time is linear in the length of the text."""
    return [candidate for segment in segments(text, LABELS) if (candidate := _candidate(segment)) is not None]


def derived_kind(content: str) -> str | None:
    """The kind that the first cue of a content tells, or None: nothing is guessed."""
    for segment in segments(content, LABELS):
        if (candidate := _candidate(segment)) is not None:
            return candidate.kind
    return None


def entity_of(text: str) -> str | None:
    """The first concrete token: an acronym or inner capital, a digit, a path or `::`, an inner dot, or code.

    Tokens with call marks inside are code debris, and a capital that only begins a word is no anchor.
    """
    code = _CODE.search(text)
    for found in re.finditer(r"\S+", text):
        if code is not None and found.start() <= code.start() < found.end():
            if _CALL_MARKS.isdisjoint(code[1]):
                return code[1]
            continue
        token = found.group().lstrip(_BEFORE).rstrip(_AFTER)
        if _is_concrete(token) and _CALL_MARKS.isdisjoint(token):
            return token
    return None


def _candidate(segment: Segment) -> Candidate | None:
    if len(segment.text.split(maxsplit=LEAST_WORDS)) < LEAST_WORDS:
        return None
    if segment.open_box:
        return Candidate(segment.text, "task", "task-checkbox:'[ ]'")
    rule, literal = _first_cue(segment.text.lower().replace("’", "'"), question=segment.text.endswith("?"))
    if rule is None:
        return None
    cue = f"{rule.id}:'{literal}'"
    if rule.anchored:
        entity = entity_of(segment.text)
        if entity is None:
            return None
        cue += f" entity:'{entity}'"
    return Candidate(segment.text, rule.kind, cue)


def _first_cue(text: str, *, question: bool) -> tuple[Rule | None, str]:
    """The rule that comes first in the table among those that fire, and the phrase that it fired on."""
    words = _WORD.findall(text)
    best, literal = len(RULES), ""
    if not question and _is_command(words):
        best, literal = _COMMAND, words[0]
    for place, word in enumerate(words):
        for phrase in _PHRASES.get(word, ()):
            if phrase.precedence >= best or (question and RULES[phrase.precedence].id not in _QUESTION_RULES):
                continue
            if _fires(text, words, place, phrase):
                best, literal = phrase.precedence, phrase.literal
    return (None, "") if best == len(RULES) else (RULES[best], literal)


def _is_command(words: list[str]) -> bool:
    """Whether a standing adverb opens and no subject follows: "Sempre valide o token"."""
    return len(words) > 1 and words[0] in STANDING_ADVERBS and words[1] not in SUBJECT_OPENERS


def _fires(text: str, words: list[str], place: int, phrase: _Phrase) -> bool:
    """Whether a phrase stands at this place, and the place is one where its rule counts."""
    length = len(phrase.words)
    if tuple(words[place : place + length]) != phrase.words:
        return False
    match RULES[phrase.precedence].place:
        case Place.LABEL:
            return place == 0 and _is_label(text, length)
        case Place.OPENER:
            return place == 0
        case Place.INSIDE:
            return place > 0
        case Place.ANYWHERE:
            return True


def _is_label(text: str, length: int) -> bool:
    """Whether the first `length` words of a segment are followed as labels are."""
    *_, last = islice(_WORD.finditer(text), length)
    return _AFTER_LABEL.match(text, last.end()) is not None


def _is_concrete(token: str) -> bool:
    if not token or (token.isalpha() and token[1:].islower()):
        return False  # a plain word, as nearly all are
    if any(map(str.isdigit, token)) or "::" in token:
        return True
    if token.startswith(("/", "./", "../", "~/")) or token.count("/") > 1 or ("/" in token and "." in token):
        return True
    if sum(map(str.isupper, token)) > 1 or any(map(str.isupper, token[1:])):
        return True
    parts = token.split(".")
    return len(parts) > 1 and all(parts) and any(len(part) > 1 for part in parts)
