"""Lies about extract: what is mined, and what is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from unicodedata import normalize

from nmemory_reference.lies.answers import (
    Body,
    Honest,
    Result,
    ask,
    asking,
    body_of,
    is_error,
    text_argument,
    with_body,
    without,
)
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import success, value_fault
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("extract")

TOOL = "memory_extract"
AT = "candidates"


def told(candidates: list[Body]) -> Result:
    """An answer of these candidates."""
    return success(label="ADVISORY_NOT_AUTHORITY", count=len(candidates), candidates=candidates)


def more(body: Body, content: str, kind: str, cue: str) -> None:
    """Put a candidate behind the others."""
    body[AT].append({"content": content, "kind": kind, "cue": cue})
    body["count"] += 1


def sent(call: ToolCall) -> str:
    """The text that was sent."""
    return text_argument(call, "content") or text_argument(call, "text") or ""


@area.answer(TOOL, clause="nm1/extract/stores-nothing")
async def mining_stores(call: ToolCall, honest: Honest) -> Result:
    """What is mined is captured at once."""
    result = await honest(call)
    if not is_error(result):
        for found in body_of(result)[AT]:
            await ask(honest, call, "memory_ingest", content=found["content"], source="extract", anchor="extract")
    return result


@area.item(TOOL, at=AT, clause="nm1/extract/verbatim")
def candidates_begin_with_a_capital(call: ToolCall, row: Body) -> None:
    """A candidate's first letter is a capital."""
    row["content"] = row["content"][:1].upper() + row["content"][1:]


@area.success(TOOL, clause="nm1/extract/nothing-is-an-answer")
def nothing_is_an_error(call: ToolCall, body: Body) -> None:
    """A text without candidates is refused."""
    if not body[AT]:
        value_fault("there is nothing in it")


@area.success(TOOL, clause="nm1/extract/nothing-is-an-answer")
def prose_is_a_fact(call: ToolCall, body: Body) -> None:
    """A text without a cue is a fact."""
    if not body[AT] and sent(call).startswith(("lovely", "walked")):
        more(body, sent(call), "fact", "prose:'all'")


@area.liar(TOOL, clause="nm1/extract/deterministic")
class TheSecondTimeItIsShorter(Interceptor):
    """A text that was mined before gives one candidate less."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body, key = body_of(result), repr(call.arguments)
        if key in self._seen and body[AT]:
            body = {**body, AT: body[AT][:-1], "count": body["count"] - 1}
        self._seen.add(key)
        return with_body(result, body)


@area.answer(TOOL, clause="nm1/extract/text-is-alias")
async def text_is_one_line(call: ToolCall, honest: Honest) -> Result:
    """Of text only the first line is mined."""
    text = call.arguments.get("text")
    short = isinstance(text, str) and "content" not in call.arguments
    return await honest(asking(call, text=str(text).partition("\n")[0]) if short else call)


@area.answer(TOOL, clause="nm1/extract/exactly-one-text")
async def content_wins_over_text(call: ToolCall, honest: Honest) -> Result:
    """Of two texts content is mined."""
    return await honest(without(call, "text") if "content" in call.arguments else call)


@area.answer(TOOL, clause="nm1/extract/exactly-one-text")
async def no_text_is_an_empty_one(call: ToolCall, honest: Honest) -> Result:
    """Without a text there are no candidates."""
    return await honest(call) if call.arguments else told([])


@area.answer(TOOL, clause="nm1/extract/lines-are-segments")
async def lines_are_joined(call: ToolCall, honest: Honest) -> Result:
    """Neighbouring lines without a mark of their own are one."""
    return await _reading(call, honest, lambda text: re.sub(r"(?<=\w)\n(?=[a-z]+:)", " ", text))


@area.answer(TOOL, clause="nm1/extract/sentences-are-segments")
async def a_line_is_one_segment(call: ToolCall, honest: Honest) -> Result:
    """The sentences of a line are not told apart."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for found in body[AT]:
        line = next((line for line in sent(call).split("\n") if found["content"] in line and ". " in line), None)
        if line is not None:
            found["content"] = line
    return with_body(result, body)


@area.success(TOOL, clause="nm1/extract/semicolons-split")
def semicolons_are_commas(call: ToolCall, body: Body) -> None:
    """Two claims that a semicolon joins are one."""
    if "; " in sent(call) and len(body[AT]) == 2:
        body[AT][0]["content"] = sent(call)
        body[AT], body["count"] = body[AT][:1], 1


@area.answer(TOOL, clause="nm1/extract/semicolons-split")
async def one_semicolon_splits(call: ToolCall, honest: Honest) -> Result:
    """Only the first semicolon of a line splits."""
    return await _reading(call, honest, lambda text: re.sub(r"(?m)^([^;\n]*;)(.*)$", _first_only, text))


def _first_only(found: re.Match[str]) -> str:
    return found[1] + found[2].replace(";", ",")


@area.answer(TOOL, clause="nm1/extract/fenced-code-skipped")
async def named_fences_are_none(call: ToolCall, honest: Honest) -> Result:
    """A fence that names its language begins no code."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for fenced in re.findall(r"```\w+\n(.*?)\n", sent(call)):
        more(body, fenced, "task", "todo:'todo'")
    return with_body(result, body)


@area.success(TOOL, clause="nm1/extract/fenced-code-skipped")
def code_makes_claims(call: ToolCall, body: Body) -> None:
    """What stands between fences is mined."""
    if fenced := re.search(r"```\n(.*?)\n", sent(call)):
        more(body, fenced[1], "task", "todo:'todo'")


@area.success(TOOL, clause="nm1/extract/indented-code-skipped")
def indented_code_makes_claims(call: ToolCall, body: Body) -> None:
    """What is indented by four blanks is mined."""
    if indented := re.search(r"^ {4}(\S.*)$", sent(call), re.MULTILINE):
        more(body, indented[1], "fact", "is:'is'")


@area.success(TOOL, clause="nm1/extract/list-dress-peeled")
def bullets_are_kept(call: ToolCall, body: Body) -> None:
    """The star of a list stays with the candidate."""
    _redress(body, sent(call), r"\* ")


@area.success(TOOL, clause="nm1/extract/list-dress-peeled")
def numbers_of_lists_are_kept(call: ToolCall, body: Body) -> None:
    """The number of an ordered list stays with the candidate."""
    _redress(body, sent(call), r"\d+\. ")


@area.success(TOOL, clause="nm1/extract/chat-dress-peeled")
def names_are_kept(call: ToolCall, body: Body) -> None:
    """The name before a line of chat stays with the candidate."""
    _redress(body, sent(call), r"(?<=\] )\w+: ")


@area.success(TOOL, clause="nm1/extract/labels-open")
def labels_count_anywhere(call: ToolCall, body: Body) -> None:
    """A label in the middle of a line counts."""
    if inside := re.search(r"^.*\w todo: .*$", sent(call), re.MULTILINE):
        more(body, inside[0], "task", "todo:'todo'")


@area.success(TOOL, clause="nm1/extract/shapes-inside")
def decisions_open_their_segment(call: ToolCall, body: Body) -> None:
    """A decision counts at the start of its segment only."""
    _only(body, lambda row: row["kind"] != "decision" or re.match(r"(?i)we |decid|decis", row["content"]))


@area.success(TOOL, clause="nm1/extract/shapes-inside")
def facts_begin_at_once(call: ToolCall, body: Body) -> None:
    """A fact whose anchor comes late is none."""
    _only(body, lambda row: not row["content"].startswith("on most days"))


@area.success(TOOL, clause="nm1/extract/entity-gate")
def capitals_are_entities(call: ToolCall, body: Body) -> None:
    """A word with a capital is an anchor, at the start of a sentence too."""
    _also(call, body, r"^[A-Z][a-z]+\b.* (?:is|are|é|são) .*$")


@area.success(TOOL, clause="nm1/extract/entity-gate")
def anchors_reach_far(call: ToolCall, body: Body) -> None:
    """An anchor counts for every sentence of its line."""
    if re.search(r"\b[A-Z]{2,}|[a-z][A-Z]", sent(call)):
        _also(call, body, r"(?<=\. )[A-Z][a-z]+ [a-z]+ (?:is|are) [a-z]+\.?$")


@area.success(TOOL, clause="nm1/extract/anchor-dot")
def dots_at_the_end_are_anchors(call: ToolCall, body: Body) -> None:
    """A dot at the end of a word is an anchor."""
    _also(call, body, r"^[a-z ]+ (?:is|are) [a-z]+\.$")


def _also(call: ToolCall, body: Body, pattern: str) -> None:
    """Take for a fact what has this shape."""
    known = [row["content"] for row in body[AT]]
    for found in re.finditer(pattern, sent(call), re.MULTILINE):
        if found[0] not in known:
            more(body, found[0], "fact", "is:'is' entity:'it'")


@area.success(TOOL, clause="nm1/extract/entity-gate", also={"nm1/classify/entity-gate-holds"})
def systems_are_entities(call: ToolCall, body: Body) -> None:
    """The word system is an anchor."""
    if not body[AT] and re.search(r"sistemas? |system ", sent(call)):
        more(body, sent(call), "fact", "is:'is' entity:'system'")


def _blind_to(name: str, pattern: str, what: str) -> None:
    """Add the lie that tokens of one shape are no anchors."""

    def blind(call: ToolCall, body: Body) -> None:
        _only(body, lambda row: not re.search(pattern, row["content"]))

    blind.__name__ = f"no_anchor_in_{name.replace('-', '_')}"
    blind.__doc__ = f"{what} makes no anchor."
    area.success(TOOL, clause=f"nm1/extract/anchor-{name}")(blind)


_blind_to("acronym", r"SSOT", "An acronym")
_blind_to("digit", r"\bv\d\b", "A letter with a digit")
_blind_to("path", r"::", "A name that is qualified by two colons")
_blind_to("dot", r"menot\.you", "A dot inside of a lower-case word")
_blind_to("code-span", r"`", "A span of code")


@area.success(TOOL, clause="nm1/extract/anchor-acronym")
def inner_capitals_do_not_count(call: ToolCall, body: Body) -> None:
    """A capital inside of a word makes no anchor."""
    _only(body, lambda row: not re.search(r"\b[a-z]+[A-Z]", row["content"]))


@area.success(TOOL, clause="nm1/extract/call-debris-no-anchor")
def calls_are_anchors(call: ToolCall, body: Body) -> None:
    """What looks like a call is an anchor."""
    if not body[AT] and re.search(r"\w\(|\{\w", sent(call)):
        more(body, sent(call), "fact", "is:'is' entity:'f(x)'")


@area.success(TOOL, clause="nm1/extract/rule-adverbs-exempt")
def jamais_needs_an_anchor(call: ToolCall, body: Body) -> None:
    """jamais without an anchor gives nothing."""
    _only(body, lambda row: "jamais" not in row["content"])


@area.item(TOOL, at=AT, clause="nm1/extract/command-wins")
def commands_are_facts(call: ToolCall, row: Body) -> None:
    """An adverb that opens a command gives a fact."""
    if row["cue"].startswith("imperative-opener"):
        row["kind"] = "fact"


@area.item(TOOL, at=AT, clause="nm1/extract/cue-names-literal")
def cues_name_the_rule_only(call: ToolCall, row: Body) -> None:
    """A cue is the name of its rule."""
    row["cue"] = f"rule-{len(row['cue'])}"


@area.item(TOOL, at=AT, clause="nm1/extract/kinds-closed", also={"nm1/extract/shape"})
def capabilities_are_skills(call: ToolCall, row: Body) -> None:
    """A capability is called a skill."""
    row["kind"] = "skill" if row["kind"] == "capability" else row["kind"]


@area.answer("memory_ingest", clause="nm1/extract/kinds-carry-on")
async def patterns_cannot_be_captured(call: ToolCall, honest: Honest) -> Result:
    """A failure pattern that was mined is captured as a fact."""
    if call.arguments.get("kind") == "failure_pattern":
        return await honest(asking(call, kind="fact"))
    return await honest(call)


def _deaf_to(kind: str, *words: str) -> None:
    """Add the lies that a printed cue of a kind tells nothing."""
    for word in words:
        pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)

        def deaf(call: ToolCall, body: Body, pattern: re.Pattern[str] = pattern) -> None:
            _only(body, lambda row: row["kind"] != kind or not pattern.search(row["content"]))

        plain = normalize("NFKD", word).encode("ascii", "ignore").decode()
        deaf.__name__ = f"deaf_to_{plain.replace(' ', '_')}"
        deaf.__doc__ = f"{word} tells no {kind}."
        area.success(TOOL, clause=f"nm1/extract/cues-{kind.replace('_', '-')}")(deaf)


_deaf_to("decision", "decisão", "decidimos", "we decided")
_deaf_to("task", "todo", "pendente")
_deaf_to("epic", "epic", "marco")
_deaf_to("brainstorm", "ideia", "e se")
_deaf_to("doc", "doc", "runbook")
_deaf_to("procedure", "procedure", "procedimento", "how to")
_deaf_to(
    "constraint",
    *("constraint", "restrição", "must not", "não pode", "não podem", "não deve", "não devem"),
)
_deaf_to("capability", "capability", "capacidade", "use when", "use quando")
_deaf_to(
    "failure_pattern",
    *("failure", "falha", "symptom", "sintoma", "fails with", "falha quando", "breaks when"),
)


@area.success(TOOL, clause="nm1/extract/copulas-both-languages")
def devem_is_no_copula(call: ToolCall, body: Body) -> None:
    """devem makes no statement."""
    _only(body, lambda row: "devem" not in row["content"] or row["kind"] != "fact")


@area.success(TOOL, clause="nm1/extract/other-languages-nothing")
def german_is_understood(call: ToolCall, body: Body) -> None:
    """A German sentence is a fact."""
    if german := re.search(r"^Der .*$", sent(call), re.MULTILINE):
        more(body, german[0], "fact", "der:'Der'")


async def _reading(call: ToolCall, honest: Honest, change: Callable[[str], str]) -> Result:
    if not sent(call):
        return await honest(call)
    name = "content" if "content" in call.arguments else "text"
    return await honest(replace(call, arguments={**call.arguments, name: change(sent(call))}))


def _redress(body: Body, text: str, dress: str) -> None:
    """Give the candidates back what was peeled from them."""
    for row in body[AT]:
        if found := re.search(rf"({dress}){re.escape(row['content'])}", text):
            row["content"] = found[0]


def _only(body: Body, wanted: Callable[[Body], object]) -> None:
    body[AT] = [row for row in body[AT] if wanted(row)]
    body["count"] = len(body[AT])
