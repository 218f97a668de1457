"""Lies about the words of a recall: what a term finds."""

from __future__ import annotations

import re
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, asking, body_of, is_error, text_result, without
from nmemory_reference.lies.lie import Area, Lie
from nmemory_reference.lies.memory.answers import VALUE, success
from nmemory_reference.lies.memory.recalled import (
    RETRIEVE,
    abstention,
    also,
    drop,
    entries,
    folded,
    is_vector,
    terms_of,
    with_terms,
    words,
)
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, RpcFault, ToolCall

area = Area("words")

_KNOWN = frozenset(
    {
        "terms",
        "lane",
        "project_id",
        "project_prefix",
        "session_id",
        "time_window",
        "limit",
        "token_budget",
        "query_embedding",
        "vector_k",
        "weight_blend",
    }
)


def _searchable(term: object) -> bool:
    return isinstance(term, str) and any(letter.isalnum() for letter in term)


# What a term has to be


@area.refusal(RETRIEVE, clause="nm1/retrieve/terms-demanded")
def no_list_finds_nothing(call: ToolCall, refusal: Refusal) -> Result | None:
    """A call without terms abstains."""
    return None if "terms" in call.arguments else success(**abstention())


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-demanded")
def vectors_need_no_terms(call: ToolCall) -> ToolCall:
    """Lane vector can be asked without terms."""
    return asking(call, terms=["x"]) if is_vector(call) and not call.arguments.get("terms") else call


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-are-texts")
def one_text_is_a_list(call: ToolCall) -> ToolCall:
    """A text in the place of the list is the one term."""
    term = call.arguments.get("terms")
    return asking(call, terms=[term]) if isinstance(term, str) else call


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-are-texts")
def numbers_are_terms(call: ToolCall) -> ToolCall:
    """A number in the list is taken for its digits."""
    terms = call.arguments.get("terms")
    if not isinstance(terms, list):
        return call
    return asking(call, terms=[str(term) if isinstance(term, int) else term for term in terms])


@area.refusal(RETRIEVE, clause="nm1/retrieve/terms-searchable")
def signs_are_told_in_band(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A term of signs is refused in band."""
    bad = terms_of(call) and refusal.code == VALUE and not any(_searchable(term) for term in terms_of(call))
    return Refusal(refusal.text) if bad else None


@area.answer(RETRIEVE, clause="nm1/retrieve/terms-searchable")
async def digits_are_no_words(call: ToolCall, honest: Honest) -> Result:
    """A term of digits only is refused."""
    if any(term.isdigit() for term in terms_of(call)):
        raise RpcFault(VALUE, "a term needs a letter")
    return await honest(call)


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-searchable")
def vectors_take_any_term(call: ToolCall) -> ToolCall:
    """Lane vector does not look at its terms."""
    return asking(call, terms=["x"]) if is_vector(call) and terms_of(call) else call


@area.answer(RETRIEVE, clause="nm1/retrieve/terms-searchable")
async def an_underscore_is_a_letter(call: ToolCall, honest: Honest) -> Result:
    """A term of underscores finds nothing."""
    return success(**abstention()) if any(set(term) == {"_"} for term in terms_of(call)) else await honest(call)


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-each-searchable")
def the_later_terms_are_sifted(call: ToolCall) -> ToolCall:
    """From the third term on, a term of signs is passed over."""
    terms = terms_of(call)
    return asking(call, terms=[*terms[:2], *filter(_searchable, terms[2:])]) if len(terms) > 2 else call


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-each-searchable")
def blank_terms_are_passed_over(call: ToolCall) -> ToolCall:
    """A term of blanks beside a good one is passed over."""
    good = [term for term in terms_of(call) if not term or term.strip()]
    return asking(call, terms=good) if good and len(good) < len(terms_of(call)) else call


@area.asking(RETRIEVE, clause="nm1/retrieve/unknown-argument")
def unknown_arguments_are_ignored(call: ToolCall) -> ToolCall:
    """An argument that recall does not have is ignored."""
    return without(call, *(set(call.arguments) - _KNOWN))


# Words of a term


@area.asking(RETRIEVE, clause="nm1/retrieve/word-exact")
def plurals_find_the_singular(call: ToolCall) -> ToolCall:
    """An s at the end of a term also finds the word without it."""
    more = [term.removesuffix("s") for term in terms_of(call)]
    return asking(call, terms=[*terms_of(call), *more]) if any(term.endswith("s") for term in terms_of(call)) else call


async def _completed(call: ToolCall, honest: Honest, finds: Callable[[str, str], bool]) -> Result:
    """The answer to a call with each one-word term standing for the words that it `finds` as well."""
    known = {word for row in await entries(call, honest) for word in words(row["headline"])}
    asked = [folded(term) for term in terms_of(call) if len(words(term)) == 1]
    more = [word for word in sorted(known) if any(word != term and finds(term, word) for term in asked)]
    return await also(call, honest, asking(call, terms=more)) if more and asked else await honest(call)


@area.answer(RETRIEVE, clause="nm1/retrieve/word-exact")
async def beginnings_find(call: ToolCall, honest: Honest) -> Result:
    """A term also finds the words that begin with it."""
    return await _completed(call, honest, lambda term, word: len(term) > 6 and word.startswith(term))


@area.answer(RETRIEVE, clause="nm1/retrieve/word-exact")
async def words_are_stemmed(call: ToolCall, honest: Honest) -> Result:
    """A term also finds the word that differs by its ending es."""
    return await _completed(call, honest, lambda term, word: term == f"{word}es")


@area.answer(RETRIEVE, clause="nm1/retrieve/word-exact")
async def endings_are_cut_off(call: ToolCall, honest: Honest) -> Result:
    """A term also finds the word that has the ending ning."""
    return await _completed(call, honest, lambda term, word: word == f"{term}ning")


def _is_slip(term: str, word: str) -> bool:
    differ = sum(map(str.__ne__, term, word))
    return len(term) == len(word) > 6 and differ == 1


@area.answer(RETRIEVE, clause="nm1/retrieve/word-exact")
async def slips_are_forgiven(call: ToolCall, honest: Honest) -> Result:
    """A term also finds the word that differs in one letter."""
    return await _completed(call, honest, _is_slip)


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-or")
def eight_terms_are_heard(call: ToolCall) -> ToolCall:
    """What comes after the eighth term is not looked for."""
    return asking(call, terms=terms_of(call)[:8]) if len(terms_of(call)) > 8 else call


@area.asking(RETRIEVE, clause="nm1/retrieve/terms-or")
def the_second_term_is_not_heard(call: ToolCall) -> ToolCall:
    """The second of two terms is not looked for."""
    return asking(call, terms=terms_of(call)[:1]) if len(terms_of(call)) == 2 else call


@area.answer(RETRIEVE, clause="nm1/retrieve/words-and")
async def the_last_word_may_be_missing(call: ToolCall, honest: Honest) -> Result:
    """Where no capsule holds all words of a term, the last one is dropped."""
    result = await honest(call)
    terms = terms_of(call)
    if is_error(result) or body_of(result)["outcome"] != "abstain" or not any(len(words(term)) > 2 for term in terms):
        return result
    return await honest(with_terms(call, lambda term: " ".join(term.split()[:-1]) or term))


def _in_order(pattern: Callable[[list[str]], str]) -> Callable[[ToolCall, Body], None]:
    def change(call: ToolCall, body: Body) -> None:
        asked = [words(term) for term in terms_of(call) if term.isascii()]
        drop(
            body,
            lambda row: any(
                len(term) > 1 and not re.search(pattern(term), " ".join(words(row["headline"])))
                for term in asked
                if set(term) <= set(words(row["headline"]))
            ),
        )

    return change


@area.success(RETRIEVE, clause="nm1/retrieve/words-any-order")
def words_stand_in_their_order(call: ToolCall, body: Body) -> None:
    """The words of a term have to follow each other."""
    _in_order(".* ".join)(call, body)


@area.success(RETRIEVE, clause="nm1/retrieve/words-any-order", also={"nm1/retrieve/words-and"})
def a_term_is_a_phrase(call: ToolCall, body: Body) -> None:
    """The words of a term have to stand side by side."""
    _in_order(" ".join)(call, body)


@area.success(RETRIEVE, clause="nm1/retrieve/words-any-order")
def only_headlines_are_searched(call: ToolCall, body: Body) -> None:
    """What stands behind the first line is not looked into."""
    drop(body, lambda row: "bm25" in row and not any(_holds(row, term) for term in row["matched_terms"]))


def _holds(row: Body, term: str) -> bool:
    return term.startswith("alias:") or set(words(term)) <= set(words(row["headline"]))


# Letters


@area.success(RETRIEVE, clause="nm1/retrieve/diacritics-folded")
def diacritics_have_to_be_typed(call: ToolCall, body: Body) -> None:
    """A plain word does not find one with a cedilla."""
    drop(body, lambda row: "ç" in row["headline"] and "ç" not in "".join(terms_of(call)).lower())


@area.success(RETRIEVE, clause="nm1/retrieve/diacritics-folded")
def an_umlaut_is_a_letter(call: ToolCall, body: Body) -> None:
    """A plain u does not find an u with two dots."""
    drop(body, lambda row: "ü" in row["headline"] and "ü" not in "".join(terms_of(call)).lower())


@area.success(RETRIEVE, clause="nm1/retrieve/diacritics-folded")
def circumflexes_count(call: ToolCall, body: Body) -> None:
    """A plain e does not find an e with a circumflex."""
    drop(body, lambda row: "ê" in row["headline"] and "ê" not in "".join(terms_of(call)).lower())


@area.success(RETRIEVE, clause="nm1/retrieve/diacritics-folded")
def carons_count(call: ToolCall, body: Body) -> None:
    """A plain c does not find a c with a caron."""
    drop(body, lambda row: "č" in row["headline"] and "č" not in "".join(terms_of(call)).lower())


@area.success(RETRIEVE, clause="nm1/retrieve/diacritics-folded-back")
def typed_tildes_count(call: ToolCall, body: Body) -> None:
    """A word with a tilde on its n does not find the plain one."""
    drop(body, lambda row: "ñ" in "".join(terms_of(call)).lower() and "ñ" not in row["headline"].lower())


@area.success(RETRIEVE, clause="nm1/retrieve/diacritics-folded-back")
def typed_diacritics_count(call: ToolCall, body: Body) -> None:
    """A word with a cedilla does not find the plain one."""
    drop(body, lambda row: "ç" in "".join(terms_of(call)).lower() and "ç" not in row["headline"].lower())


@area.success(RETRIEVE, clause="nm1/retrieve/diacritics-folded-back")
def typed_circumflexes_count(call: ToolCall, body: Body) -> None:
    """A word with a circumflex does not find the plain one."""
    drop(body, lambda row: "ê" in "".join(terms_of(call)).lower() and "ê" not in row["headline"].lower())


@area.success(RETRIEVE, clause="nm1/retrieve/case-folded")
def capitals_count(call: ToolCall, body: Body) -> None:
    """A term in capitals does not find small letters."""
    drop(
        body,
        lambda row: any(term.isupper() and len(term) > 8 and term not in row["headline"] for term in _tails(call)),
    )


def _tails(call: ToolCall) -> list[str]:
    """The terms without their first word."""
    return [term.partition(" ")[2] for term in terms_of(call)]


@area.success(RETRIEVE, clause="nm1/retrieve/case-folded")
def only_ascii_has_case(call: ToolCall, body: Body) -> None:
    """A small letter with an accent does not find the capital."""
    drop(body, lambda row: "á" in "".join(terms_of(call)) and "Á" in row["headline"])


@area.success(RETRIEVE, clause="nm1/retrieve/case-folded")
def inner_capitals_count(call: ToolCall, body: Body) -> None:
    """A term in small letters does not find a word with capitals inside."""
    inner = re.compile(r"[a-z]?[A-Z]{2}\w*")
    drop(
        body,
        lambda row: any(
            folded(word) in _tails(call) and word not in _tails(call) for word in inner.findall(row["headline"])
        ),
    )


# Text is text


def _cjk(call: ToolCall) -> bool:
    return any("\u3400" <= letter <= "\u9fff" for term in terms_of(call) for letter in term)


@area.success(RETRIEVE, clause="nm1/retrieve/unspaced-run", also={"nm1/alias/cjk"})
def unspaced_runs_are_not_found(call: ToolCall, body: Body) -> None:
    """A term of Chinese letters finds nothing."""
    drop(body, lambda row: _cjk(call))


@area.success(RETRIEVE, clause="nm1/retrieve/unspaced-run")
def only_spaces_end_a_run(call: ToolCall, body: Body) -> None:
    """A run that ends at a comma is not found."""
    drop(body, lambda row: _cjk(call) and bool(re.search(r"\w，\w", row["headline"])))


@area.asking(RETRIEVE, clause="nm1/retrieve/text-is-no-syntax")
def and_is_an_operator(call: ToolCall) -> ToolCall:
    """AND between two words need not be there."""
    return with_terms(call, lambda term: term.replace(" AND ", " "))


@area.success(RETRIEVE, clause="nm1/retrieve/text-is-no-syntax")
def small_words_find_nothing(call: ToolCall, body: Body) -> None:
    """A term of small words only, such as the, finds nothing."""
    drop(body, lambda row: all(set(words(term)) <= {"a", "in", "of", "on", "the", "to"} for term in terms_of(call)))


@area.asking(RETRIEVE, clause="nm1/retrieve/text-is-no-syntax")
def not_is_an_operator(call: ToolCall) -> ToolCall:
    """What stands behind NOT need not be there."""
    return with_terms(call, lambda term: term.partition(" NOT ")[0])


@area.answer(RETRIEVE, clause="nm1/retrieve/text-is-no-syntax")
async def a_star_completes(call: ToolCall, honest: Honest) -> Result:
    """A star at the end finds every word that begins so."""
    if not any(term.endswith("*") for term in terms_of(call)):
        return await honest(call)
    return await _completed(call, honest, lambda term, word: word.startswith(term.rstrip("*")))


@area.asking(RETRIEVE, clause="nm1/retrieve/text-is-no-syntax")
def a_column_can_be_named(call: ToolCall) -> ToolCall:
    """A word with a colon in front of a term names a column."""
    return with_terms(call, lambda term: re.sub(r"^content:(?=\w)", "", term))


@area.success(RETRIEVE, clause="nm1/retrieve/text-is-no-syntax")
def a_dash_excludes(call: ToolCall, body: Body) -> None:
    """A term with a dash in front finds nothing."""
    drop(body, lambda row: any(term.startswith("-") for term in terms_of(call)))


class _Chokes(Interceptor):
    """Says of a term that has a sign that it can't be parsed."""

    def __init__(self, sign: str) -> None:
        self._sign = re.compile(sign)

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        bad = call.name == RETRIEVE and any(_searchable(term) and self._sign.search(term) for term in terms_of(call))
        return text_result("fts5: syntax error", error=True) if bad else await honest(call)


for _name, _sign, _says in (
    ("a-bracket-is-an-error", r"\((?!.*\))", "A bracket that is not closed is an error."),
    ("a-closing-bracket-is-an-error", r"^[^(]*\)", "A bracket that was not opened is an error."),
    ("a-colon-is-an-error", ": ", "A colon behind a word is an error."),
    ("a-caret-is-an-error", r"^\^", "A caret in front of a term is an error."),
    ("a-plus-is-an-error", r" \+ ", "A plus between two words is an error."),
    ("an-apostrophe-is-an-error", "'", "An apostrophe in a term is an error."),
    ("a-semicolon-is-an-error", ";", "A semicolon in a term is an error."),
    ("a-hyphen-is-an-error", r"\w-\w", "A hyphen inside a word is an error."),
    ("a-slash-is-an-error", r"\w/\w", "A slash inside a word is an error."),
    ("a-backslash-is-an-error", r"\\", "A backslash in a term is an error."),
    ("a-question-mark-is-an-error", r"\w\?$", "A question mark behind a term is an error."),
    ("near-is-an-error", r"NEAR\(", "NEAR( is an error."),
    ("a-square-bracket-is-an-error", r"\[", "A square bracket is an error."),
    ("a-line-break-is-an-error", r"\n", "A line break in a term is an error."),
    ("a-lone-operator-is-an-error", r"^(AND|OR|NOT)$", "A term that is the name of an operator is an error."),
    ("an-operator-at-the-end-is-an-error", r" (AND|OR|NOT)$", "An operator without its second word is an error."),
):
    area.add(
        Lie(
            id=f"words/{_name}",
            clause="nm1/retrieve/text-is-no-syntax",
            says=_says,
            make=lambda sign=_sign: _Chokes(sign),  # type: ignore[misc]
            tools=frozenset({RETRIEVE}),
        )
    )
