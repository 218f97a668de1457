"""Lies about the search arm of recall: what a query finds, and which queries it takes."""

from __future__ import annotations

import re
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, text_argument, with_body, without
from nmemory_reference.lies.lie import Answers, Area, Lie
from nmemory_reference.lies.verbs.answers import failure
from nmemory_reference.serve.interceptor import ToolCall

area = Area("search")


@area.success("recall", clause="mv1/recall/no-query-no-results")
def results_are_always_there(call: ToolCall, body: Body) -> None:
    """Without a query results is an empty array."""
    body.setdefault("results", [])


@area.success("recall", clause="mv1/recall/no-query-no-results")
def results_are_null(call: ToolCall, body: Body) -> None:
    """Without a query results is null."""
    body.setdefault("results", None)


@area.success("recall", clause="mv1/recall/query-gives-results")
def no_results_no_key(call: ToolCall, body: Body) -> None:
    """Where a query finds nothing there is no results."""
    if not body.get("results"):
        body.pop("results", None)


@area.success("recall", clause="mv1/recall/both-arms")
def query_without_facts(call: ToolCall, body: Body) -> None:
    """With a query there are no facts."""
    if "query" in call.arguments and call.arguments.get("entity"):
        body["facts"], body["total"] = [], 0


@area.success("recall", clause="mv1/recall/both-arms")
def entity_without_results(call: ToolCall, body: Body) -> None:
    """With an entity the query is not asked."""
    if call.arguments.get("entity") and body.get("results"):
        body["results"] = []


@area.asking("recall", clause="mv1/recall/both-arms", also={"mv1/remember/entity-scoped"})
def query_widens_the_entity(call: ToolCall) -> ToolCall:
    """With a query the facts are everybody's."""
    return without(call, "entity") if call.arguments.get("query") else call


@area.success("recall", clause="mv1/recall/finds-page")
def finds_no_page(call: ToolCall, body: Body) -> None:
    """A query finds nothing."""
    if "results" in body:
        body["results"] = []


@area.success("recall", clause="mv1/recall/finds-page")
def result_comes_from_search(call: ToolCall, body: Body) -> None:
    """A result's provenance is `search`, not its page."""
    for result in body.get("results", ()):
        result["provenance"] = "search"


@area.success("recall", clause="mv1/recall/finds-page")
def result_lost_its_folder(call: ToolCall, body: Body) -> None:
    """A result's slug is only the last part of its page's."""
    for result in body.get("results", ()):
        result["slug"] = result["provenance"] = result["slug"].rpartition("/")[2]


@area.success("recall", clause="mv1/recall/finds-page")
def whole_titles_only(call: ToolCall, body: Body) -> None:
    """Only a page's whole title finds it."""
    query = (text_argument(call, "query") or "").casefold()
    if "results" in body:
        body["results"] = [result for result in body["results"] if result["title"].casefold() == query]


def _query_fails(call: ToolCall, code: str = "invalid_params") -> Result:
    return failure(code, "the query could not be read")


@area.answer("recall", clause="mv1/recall/query-never-errors")
async def quotes_are_syntax(call: ToolCall, honest: Honest) -> Result:
    """A single quotation mark in a query is a syntax error."""
    return _query_fails(call) if (text_argument(call, "query") or "").count('"') % 2 else await honest(call)


@area.answer("recall", clause="mv1/recall/query-never-errors")
async def operators_are_syntax(call: ToolCall, honest: Honest) -> Result:
    """A query that is an operator of the search engine is a syntax error."""
    words = (text_argument(call, "query") or "").split()
    return _query_fails(call) if {"AND", "OR", "NOT"} & {*words[:1], *words[-1:]} else await honest(call)


@area.answer("recall", clause="mv1/recall/query-never-errors")
async def near_is_syntax(call: ToolCall, honest: Honest) -> Result:
    """`NEAR(` in a query is a syntax error."""
    return _query_fails(call) if "NEAR(" in (text_argument(call, "query") or "") else await honest(call)


@area.answer("recall", clause="mv1/recall/query-never-errors")
async def stars_are_syntax(call: ToolCall, honest: Honest) -> Result:
    """A query that begins with a star is a syntax error."""
    return _query_fails(call) if (text_argument(call, "query") or "").startswith("*") else await honest(call)


@area.answer("recall", clause="mv1/recall/query-never-errors")
async def punctuation_is_no_query(call: ToolCall, honest: Honest) -> Result:
    """A query without a letter or digit is refused."""
    query = text_argument(call, "query")
    if query and query.strip() and not any(letter.isalnum() for letter in query):
        return _query_fails(call)
    return await honest(call)


@area.answer("recall", clause="mv1/recall/query-never-errors")
async def long_queries_are_refused(call: ToolCall, honest: Honest) -> Result:
    """A query of more than 4,096 characters is refused."""
    return _query_fails(call) if len(text_argument(call, "query") or "") > 4096 else await honest(call)


@area.answer("recall", clause="mv1/recall/query-never-errors", also={"mv1/error/not-internal"})
async def semicolons_are_internal(call: ToolCall, honest: Honest) -> Result:
    """A semicolon in a query is answered with internal."""
    return _query_fails(call, "internal") if ";" in (text_argument(call, "query") or "") else await honest(call)


@area.answer("recall", clause="mv1/recall/query-never-errors", also={"mv1/error/not-internal"})
async def emoji_are_internal(call: ToolCall, honest: Honest) -> Result:
    """An emoji in a query is answered with internal."""
    wide = any(ord(letter) > 0xFFFF for letter in text_argument(call, "query") or "")
    return _query_fails(call, "internal") if wide else await honest(call)


def _trips(name: str, says: str, when: Callable[[str], object]) -> None:
    """A query of some form is a syntax error."""

    async def answer(call: ToolCall, honest: Honest) -> Result:
        query = text_argument(call, "query")
        return _query_fails(call) if query is not None and when(query) else await honest(call)

    area.add(
        Lie(
            id=f"search/{name}",
            clause="mv1/recall/query-never-errors",
            says=says,
            make=lambda: Answers(["recall"], answer),
            tools=frozenset({"recall"}),
        )
    )


_trips("colons-are-columns", "`word:` in a query names a column, and there is none.", re.compile(r"\w:").search)
_trips("apostrophes-are-syntax", "An apostrophe in a query is a syntax error.", lambda query: "'" in query)
_trips("parentheses-are-syntax", "A parenthesis in a query is a syntax error.", re.compile("[()]").search)
_trips("slashes-are-syntax", "A slash in a query is a syntax error.", lambda query: "/" in query)
_trips("backslashes-are-syntax", "A backslash in a query is a syntax error.", lambda query: "\\" in query)
_trips("carets-are-syntax", "A query that begins with a caret is a syntax error.", lambda query: query.startswith("^"))


@area.success("recall", clause="mv1/recall/finds-page")
def minus_means_not(call: ToolCall, body: Body) -> None:
    """A hyphen in a query leaves out the pages that have the word after it."""
    unwanted = re.findall(r"-(\w+)", (text_argument(call, "query") or "").casefold())
    if "results" in body:
        body["results"] = [
            result
            for result in body["results"]
            if not any(word in f"{result['title']} {result['chunk']}".casefold() for word in unwanted)
        ]


@area.asking("recall", clause="mv1/recall/grep")
def grep_is_ignored(call: ToolCall) -> ToolCall:
    """grep leaves out nothing."""
    return without(call, "grep")


@area.success("recall", clause="mv1/recall/grep")
def case_counts_in_grep(call: ToolCall, body: Body) -> None:
    """grep finds a text only in the case in which it is written."""
    _keep(body, lambda fact: (text_argument(call, "grep") or "") in fact["fact"])


@area.success("recall", clause="mv1/recall/grep")
def grep_wants_whole_words(call: ToolCall, body: Body) -> None:
    """grep finds whole words only."""
    wanted = re.compile(rf"(?<!\w){re.escape(text_argument(call, 'grep') or '')}(?!\w)", re.IGNORECASE)
    _keep(body, lambda fact: wanted.search(fact["fact"]) is not None)


@area.answer("recall", clause="mv1/recall/grep")
async def grep_knows_wildcards(call: ToolCall, honest: Honest) -> Result:
    """A per cent sign and an underscore in grep stand for any text."""
    grep = text_argument(call, "grep") or ""
    if not {"%", "_"} & {*grep}:
        return await honest(call)
    pattern = re.compile(re.escape(grep).replace("%", ".*").replace("_", "."), re.IGNORECASE)
    result = await honest(without(call, "grep"))
    if is_error(result):
        return result
    body = body_of(result)
    _keep(body, lambda fact: pattern.search(fact["fact"]) is not None)
    return with_body(result, body)


@area.answer("recall", clause="mv1/recall/grep")
async def grep_looks_at_provenance(call: ToolCall, honest: Honest) -> Result:
    """grep also finds facts by their provenance."""
    grep = (text_argument(call, "grep") or "").casefold()
    result = await honest(without(call, "grep"))
    if is_error(result) or not grep:
        return result
    body = body_of(result)
    _keep(body, lambda fact: grep in f"{fact['fact']} {fact['provenance']}".casefold())
    return with_body(result, body)


@area.success("recall", clause="mv1/recall/degraded-note")
def degraded_search_goes_unsaid(call: ToolCall, body: Body) -> None:
    """Without embeddings search_degraded is left out."""
    body.pop("search_degraded", None)


@area.success("recall", clause="mv1/recall/degraded-note")
def degraded_search_is_said_of_results_only(call: ToolCall, body: Body) -> None:
    """search_degraded is left out where nothing was found."""
    if not body.get("results"):
        body.pop("search_degraded", None)


@area.answer("recall", clause="mv1/recall/grep")
async def grep_is_a_regular_expression(call: ToolCall, honest: Honest) -> Result:
    """grep is a regular expression."""
    grep = text_argument(call, "grep")
    if not grep:
        return await honest(call)
    try:
        wanted = re.compile(grep, re.IGNORECASE)
    except re.error:
        return failure("invalid_params", "grep is no regular expression")
    result = await honest(without(call, "grep"))
    if is_error(result):
        return result
    body = body_of(result)
    _keep(body, lambda fact: wanted.search(fact["fact"]) is not None)
    return with_body(result, body)


@area.success("recall", clause="mv1/recall/grep")
def grep_folds_ascii_only(call: ToolCall, body: Body) -> None:
    """grep finds other letters than the English ones only in the case in which they are written."""
    wanted = _ascii_folded(text_argument(call, "grep") or "")
    _keep(body, lambda fact: wanted in _ascii_folded(fact["fact"]))


@area.success("recall", clause="mv1/recall/grep")
def grep_knows_no_other_scripts(call: ToolCall, body: Body) -> None:
    """grep finds nothing for a text without a Latin letter."""
    grep = text_argument(call, "grep") or "a"
    _keep(body, lambda fact: re.search("[a-z]", grep, re.IGNORECASE) is not None)


def _ascii_folded(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def _keep(body: Body, wanted: Callable[[Body], bool]) -> None:
    """Leave the facts that are wanted."""
    body["facts"] = [fact for fact in body["facts"] if wanted(fact)]
    body["total"] = len(body["facts"])
