"""Mining a text for candidates: pieces of it, verbatim, with a kind and the cue that told it."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from nmemory_reference.capsules.capture.cues import LABELS, RULES, STANDING_ADVERBS, SUBJECT_OPENERS, Place
from nmemory_reference.capsules.capture.segments import Segment, segments

LEAST_WORDS: Final = 2
#: What a question may still be.
_QUESTION_RULES: Final = frozenset({"idea-label", "exploration-opener"})

_WORD = re.compile(r"[\w'’-]+")
_AFTER_LABEL = re.compile(r"(?:\([^()\n]*\))?(?:\s*:|\s+[-–—]\s)")
_CODE = re.compile(r"`([^`\s][^`]*)`")
_EDGES: Final = ".,:;!?\"'“”‘’«»()[]{}<>*_…`"
_CALL_MARKS: Final = frozenset("(){};")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece of the text that may be worth a capsule."""

    content: str
    kind: str
    #: `rule:'literal'`, and for an anchored fact also ` entity:'token'`.
    cue: str


@dataclass(frozen=True, slots=True)
class _Phrase:
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
_PRECEDENCE: Final = MappingProxyType({rule.id: place for place, rule in enumerate(RULES)})


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
            if not _CALL_MARKS & set(code[1]):
                return code[1]
            continue
        token = found.group().strip(_EDGES)
        if token and not _CALL_MARKS & set(token) and _is_concrete(token):
            return token
    return None


def _candidate(segment: Segment) -> Candidate | None:
    words = [(found.group().lower().replace("’", "'"), found.end()) for found in _WORD.finditer(segment.text)]
    if len(words) < LEAST_WORDS:
        return None
    question = segment.text.endswith("?")
    if segment.open_box:
        return Candidate(segment.text, "task", "task-checkbox:'[ ]'")
    best: tuple[int, str] | None = None
    for place, (word, _) in enumerate(words):
        for phrase in _PHRASES.get(word, ()):
            if best is not None and phrase.precedence >= best[0]:
                continue
            if question and RULES[phrase.precedence].id not in _QUESTION_RULES:
                continue
            if _fires(segment.text, words, place, phrase):
                best = phrase.precedence, phrase.literal
    if not question and words[0][0] in STANDING_ADVERBS and words[1][0] not in SUBJECT_OPENERS:
        command = _PRECEDENCE["imperative-opener"]
        if best is None or command < best[0]:
            best = command, words[0][0]
    if best is None:
        return None
    rule, literal = RULES[best[0]], best[1]
    cue = f"{rule.id}:'{literal}'"
    if rule.anchored:
        entity = entity_of(segment.text)
        if entity is None:
            return None
        cue += f" entity:'{entity}'"
    return Candidate(segment.text, rule.kind, cue)


def _fires(text: str, words: list[tuple[str, int]], place: int, phrase: _Phrase) -> bool:
    """Whether a phrase stands at this place, and the place is one where its rule counts."""
    end = place + len(phrase.words)
    if tuple(word for word, _ in words[place:end]) != phrase.words:
        return False
    match RULES[phrase.precedence].place:
        case Place.LABEL:
            return place == 0 and _AFTER_LABEL.match(text, words[end - 1][1]) is not None
        case Place.OPENER:
            return place == 0
        case Place.INSIDE:
            return place > 0
        case Place.ANYWHERE:
            return True


def _is_concrete(token: str) -> bool:
    if any(map(str.isdigit, token)) or "::" in token:
        return True
    if token.startswith(("/", "./", "../", "~/")) or token.count("/") > 1 or ("/" in token and "." in token):
        return True
    if sum(map(str.isupper, token)) > 1 or any(map(str.isupper, token[1:])):
        return True
    parts = token.split(".")
    return len(parts) > 1 and all(parts) and any(len(part) > 1 for part in parts)
