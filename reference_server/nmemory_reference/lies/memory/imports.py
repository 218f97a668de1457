"""Lies about import: what a file is split into, where it may be read, and how a re-import repairs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, ask, asking, body_of, is_error, with_body, without
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.answers import ARMOUR, rows, success
from nmemory_reference.lies.memory.history import History
from nmemory_reference.lies.refusal import Refusal
from nmemory_reference.serve.interceptor import Interceptor, ToolCall

area = Area("import")

TOOL = "memory_import"
GET = "memory_get"
DIGEST = "memory_digest"
RETRIEVE = "memory_retrieve"


# What a capsule of a file looks like


def _imported(body: Body) -> Body:
    """The capsule of an answer of memory_get if it was imported, else an empty one."""
    capsule: Body = body.get("capsule", {})
    return capsule if capsule.get("authority_class") == "externally-imported" else {}


@area.success(GET, clause="nm1/import/born-tainted")
def own_files_are_trusted(call: ToolCall, body: Body) -> None:
    """What was imported is clean."""
    if capsule := _imported(body):
        capsule["instruction_taint"] = False


@area.success(GET, clause="nm1/import/born-tainted")
def files_are_the_users_word(call: ToolCall, body: Body) -> None:
    """What was imported counts as stated by the user."""
    if capsule := _imported(body):
        capsule["authority_class"] = "user-stated"


@area.success(GET, clause="nm1/import/born-tainted")
def notes_are_trusted(call: ToolCall, body: Body) -> None:
    """What was imported from a folder of notes is clean."""
    if (capsule := _imported(body)) and capsule["provenance"]["source"] == "memory-dir":
        capsule["instruction_taint"] = False


@area.success(GET, clause="nm1/import/anchor-line")
def notes_are_anchored_at_their_folder(call: ToolCall, body: Body) -> None:
    """What was imported from a folder of notes has the folder for its anchor."""
    if (capsule := _imported(body)) and capsule["provenance"]["source"] == "memory-dir":
        origin = capsule["provenance"]
        origin["anchor"] = re.sub(r"/[^/]+\.md(:\d+)$", r"\1", origin["anchor"])


@area.success(GET, clause="nm1/import/anchor-line")
def anchors_are_at_line_one(call: ToolCall, body: Body) -> None:
    """Every anchor leads to the first line."""
    if capsule := _imported(body):
        origin = capsule["provenance"]
        origin["anchor"] = re.sub(r":\d+$", ":1", origin["anchor"])


@area.success(GET, clause="nm1/import/anchor-relative")
def anchors_are_file_names(call: ToolCall, body: Body) -> None:
    """A relative anchor is the name of the file alone."""
    if (capsule := _imported(body)) and not capsule["provenance"]["anchor"].startswith("/"):
        capsule["provenance"]["anchor"] = capsule["provenance"]["anchor"].rpartition("/")[2]


@area.item(RETRIEVE, at="results", clause="nm1/import/anchor-absolute")
def absolute_anchors_live(call: ToolCall, row: Body) -> None:
    """An absolute anchor is said to be live."""
    if row["provenance"]["anchor"].startswith("/"):
        row["anchor_live"] = True


@area.success(GET, clause="nm1/import/blank-edges-trimmed")
def a_line_end_is_kept(call: ToolCall, body: Body) -> None:
    """A candidate keeps the end of its last line."""
    if capsule := _imported(body):
        capsule["content"] += "\n"


@area.success(TOOL, clause="nm1/import/rows-like-ingest", also={"nm1/import/shape"})
def imports_are_not_counted(call: ToolCall, body: Body) -> None:
    """captured is 0 whatever was captured."""
    if "captured" in body:
        body["captured"] = 0


@area.success(TOOL, clause="nm1/import/reimport-dedupes")
def an_import_is_always_fresh(call: ToolCall, body: Body) -> None:
    """Every row is captured."""
    for row in body.get("outcomes", ()):
        row["status"] = "captured"
    if "outcomes" in body:
        body |= {"captured": len(body["outcomes"]), "deduped": 0, "rejected": 0}


@area.item(TOOL, at="outcomes", clause="nm1/import/rows-like-ingest")
def what_fired_is_not_told(call: ToolCall, row: Body) -> None:
    """A row has no taint_findings, whatever its section says."""
    row.pop("taint_findings", None)


# How a file is split: these lies import a copy of the files that was changed


async def _elsewhere(call: ToolCall, honest: Honest, change: Callable[[Path], None]) -> Result:
    """The answer for a copy of the folder, after `change` had its way with that."""
    name = "dir" if "dir" in call.arguments else "base"
    folder = call.arguments.get(name)
    if not isinstance(folder, str) or not Path(folder).is_dir():
        return await honest(call)
    with TemporaryDirectory() as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True, symlinks=True)
        change(Path(copy))
        return await honest(asking(call, **{name: copy}))


def _rewriting(clause: str) -> Callable[[Callable[[str], str]], Callable[[str], str]]:
    """Add the lie that reads a file's text otherwise."""

    def keep(change: Callable[[str], str]) -> Callable[[str], str]:
        def rewrite(folder: Path) -> None:
            for file in folder.rglob("*.md"):
                if not file.is_symlink():
                    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")

        async def lie(call: ToolCall, honest: Honest) -> Result:
            return await _elsewhere(call, honest, rewrite)

        lie.__name__, lie.__doc__ = change.__name__, change.__doc__
        area.answer(TOOL, clause=f"nm1/import/{clause}")(lie)
        return change

    return keep


def _headings(text: str) -> list[str]:
    return re.findall(r"^#+ ", text, re.MULTILINE)


@_rewriting("split-smallest-repeated")
def the_title_splits(text: str) -> str:
    """A lone title is the level of the split, whatever stands below it."""
    found = _headings(text)
    return re.sub(r"^##", " ##", text, flags=re.MULTILINE) if found.count("# ") == 1 and "## " in found else text


@_rewriting("split-smallest-repeated")
def the_first_level_that_repeats_splits(text: str) -> str:
    """The level of the first heading is that of the split."""
    found = _headings(text)
    return re.sub(r"^## ", " ## ", text, flags=re.MULTILINE) if found[:1] == ["### "] else text


@_rewriting("deeper-rides-along")
def the_most_frequent_level_splits(text: str) -> str:
    """The level that occurs most often is that of the split."""
    found = _headings(text)
    often = found.count("### ") > found.count("## ") > 1
    return re.sub(r"^## ", " ## ", text, flags=re.MULTILINE) if often else text


@_rewriting("split-lone-heading")
def a_lone_heading_is_none(text: str) -> str:
    """A file with one heading is split at its blank lines."""
    return re.sub(r"^#+ ", "", text, flags=re.MULTILINE) if len(_headings(text)) == 1 else text


@_rewriting("split-smallest-present")
def only_what_repeats_splits(text: str) -> str:
    """Where no level repeats the last heading is none."""
    found = _headings(text)
    return re.sub(r"^# ", " # ", text, flags=re.MULTILINE) if found == ["## ", "# "] else text


@_rewriting("split-preamble")
def the_preamble_is_lost(text: str) -> str:
    """What stands before the first section is dropped."""
    return text[text.index("\n## ") + 1 :] if text.startswith("# ") and "\n## " in text else text


@_rewriting("deeper-rides-along")
def deep_headings_split(text: str) -> str:
    """Deeper headings split as well."""
    return re.sub(r"^### ", "## ", text, flags=re.MULTILINE) if "## " in _headings(text) else text


@_rewriting("split-paragraphs")
def paragraphs_are_joined(text: str) -> str:
    """A file without headings is one candidate."""
    return text if _headings(text) else re.sub(r"\n\s*\n", "\n", text.strip())


@_rewriting("fences-opaque")
def code_is_text(text: str) -> str:
    """What looks like a heading in fenced code is one."""
    return text.replace("```\n#", "```\n```\n#") if "```" in text else text


@_rewriting("fences-opaque")
def blank_lines_in_code_split(text: str) -> str:
    """A blank line in fenced code ends a paragraph."""
    return text.replace("```", "~") if "```" in text and not _headings(text) else text


@_rewriting("fences-opaque")
def only_bare_fences_count(text: str) -> str:
    """Code whose fence names a language is text."""
    return re.sub(r"```(?=[a-z])", "~", text).replace("```", "~") if re.search(r"```[a-z]", text) else text


@_rewriting("headings-at-column-0")
def indented_headings_count(text: str) -> str:
    """A heading may be indented."""
    return re.sub(r"^ +#", "#", text, flags=re.MULTILINE)


# Where files are looked for


@area.answer(TOOL, clause="nm1/import/user-claude-order")
async def the_oldest_folder_wins(call: ToolCall, honest: Honest) -> Result:
    """The user's file is looked for in .claude first."""

    def reorder(folder: Path) -> None:
        if (folder / ".claude").is_dir():
            shutil.rmtree(folder / ".claude3", ignore_errors=True)
            shutil.rmtree(folder / ".claude2", ignore_errors=True)

    return await _elsewhere(call, honest, reorder)


@area.answer(TOOL, clause="nm1/import/user-claude-order")
async def a_folder_ends_the_search(call: ToolCall, honest: Honest) -> Result:
    """Where there is a folder .claude3 the older ones are not looked into."""

    def forget(folder: Path) -> None:
        if (folder / ".claude3").is_dir():
            shutil.rmtree(folder / ".claude2", ignore_errors=True)
            shutil.rmtree(folder / ".claude", ignore_errors=True)

    return await _elsewhere(call, honest, forget)


@area.answer(TOOL, clause="nm1/import/project-files")
async def any_project_file_will_do(call: ToolCall, honest: Honest) -> Result:
    """project-claude-md reads AGENTS.md where there is no CLAUDE.md."""

    def swap(folder: Path) -> None:
        if not (folder / "CLAUDE.md").exists() and call.arguments.get("source") == "project-claude-md":
            shutil.copyfile(folder / "AGENTS.md", folder / "CLAUDE.md")

    lacking = not (Path(str(call.arguments.get("base"))) / "AGENTS.md").is_file()
    return await honest(call) if lacking else await _elsewhere(call, honest, swap)


@area.answer(TOOL, clause="nm1/import/project-files")
async def all_agents_are_claude(call: ToolCall, honest: Honest) -> Result:
    """project-agents-md reads CLAUDE.md where there is one."""

    def swap(folder: Path) -> None:
        if (folder / "CLAUDE.md").is_file() and call.arguments.get("source") == "project-agents-md":
            (folder / "CLAUDE.md").replace(folder / "AGENTS.md")

    return await _elsewhere(call, honest, swap)


@area.success(TOOL, clause="nm1/import/absent-lists-tried")
def one_place_is_named(call: ToolCall, body: Body) -> None:
    """Only the first place that was looked at is named."""
    if body["outcome"] == "absent":
        body["tried"] = body["tried"][:1]


@area.answer(TOOL, clause="nm1/import/dir-markdown-only")
async def texts_are_taken_too(call: ToolCall, honest: Honest) -> Result:
    """Of a folder the .txt files are taken as well."""

    def rename(folder: Path) -> None:
        for file in folder.glob("*.txt"):
            file.replace(file.with_suffix(".md"))

    return await _elsewhere(call, honest, rename) if "dir" in call.arguments else await honest(call)


@area.answer(TOOL, clause="nm1/import/dir-markdown-only")
async def folders_are_walked(call: ToolCall, honest: Honest) -> Result:
    """The folders of a folder are taken as well."""

    def flatten(folder: Path) -> None:
        for file in list(folder.glob("*/*.md")):
            file.replace(folder / file.name)

    return await _elsewhere(call, honest, flatten) if "dir" in call.arguments else await honest(call)


def _follow(folder: Path, given: Any) -> None:
    """Put what links lead to in their place."""
    for link in [file for file in folder.iterdir() if file.is_symlink()]:
        target = (Path(str(given)) / link.readlink()).resolve()
        link.unlink()
        if target.is_file():
            shutil.copyfile(target, link)


@area.answer(TOOL, clause="nm1/import/dir-skips-links")
async def links_of_a_folder_are_followed(call: ToolCall, honest: Honest) -> Result:
    """A link in a folder is followed."""
    given = call.arguments.get("dir")
    return await _elsewhere(call, honest, lambda folder: _follow(folder, given)) if given else await honest(call)


@area.answer(TOOL, clause="nm1/import/link-is-rejected")
async def links_are_followed(call: ToolCall, honest: Honest) -> Result:
    """A file that is a link is read where it leads."""
    given = call.arguments.get("base")
    return await _elsewhere(call, honest, lambda folder: _follow(folder, given)) if given else await honest(call)


@area.answer(TOOL, clause="nm1/import/link-is-rejected")
async def links_that_stay_inside_are_followed(call: ToolCall, honest: Honest) -> Result:
    """A file that is a link to its neighbour is read there."""

    def follow(folder: Path) -> None:
        for link in [file for file in folder.iterdir() if file.is_symlink()]:
            near = folder / link.readlink().name
            if link.readlink().parent == Path() and near.is_file():
                link.unlink()
                shutil.copyfile(near, link)

    return await _elsewhere(call, honest, follow) if "base" in call.arguments else await honest(call)


@area.success(TOOL, clause="nm1/import/link-is-rejected")
def links_are_absent(call: ToolCall, body: Body) -> None:
    """A file that is a link is said not to be there."""
    if body["outcome"] == "rejected":
        tried = [body.pop("path")]
        body.pop("reason")
        body |= {"outcome": "absent", "tried": tried}


def _absent(call: ToolCall) -> Result:
    source = call.arguments.get("source")
    return success(outcome="absent", source=source, tried=[str(call.arguments.get("dir", "."))])


@area.answer(TOOL, clause="nm1/import/dir-needed")
async def the_folder_is_the_working_folder(call: ToolCall, honest: Honest) -> Result:
    """memory-dir without dir finds nothing."""
    lacking = call.arguments.get("source") == "memory-dir" and "dir" not in call.arguments
    return _absent(call) if lacking else await honest(call)


@area.asking(TOOL, clause="nm1/import/dir-elsewhere-refused")
def a_stray_dir_is_overlooked(call: ToolCall) -> ToolCall:
    """dir with another source is ignored."""
    return call if call.arguments.get("source") == "memory-dir" else without(call, "dir")


@area.answer(TOOL, clause="nm1/import/dir-must-be-a-folder")
async def a_file_is_no_folder(call: ToolCall, honest: Honest) -> Result:
    """A dir that is a file finds nothing."""
    return _absent(call) if Path(str(call.arguments.get("dir"))).is_file() else await honest(call)


@area.refusal(TOOL, clause="nm1/import/dir-must-be-a-folder")
def a_wrong_folder_is_told_in_band(call: ToolCall, refusal: Refusal) -> Refusal | None:
    """A dir that is no folder is refused in band."""
    return Refusal(refusal.text) if Path(str(call.arguments.get("dir"))).is_file() else None


@area.answer(TOOL, clause="nm1/import/source-closed")
async def any_source_may_be_absent(call: ToolCall, honest: Honest) -> Result:
    """An unknown source is absent."""
    return _absent(call) if call.arguments.get("source") == "every-file" else await honest(call)


# How a re-import repairs


class Imports(History):
    """Remembers what each import found, and so what is gone since and what came back."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        #: What stood in an earlier import and does not stand in the last, with how many imports ago it went.
        self.gone: dict[str, int] = {}
        self.back: dict[str, int] = {}
        self.fresh: list[Body] = []

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        result = await super().call_tool(call, honest)
        if call.name == TOOL and not is_error(result) and (body := body_of(result))["outcome"] == "imported":
            self._remember(body)
            await self.after(call, honest)
        return result

    def _remember(self, body: Body) -> None:
        now = [row["id"] for row in body["outcomes"] if "id" in row]
        self.back = {named: ago for named, ago in self.gone.items() if named in now}
        self.gone = {named: ago + 1 for named, ago in self.gone.items() if named not in now}
        self.gone |= {named: 1 for named in self.found if named not in now}
        self.fresh = [row for row in body["outcomes"] if row["status"] == "captured"]
        self.found = now

    async def after(self, call: ToolCall, honest: Honest) -> None:
        """What is done behind an import."""


async def replaces(call: ToolCall, honest: Honest, new: str, old: str) -> None:
    """Record that one capsule supersedes another."""
    await ask(honest, call, "memory_relate", **{"kind": "supersedes", "from": new, "to": old})


@area.success(GET, clause="nm1/import/changed-block-superseded", also={"nm1/import/never-by-similarity"})
def repairs_make_no_edge(call: ToolCall, body: Body) -> None:
    """A block that was edited stands beside what it was."""
    body["relations"] = [edge for edge in body["relations"] if edge.get("origin") != "import"]


@area.success(GET, clause="nm1/import/changed-block-superseded", also={"nm1/import/never-by-similarity"})
def repairs_look_manual(call: ToolCall, body: Body) -> None:
    """The edge of a repair has no origin."""
    for edge in body["relations"]:
        edge.pop("origin", None)


@area.success(GET, clause="nm1/get/marker-relations")
def repairs_of_the_forgotten_look_manual(call: ToolCall, body: Body) -> None:
    """On the marker of the forgotten the edge of a repair has no origin."""
    for edge in body["relations"] if "outcome" in body else ():
        edge.pop("origin", None)


@area.success(GET, clause="nm1/import/changed-block-superseded")
def notes_are_not_repaired(call: ToolCall, body: Body) -> None:
    """Of what was imported from a folder of notes nothing is replaced."""
    if (capsule := _imported(body)) and capsule["provenance"]["source"] == "memory-dir":
        body["relations"] = [edge for edge in body["relations"] if edge.get("origin") != "import"]


@area.liar(TOOL, RETRIEVE, clause="nm1/import/changed-block-recalled")
class OldWordsAreRecalled(Imports):
    """The words of a block that was edited are still recalled."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and "superseded" in body.get("excluded", {}) and self.gone:
            body.clear()
            body |= {"outcome": "grounded", "results": [{**ARMOUR, "id": next(iter(self.gone))}]}


@area.liar(TOOL, clause="nm1/import/moved-is-not-changed")
class PlacesAreIdentities(Imports):
    """What stands where something else stood replaces it."""

    def __init__(self) -> None:
        super().__init__()
        self._before: list[str] = []

    async def after(self, call: ToolCall, honest: Honest) -> None:
        if self._before and self._before != self.found and sorted(self._before) == sorted(self.found):
            await replaces(call, honest, self.found[0], self._before[0])
        self._before = self.found


@area.liar(TOOL, clause="nm1/import/equal-count-guard")
class UnevenEditsAreRepaired(Imports):
    """Of two blocks that came the first replaces the one that went."""

    async def after(self, call: ToolCall, honest: Honest) -> None:
        if len(self.fresh) == 2 and len(self.gone) == 1:
            await replaces(call, honest, self.fresh[0]["id"], next(iter(self.gone)))


@area.liar(TOOL, clause="nm1/import/equal-count-guard")
class JoinedBlocksAreRepaired(Imports):
    """A block that came replaces the two that went."""

    async def after(self, call: ToolCall, honest: Honest) -> None:
        gone = [named for named, ago in self.gone.items() if ago == 1]
        for named in gone if len(self.fresh) == 1 and len(gone) == 2 else ():
            await replaces(call, honest, self.fresh[0]["id"], named)


@area.liar(TOOL, clause="nm1/import/equal-count-guard")
class DroppedBlocksAreReplaced(Imports):
    """A block that was dropped is replaced by the first that is left."""

    async def after(self, call: ToolCall, honest: Honest) -> None:
        gone = [named for named, ago in self.gone.items() if ago == 1]
        for named in gone if self.found and not self.fresh and not self.back else ():
            await replaces(call, honest, self.found[0], named)


@area.liar(TOOL, clause="nm1/import/equal-count-guard")
class AddedBlocksReplace(Imports):
    """A block that was added replaces the one before it."""

    async def after(self, call: ToolCall, honest: Honest) -> None:
        added = [row["id"] for row in self.fresh]
        if len(added) == 1 and self.found[-1:] == added and len(self.found) > 1 and 1 not in self.gone.values():
            await replaces(call, honest, added[0], self.found[-2])


@area.liar(TOOL, GET, clause="nm1/import/never-by-similarity", also={"nm1/import/changed-block-superseded"})
class OneRepairIsEnough(Imports):
    """Of several blocks that were edited at once the first alone is replaced."""

    def __init__(self) -> None:
        super().__init__()
        self._late: set[str] = set()

    async def after(self, call: ToolCall, honest: Honest) -> None:
        self._late |= {row["id"] for row in self.fresh[1:]}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET:
            body["relations"] = [edge for edge in body["relations"] if edge["from"] not in self._late]


@area.liar(TOOL, GET, clause="nm1/import/never-by-similarity")
class OnlyTheLikeIsRepaired(Imports):
    """A block that has nothing in common with what went replaces nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._unlike: set[str] = set()

    async def after(self, call: ToolCall, honest: Honest) -> None:
        self._unlike |= {row["id"] for row in self.fresh if not row.get("dedup_hint")}

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == GET:
            body["relations"] = [edge for edge in body["relations"] if edge["from"] not in self._unlike]


class _StaysGone(Imports):
    """Goes on leaving out what came back from so many imports ago."""

    least: int
    most: int

    def __init__(self) -> None:
        super().__init__()
        self._out: set[str] = set()

    async def after(self, call: ToolCall, honest: Honest) -> None:
        self._out |= {named for named, ago in self.back.items() if self.least <= ago <= self.most}

    def change(self, call: ToolCall, body: Body) -> None:
        if any(row["id"] in self._out for row in rows(call.name, body) if call.name == RETRIEVE):
            body.clear()
            body |= {"outcome": "missing_evidence", "excluded": {"superseded": 1}, "excluded_count": 1}


@area.liar(TOOL, RETRIEVE, clause="nm1/import/revert-revives")
class WhatCameBackStaysOut(_StaysGone):
    """Content that came back stays superseded."""

    least, most = 1, 1


@area.liar(TOOL, RETRIEVE, clause="nm1/import/revert-revives")
class OnlyOneRevertRevives(_StaysGone):
    """After a first revert nothing that comes back is revived."""

    def __init__(self) -> None:
        super().__init__()
        self._reverted = False

    async def after(self, call: ToolCall, honest: Honest) -> None:
        self._out |= self.back.keys() if self._reverted else set()
        self._reverted |= bool(self.back)


@area.liar(TOOL, RETRIEVE, clause="nm1/import/two-hop-revert")
class TwoHopsAreTooFar(_StaysGone):
    """Content that comes back over two edits stays superseded."""

    least, most = 2, 9


@area.liar(TOOL, clause="nm1/import/hand-made-left-alone")
class HandMadeIsReplaced(Imports):
    """A capsule that was captured by hand is replaced when its block is edited."""

    async def after(self, call: ToolCall, honest: Honest) -> None:
        for named in self.gone.keys() & self.captured.keys():
            if self.fresh:
                await replaces(call, honest, self.fresh[0]["id"], named)


@area.liar(TOOL, RETRIEVE, clause="nm1/import/manual-edge-defers")
class RevivesWhateverCallersSay(Imports):
    """Content that came back is recalled, whatever edge a caller made."""

    def change(self, call: ToolCall, body: Body) -> None:
        if call.name == RETRIEVE and "superseded" in body.get("excluded", {}) and self.back:
            body.clear()
            body |= {"outcome": "grounded", "results": [{**ARMOUR, "id": next(iter(self.back))}]}


@area.success(GET, clause="nm1/import/manual-edge-unmarked", also={"nm1/relate/manual-unmarked"})
def every_edge_is_the_machines(call: ToolCall, body: Body) -> None:
    """Every supersedes edge has origin import."""
    for edge in body["relations"]:
        if edge["kind"] == "supersedes":
            edge["origin"] = "import"


@area.liar(TOOL, DIGEST, clause="nm1/import/repair-audited")
class RepairsLeaveNoTrace(Interceptor):
    """An import that captures nothing is not in the journal, whatever it repairs."""

    def __init__(self) -> None:
        self._hidden = 0

    async def call_tool(self, call: ToolCall, honest: Honest) -> Result:
        before = (await ask(honest, call, DIGEST))["audit_events"] if call.name == TOOL else 0
        result = await honest(call)
        if is_error(result):
            return result
        body = body_of(result)
        if call.name == TOOL and not body.get("captured"):
            self._hidden += (await ask(honest, call, DIGEST))["audit_events"] - before
        if call.name != DIGEST:
            return result
        events = body["audit_events"] - self._hidden
        return with_body(result, {**body, "audit_events": events, "journal": {**body["journal"], "verified": events}})


@area.item(TOOL, at="outcomes", clause="nm1/import/forgotten-stays-forgotten")
def the_forgotten_comes_back(call: ToolCall, row: Body) -> None:
    """Forgotten content of a file is captured again."""
    if row["status"] == "rejected":
        row.pop("error")
        row |= {"status": "captured", "id": "cap-90000", "dedup_hint": None}
