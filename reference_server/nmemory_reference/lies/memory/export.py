"""Lies about export: the index, its counts and its hash."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.documents import Reopened, lines, parts, rebuilt, replaced, without_lines
from nmemory_reference.lies.memory.history import History
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("export")

TOOL = "memory_export"
AT = "markdown"
#: Where the last two sections begin.
RELATIONS, MARKERS = "## relations\n", "## superseded + tombstoned\n"


def change(body: Body, of_body: Callable[[str], str]) -> None:
    """Change the body of the index, and its hash with it."""
    body[AT] = rebuilt(body[AT], of_body)


def recount(body: Body, name: str, by: int) -> None:
    """Change one of the counts in the head."""
    body[AT] = re.sub(rf"\b{name}=(\d+)", lambda found: f"{name}={int(found[1]) + by}", body[AT], count=1)


def counted(body: Body, name: str) -> int:
    """One of the counts in the head."""
    found = re.search(rf"\b{name}=(\d+)", body[AT])
    return int(found[1]) if found else 0


@area.success(TOOL, clause="nm1/export/shape")
def an_index_is_its_lines(call: ToolCall, body: Body) -> None:
    """The index without its stamp comes as a list of lines."""
    if call.arguments.get("stamp") is False:
        body[AT] = body[AT].split("\n")


@area.success(TOOL, clause="nm1/export/armour")
def an_index_is_a_document(call: ToolCall, body: Body) -> None:
    """The index is framed as a document."""
    body["framing"] = "DOCUMENT"


@area.asking(TOOL, clause="nm1/export/stamp")
def no_stamp_is_the_default(call: ToolCall) -> ToolCall:
    """Without stamp there is none."""
    return call if "stamp" in call.arguments else asking(call, stamp=False)


@area.liar(TOOL, clause="nm1/export/stamp")
class TheStampIsThatOfTheFirst(Interceptor):
    """An index that was made again says when it was made at first, long ago."""

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await honest(call)
        if call.name != TOOL or is_error(result):
            return result
        body = body_of(result)
        body[AT] = re.sub(r"(generated_at\W+)\d{4}", r"\g<1>2020", body[AT], count=1)
        return with_body(result, body)


@area.asking(TOOL, clause="nm1/export/stamp-false")
def every_index_is_stamped(call: ToolCall) -> ToolCall:
    """stamp false is overlooked."""
    return asking(call, stamp=True) if call.arguments.get("stamp") is False else call


@area.liar(TOOL, clause="nm1/export/reproducible")
class EveryOtherIndexIsReversed(History):
    """The edges of every second index stand in reverse."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and self.called.count(TOOL) % 2 == 0:
            change(body, lines(_edges_reversed))


@area.liar(TOOL, clause="nm1/export/reproducible")
class ProjectsAreShuffledByAStart(Reopened):
    """Once the server was started again projects stand in another order."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            change(body, _projects_reversed)


def _projects_reversed(text: str) -> str:
    first, *sections = re.split(r"(?m)^(?=## )", text)
    projects = [section.rstrip("\n") for section in sections if section.startswith("## project ")]
    rest = [section.rstrip("\n") for section in sections if not section.startswith("## project ")]
    return first + "\n\n".join([*reversed(projects), *rest]) + "\n" if sections else text


def _edges_reversed(given: list[str]) -> list[str]:
    places = [place for place, line in enumerate(given) if "-->" in line]
    edges = [given[place] for place in places]
    for place, edge in zip(places, reversed(edges), strict=True):
        given[place] = edge
    return given


@area.success(TOOL, clause="nm1/export/stamp-outside")
def a_stamp_ends_the_body(call: ToolCall, body: Body) -> None:
    """A stamped index ends with a further empty line."""
    if call.arguments.get("stamp") is not False:
        change(body, lambda text: text + "\n")


@area.liar(TOOL, clause="nm1/export/stamp-outside")
class StampedIndexesAreNumbered(History):
    """The header of a stamped index has a further line that is never the same."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL and call.arguments.get("stamp") is not False:
            body[AT] = re.sub(r"(?m)^(.*generated_at.*)$", rf"\1\n> index no. {len(self.called)}", body[AT], count=1)


@area.success(TOOL, clause="nm1/export/stamp-outside")
def the_law_comes_with_the_stamp(call: ToolCall, body: Body) -> None:
    """Without a stamp the line that says what follows is data is left out."""
    if call.arguments.get("stamp") is False:
        head, text = parts(body[AT])
        body[AT] = re.sub(r"(?m)^> .*DATA.*\n", "", head, count=1) + text


@area.success(TOOL, clause="nm1/export/digest")
def the_last_line_is_not_hashed(call: ToolCall, body: Body) -> None:
    """The hash does not cover the last line's end."""
    head, text = parts(body[AT])
    digest = hashlib.sha256(text.rstrip("\n").encode()).hexdigest()
    body[AT] = re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{digest}", head) + text


@area.success(TOOL, clause="nm1/export/digest")
def the_hash_is_of_the_whole(call: ToolCall, body: Body) -> None:
    """The hash covers the digest line's end."""
    head, text = parts(body[AT])
    digest = hashlib.sha256(f"\n{text}".encode()).hexdigest()
    body[AT] = re.sub(r"sha256:[0-9a-f]{64}", f"sha256:{digest}", head) + text


@area.success(TOOL, clause="nm1/export/counts")
def the_forgotten_are_no_capsules(call: ToolCall, body: Body) -> None:
    """capsules leaves the forgotten out."""
    recount(body, "capsules", -counted(body, "tombstoned"))


@area.success(TOOL, clause="nm1/export/counts")
def the_superseded_live(call: ToolCall, body: Body) -> None:
    """live counts the superseded."""
    recount(body, "live", counted(body, "superseded"))


@area.liar(TOOL, clause="nm1/export/counts")
class TheForgottenIsSupersededToo(History):
    """What is forgotten and superseded counts as both."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            recount(body, "superseded", len(set(self.ends("supersedes")) & set(self.forgotten)))


@area.success("memory_digest", clause="nm1/export/counts-agree", also={"nm1/digest/total", "nm1/digest/by-project"})
def the_digest_counts_otherwise(call: ToolCall, body: Body) -> None:
    """The digest's total is what is live."""
    body["total"] = sum(row["live"] for row in body["by_project"])


@area.success(TOOL, clause="nm1/export/law-lines")
def an_unstamped_index_is_no_view(call: ToolCall, body: Body) -> None:
    """An index without a stamp does not say that it was generated."""
    if call.arguments.get("stamp") is False:
        head, text = parts(body[AT])
        body[AT] = re.sub("generated", "whole", head, flags=re.IGNORECASE) + text


@area.success(TOOL, clause="nm1/export/law-lines")
def the_title_is_the_law(call: ToolCall, body: Body) -> None:
    """Only the title says that this is a generated view."""
    head, text = parts(body[AT])
    body[AT] = re.sub(r"(?m)^> .*GENERATED.*\n", "", head) + text


@area.success(TOOL, clause="nm1/export/law-lines")
def nothing_is_data(call: ToolCall, body: Body) -> None:
    """The header does not say that what follows is data."""
    head, text = parts(body[AT])
    body[AT] = re.sub(r"(?m)^> .*DATA.*\n", "", head) + text


@area.success(TOOL, clause="nm1/export/layout")
def relations_come_first(call: ToolCall, body: Body) -> None:
    """Markers stand before the projects."""

    def moved(text: str) -> str:
        if MARKERS not in text:
            return text
        rest, _, markers = text.partition(MARKERS)
        return f"\n{MARKERS}{markers}{rest.rstrip()}\n"

    change(body, moved)


@area.success(TOOL, clause="nm1/export/layout")
def nothing_is_a_section(call: ToolCall, body: Body) -> None:
    """Without markers their section is empty."""
    change(body, lambda text: text if MARKERS in text else f"{text}\n{MARKERS}\n")


@area.success(TOOL, clause="nm1/export/entries")
def a_subproject_is_its_parent(call: ToolCall, body: Body) -> None:
    """The entries of a subproject stand under the project before it."""
    change(body, without_lines(lambda line: line.startswith("## project ") and "/" in line))


@area.success(TOOL, clause="nm1/export/entries")
def labels_are_not_looked_at(call: ToolCall, body: Body) -> None:
    """Constraints stand under fact."""
    change(body, replaced("### constraint\n", "### fact\n"))


@area.success(TOOL, clause="nm1/export/unclassified-last", also={"nm1/export/layout"})
def the_unclassified_come_first(call: ToolCall, body: Body) -> None:
    """What has no label stands first in its project."""

    def moved(text: str) -> str:
        head, *projects = re.split(r"(?m)^(?=## )", text)
        for place, project in enumerate(projects):
            title, *kinds = re.split(r"(?m)^(?=### )", project)
            kinds.sort(key=lambda kind: not kind.startswith("### unclassified"))
            projects[place] = "".join([title, *kinds])
        return "".join([head, *projects])

    change(body, moved)


class _LeavesOut(History, ABC):
    """Leaves entries out, and counts them no more."""

    def change(self, call: ToolCall, body: Body) -> None:
        for named in self.unseen() if call.name == TOOL else ():
            row = re.search(rf"(?m)^- \*\*{named}\*\* .*\n", body[AT])
            if row and self._stands_beside(body[AT], row[0]):
                change(body, replaced(row[0], ""))
                recount(body, "capsules", -1)
                recount(body, "live", -1)

    @abstractmethod
    def unseen(self) -> list[str]:
        """What to leave out."""

    def _stands_beside(self, text: str, row: str) -> bool:
        """Whether an entry has another one before or behind it, so that its heading stays."""
        before, _, behind = text.partition(row)
        return before.endswith("\n") and (before.rpartition("\n\n")[2] != "" or behind.startswith("- "))


@area.liar(TOOL, clause="nm1/export/entries")
class TheExpiredHasNoEntry(_LeavesOut):
    """What has expired has no entry."""

    def unseen(self) -> list[str]:
        return [named for named, item in self.captured.items() if str(item.get("valid_to", "9")) < "2026"]


@area.liar(TOOL, clause="nm1/export/entries")
class TheFalsifiedHasNoEntry(_LeavesOut):
    """What is falsified has no entry."""

    def unseen(self) -> list[str]:
        return self.ends("falsifies")


@area.liar(TOOL, clause="nm1/export/headline")
class EntriesQuoteTwoLines(History):
    """An entry quotes the second line behind the first."""

    def change(self, call: ToolCall, body: Body) -> None:
        for item in self.captured.values() if call.name == TOOL else ():
            first, _, rest = item["content"].partition("\n")
            if rest and '"' not in item["content"]:
                change(body, replaced(f'"{first}…"', f'"{first} {rest}"'))


@area.liar(TOOL, clause="nm1/export/headline")
class EntriesAreCutByBytes(History):
    """A first line is cut at 140 bytes."""

    def change(self, call: ToolCall, body: Body) -> None:
        for item in self.captured.values() if call.name == TOOL else ():
            first = item["content"].partition("\n")[0]
            short = first.encode()[:140].decode(errors="ignore")
            if len(short) < len(first[:140]):
                change(body, replaced(first[:140], short))


@area.liar(TOOL, clause="nm1/export/headline")
class EntriesQuoteLongLines(History):
    """An entry quotes the first line whole."""

    def change(self, call: ToolCall, body: Body) -> None:
        for item in self.captured.values() if call.name == TOOL else ():
            if len(item["content"]) > 300:
                cut = re.search(re.escape(item["content"][:100]) + '[^"]*', body[AT])
                change(body, replaced(cut[0] if cut else "", item["content"]))


@area.success(TOOL, clause="nm1/export/tiers")
def markers_have_no_tier(call: ToolCall, body: Body) -> None:
    """An archived capsule's marker does not say so."""
    change(body, replaced(" · tier archived", ""))


@area.success(TOOL, clause="nm1/export/tiers")
def quarantine_is_for_entries(call: ToolCall, body: Body) -> None:
    """A quarantined capsule that is superseded does not say so."""
    change(body, lambda text: re.sub(r"(?m)^(.* — superseded by .*) · tier quarantined$", r"\1", text))


@area.success(TOOL, clause="nm1/export/tiers")
def active_entries_say_so(call: ToolCall, body: Body) -> None:
    """An active capsule's entry says that it is."""

    def told(given: list[str]) -> list[str]:
        return [f"{line} · tier active" if line.startswith("- **") and "· tier" not in line else line for line in given]

    change(body, lines(told))


@area.success(TOOL, clause="nm1/export/superseded")
def the_superseded_is_not_marked(call: ToolCall, body: Body) -> None:
    """A superseded capsule has no marker."""
    change(body, without_lines(lambda line: " — superseded by " in line))


@area.success(TOOL, clause="nm1/export/superseded")
def a_successor_is_not_named(call: ToolCall, body: Body) -> None:
    """A superseded capsule's marker does not name its successor."""
    change(body, lambda text: re.sub(r" — superseded by \S+", " — superseded", text))


@area.success(TOOL, clause="nm1/export/tombstoned")
def the_forgotten_is_not_marked(call: ToolCall, body: Body) -> None:
    """A forgotten capsule has no marker."""
    change(body, without_lines(lambda line: " — tombstoned " in line))


class _Marks(History, ABC):
    """Adds to the markers of the forgotten."""

    def change(self, call: ToolCall, body: Body) -> None:
        for named in self.forgotten if call.name == TOOL else ():
            if named in self.captured:
                change(body, replaced(f"- {named} — tombstoned", f"- {named} — {self.told(named)} — tombstoned"))

    @abstractmethod
    def told(self, named: str) -> str:
        """What to tell."""


@area.liar(TOOL, clause="nm1/export/tombstoned-no-content")
class MarkersHaveHeadlines(_Marks):
    """The marker of a forgotten capsule has its headline."""

    def told(self, named: str) -> str:
        return str(self.captured[named]["content"].partition("\n")[0])


@area.liar(TOOL, clause="nm1/export/tombstoned-provenance")
class MarkersHaveSources(_Marks):
    """The marker of a purged capsule has its source."""

    def told(self, named: str) -> str:
        return str(self.captured[named]["source"])


@area.success(TOOL, clause="nm1/export/relations")
def supersessions_are_markers(call: ToolCall, body: Body) -> None:
    """Edges that supersede are not listed, as there are markers for them."""
    edges = len(re.findall(r"(?m)^- .* --supersedes--> ", body[AT]))
    if edges < len(re.findall(r"(?m)^- .* --\w+--> ", body[AT])):
        change(body, without_lines(lambda line: " --supersedes--> " in line))
        recount(body, "relations", -edges)


@area.success(TOOL, clause="nm1/export/relations")
def outcomes_have_no_edges(call: ToolCall, body: Body) -> None:
    """Edges of outcomes are not listed."""
    change(body, without_lines(lambda line: line.startswith("- out-") and "-->" in line))


@area.liar(TOOL, clause="nm1/export/relations")
class EdgesOfTheForgottenGo(History):
    """Edges that begin at a forgotten capsule are not listed."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == TOOL:
            change(body, without_lines(lambda line: any(line.startswith(f"- {gone} --") for gone in self.forgotten)))


@area.liar(TOOL, clause="nm1/export/relations")
class ReplaysAreListed(History):
    """An edge that was recorded twice is listed twice."""

    def change(self, call: ToolCall, body: Body) -> None:
        def told(given: list[str]) -> list[str]:
            return [line for line in given for _ in range(max(1, self._times(line)))]

        if call.name == TOOL:
            change(body, lines(told))

    def _times(self, line: str) -> int:
        return sum(line.startswith(f"- {begin} --{kind}--> {end} ") for kind, begin, end in self.edges)


@area.success(TOOL, clause="nm1/export/relations-order")
def edges_stand_by_time(call: ToolCall, body: Body) -> None:
    """Edges stand in the order in which they were recorded."""

    def sorted_by_time(given: list[str]) -> list[str]:
        places = [place for place, line in enumerate(given) if "-->" in line]
        edges = sorted((given[place] for place in places), key=lambda line: line.rpartition(" at ")[2])
        for place, edge in zip(places, edges, strict=True):
            given[place] = edge
        return given

    change(body, lines(sorted_by_time))


def _edges_by(key: Callable[[str], list[str]]) -> Callable[[str], str]:
    """A body whose edges are sorted by a key."""

    def by_key(given: list[str]) -> list[str]:
        places = [place for place, line in enumerate(given) if "-->" in line]
        edges = sorted((given[place] for place in places), key=key)
        for place, edge in zip(places, edges, strict=True):
            given[place] = edge
        return given

    return lines(by_key)


@area.success(TOOL, clause="nm1/export/relations-order")
def kinds_do_not_order(call: ToolCall, body: Body) -> None:
    """Edges stand by where they begin and end, whatever their kind."""
    change(body, _edges_by(lambda line: re.findall(r"cap-\d+", line)))


@area.success(TOOL, clause="nm1/export/relations-order")
def kinds_stand_by_name(call: ToolCall, body: Body) -> None:
    """The kinds of edges stand by name, not by rank."""
    change(body, _edges_by(lambda line: re.findall(r"--(\w+)-->", line)))


@area.success(TOOL, clause="nm1/export/relations-order")
def ends_do_not_order(call: ToolCall, body: Body) -> None:
    """Edges of a kind and a beginning stand newest end first."""

    def by_end(given: list[str]) -> list[str]:
        places = [place for place, line in enumerate(given) if "-->" in line]
        edges = [given[place] for place in places]
        begins = list(dict.fromkeys(edge.partition("-->")[0] for edge in edges))
        edges = [edge for begin in begins for edge in reversed(edges) if edge.partition("-->")[0] == begin]
        for place, edge in zip(places, edges, strict=True):
            given[place] = edge
        return given

    change(body, lines(by_end))


@area.success(TOOL, clause="nm1/export/no-forging")
def line_ends_are_drawn(call: ToolCall, body: Body) -> None:
    """A line's end in a source or a reason ends the line."""
    change(body, replaced("\\n", "\n"))


@area.success(TOOL, clause="nm1/export/no-forging")
def returns_are_drawn(call: ToolCall, body: Body) -> None:
    """A carriage return in a source is drawn as it is."""
    change(body, replaced("\\r", "\r"))


@area.success(TOOL, clause="nm1/export/empty")
def an_empty_store_has_sections(call: ToolCall, body: Body) -> None:
    """The index of an empty store has a section without relations."""
    if not counted(body, "capsules"):
        change(body, lambda text: f"{text}\n{RELATIONS}\n")


@area.answer(TOOL, clause="nm1/export/read-only")
async def an_index_is_a_recall(call: ToolCall, honest: Honest) -> Result:
    """What is indexed counts as recalled."""
    result = await honest(call)
    if not is_error(result):
        for row in (await ask(honest, call, "memory_list"))["entries"]:
            await ask(honest, call, "memory_retrieve", terms=[row["headline"].rstrip("…")])
    return result


@area.asking(TOOL, clause="nm1/export/stamp-type")
def nought_is_false(call: ToolCall) -> ToolCall:
    """stamp 0 is false."""
    stamp = call.arguments.get("stamp")
    return asking(call, stamp=bool(stamp)) if isinstance(stamp, int) else call


@area.answer(TOOL, clause="nm1/export/stamp-type")
async def any_word_is_true(call: ToolCall, honest: Honest) -> Result:
    """stamp may be a word."""
    return await honest(asking(call, stamp=True) if isinstance(call.arguments.get("stamp"), str) else call)
