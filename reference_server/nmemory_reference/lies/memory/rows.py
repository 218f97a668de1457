"""Lies about the rows of a recall: what each tells of its capsule, its anchor and its match."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nmemory_reference.lies.answers import Body, Honest, Result, body_of, is_error, with_body
from nmemory_reference.lies.lie import Area
from nmemory_reference.lies.memory.recalled import (
    RETRIEVE,
    Recalls,
    capsule,
    folded,
    found,
    is_fused,
    number,
    terms_of,
)
from nmemory_reference.serve.interceptor import ToolCall

area = Area("rows")


# What a row has


@area.success(RETRIEVE, clause="nm1/retrieve/results-key")
def rows_stand_under_rows(call: ToolCall, body: Body) -> None:
    """The rows of a grounded answer stand under rows."""
    if "results" in body:
        body["rows"] = body.pop("results")


@area.success(RETRIEVE, clause="nm1/retrieve/row-label")
def the_second_row_has_no_label(call: ToolCall, body: Body) -> None:
    """The rows behind the first are not labelled."""
    for row in found(body)[1:]:
        del row["label"]


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-label")
def what_a_user_said_is_authority(call: ToolCall, row: Body) -> None:
    """What a user stated is not framed as data."""
    if row["authority_class"] == "user-stated":
        row["framing"] = "INSTRUCTION"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-members")
def the_clean_have_no_taint(call: ToolCall, row: Body) -> None:
    """instruction_taint stands on tainted rows only."""
    if not row["instruction_taint"]:
        del row["instruction_taint"]


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-members")
def prose_has_no_drift(call: ToolCall, row: Body) -> None:
    """An anchor that is no path has no anchor_drift."""
    if row["anchor_live"] == "unknown":
        del row["anchor_drift"]


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-provenance")
def a_source_is_one_word(call: ToolCall, row: Body) -> None:
    """A row tells the last word of the source."""
    row["provenance"]["source"] = row["provenance"]["source"].rpartition(" ")[2]


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-provenance")
def anchors_lose_their_number(call: ToolCall, row: Body) -> None:
    """A row tells the anchor without the number at its end."""
    row["provenance"]["anchor"] = re.sub(r"\W\d+$", "", row["provenance"]["anchor"])


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-freshness")
def the_end_is_not_told(call: ToolCall, row: Body) -> None:
    """valid_to is always null."""
    row["freshness"]["valid_to"] = None


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-freshness")
def validity_is_of_days(call: ToolCall, row: Body) -> None:
    """valid_from tells the midnight of its day."""
    row["freshness"]["valid_from"] = row["freshness"]["valid_from"][:10] + "T00:00:00Z"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-freshness")
def ends_are_of_days(call: ToolCall, row: Body) -> None:
    """valid_to tells the midnight of its day."""
    if ends := row["freshness"]["valid_to"]:
        row["freshness"]["valid_to"] = f"{ends[:10]}T00:00:00Z"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-values")
def only_the_imported_is_tainted(call: ToolCall, row: Body) -> None:
    """A row tells a taint only where the capsule was imported."""
    row["instruction_taint"] = row["authority_class"] == "externally-imported"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-values")
def recall_trusts_its_rows(call: ToolCall, row: Body) -> None:
    """No row of recall is tainted."""
    row["instruction_taint"] = False


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-values")
def every_row_is_inferred(call: ToolCall, row: Body) -> None:
    """Every row has the authority of an agent."""
    row["authority_class"] = "agent-inferred"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-values")
def headlines_begin_with_their_project(call: ToolCall, row: Body) -> None:
    """A headline has a dash in front."""
    row["headline"] = f"- {row['headline']}"


# What was given with it


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-epistemics")
def hints_are_trimmed(call: ToolCall, row: Body) -> None:
    """A proof_hint loses the blanks at its ends."""
    if "proof_hint" in row:
        row["proof_hint"] = row["proof_hint"].strip()


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-epistemics")
def hints_are_defused(call: ToolCall, row: Body) -> None:
    """A proof_hint is told without what a shell would run."""
    if "proof_hint" in row:
        row["proof_hint"] = re.sub(r"\$\(.*?\)|`.*?`", "", row["proof_hint"])


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-epistemics")
def no_hint_is_an_empty_one(call: ToolCall, row: Body) -> None:
    """A row without a proof_hint has an empty one."""
    if "evidence_state" in row:
        row.setdefault("proof_hint", "")


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-epistemics")
def staleness_is_not_told(call: ToolCall, row: Body) -> None:
    """stale_if stays with memory_get."""
    row.pop("stale_if", None)


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-epistemics")
def staleness_goes_with_a_hint(call: ToolCall, row: Body) -> None:
    """stale_if is told only beside a proof_hint."""
    if "proof_hint" not in row:
        row.pop("stale_if", None)


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-epistemics")
def the_inferred_is_not_observed(call: ToolCall, row: Body) -> None:
    """What was inferred is told as unverified."""
    if row.get("evidence_state") == "inferred":
        row["evidence_state"] = "unverified"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-epistemics")
def what_is_not_said_is_unverified(call: ToolCall, row: Body) -> None:
    """A row without an evidence_state is unverified."""
    row.setdefault("evidence_state", "unverified")


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/row-evidence-closed", also={"nm1/retrieve/row-epistemics"})
def the_observed_is_verified(call: ToolCall, row: Body) -> None:
    """What was observed is told as verified."""
    if row.get("evidence_state") == "observed":
        row["evidence_state"] = "verified"


async def _with_content(call: ToolCall, honest: Honest, shown: Callable[[Body, str], None]) -> Result:
    """The answer to a call whose rows are changed by the whole content."""
    result = await honest(call)
    if is_error(result):
        return result
    body = body_of(result)
    for row in found(body):
        shown(row, (await capsule(call, honest, row["id"]))["capsule"]["content"])
    return with_body(result, body)


@area.answer(RETRIEVE, clause="nm1/retrieve/row-headline")
async def a_headline_is_the_content(call: ToolCall, honest: Honest) -> Result:
    """A row shows the whole content as its headline."""
    return await _with_content(call, honest, lambda row, content: row.update(headline=content))


@area.answer(RETRIEVE, clause="nm1/retrieve/row-headline")
async def rows_have_a_snippet(call: ToolCall, honest: Honest) -> Result:
    """A row shows the end of a long content as well."""
    return await _with_content(call, honest, lambda row, content: row.update(snippet=content[-40:]))


# What matched


@area.success(RETRIEVE, clause="nm1/retrieve/matched-terms")
def matched_terms_are_folded(call: ToolCall, body: Body) -> None:
    """matched_terms names the terms in small letters."""
    for row in found(body):
        row["matched_terms"] = [folded(term) for term in row["matched_terms"]]


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/matched-terms")
def one_term_is_enough(call: ToolCall, row: Body) -> None:
    """matched_terms names the first term that found the row."""
    row["matched_terms"] = row["matched_terms"][:1]


@area.success(RETRIEVE, clause="nm1/retrieve/matched-terms")
def matched_terms_are_words(call: ToolCall, body: Body) -> None:
    """matched_terms names the words of the terms."""
    for row in found(body):
        row["matched_terms"] = [word for term in row["matched_terms"] for word in term.split()]


@area.success(RETRIEVE, clause="nm1/retrieve/matched-terms")
def fused_rows_match_every_term(call: ToolCall, body: Body) -> None:
    """In lane fused matched_terms names every term on every row that words found."""
    for row in found(body):
        if row["matched_terms"] and is_fused(call):
            row["matched_terms"] = terms_of(call)


# Anchors


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-live-values")
def the_unknown_is_null(call: ToolCall, row: Body) -> None:
    """anchor_live is null where nothing is known."""
    if row["anchor_live"] == "unknown":
        row["anchor_live"] = None


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-live-values")
def liveness_is_a_text(call: ToolCall, row: Body) -> None:
    """anchor_live is a text."""
    row["anchor_live"] = "n/a" if row["anchor_live"] == "unknown" else str(row["anchor_live"]).lower()


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-drift-values")
def drift_is_not_checked(call: ToolCall, row: Body) -> None:
    """anchor_drift is unchecked where it is not known."""
    if row["anchor_drift"] == "unknown":
        row["anchor_drift"] = "unchecked"


def _path(row: Body) -> Path:
    return Path(re.sub(r":\d+$", "", row["provenance"]["anchor"]))


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-absolute")
def absolute_anchors_are_looked_for(call: ToolCall, row: Body) -> None:
    """An absolute anchor is looked for on the disk."""
    if _path(row).is_absolute():
        row["anchor_live"] = _path(row).exists()


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-absolute")
def absolute_anchors_are_dead(call: ToolCall, row: Body) -> None:
    """An absolute anchor is below no root, and so not live."""
    if _path(row).is_absolute():
        row["anchor_live"] = False


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-absolute")
def anchors_outside_the_root_are_dead(call: ToolCall, row: Body) -> None:
    """An absolute anchor that is no file of the system is not live."""
    if _path(row).is_absolute() and not _path(row).is_relative_to("/etc"):
        row["anchor_live"] = False


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-live")
def every_path_is_live(call: ToolCall, row: Body) -> None:
    """A path below the root is live, whether the file is there or not."""
    if row["anchor_live"] is False:
        row["anchor_live"] = True


class _Remembers(Recalls):
    """Tells a member of a row as it was when the row was first recalled."""

    member: str

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}

    def change(self, call: ToolCall, body: Body) -> None:
        for row in found(body) if call.name == RETRIEVE else ():
            row[self.member] = self._first.setdefault(row["id"], row[self.member])


@area.liar(RETRIEVE, clause="nm1/retrieve/anchor-live")
class LivenessIsLookedUpOnce(_Remembers):
    """anchor_live stays what it was at the first recall."""

    member = "anchor_live"


@area.liar(RETRIEVE, clause="nm1/retrieve/anchor-drift", also={"nm1/retrieve/anchor-drift-unknown"})
class DriftIsLookedUpOnce(_Remembers):
    """anchor_drift stays what it was at the first recall."""

    member = "anchor_drift"


class _Drifts(Recalls):
    """Never takes back that a file has changed."""

    def __init__(self) -> None:
        self._drifted: set[str] = set()

    def change(self, call: ToolCall, body: Body) -> None:
        for row in found(body) if call.name == RETRIEVE else ():
            if row["anchor_drift"] == "drifted":
                self._drifted.add(row["id"])
            if row["id"] in self._drifted:
                row["anchor_drift"] = "drifted"


@area.liar(RETRIEVE, clause="nm1/retrieve/anchor-drift")
class OnceDriftedAlwaysDrifted(_Drifts):
    """A file that is as it was once more still reads drifted."""


class _DriftsTogether(Recalls):
    """Takes the change of one file for that of all."""

    def __init__(self) -> None:
        self._any = False

    def change(self, call: ToolCall, body: Body) -> None:
        for row in found(body) if call.name == RETRIEVE else ():
            self._any |= row["anchor_drift"] == "drifted"
            if self._any and row["anchor_drift"] == "unchanged":
                row["anchor_drift"] = "drifted"


@area.liar(RETRIEVE, clause="nm1/retrieve/anchor-drift")
class OneChangeIsAll(_DriftsTogether):
    """When one file has changed every anchor below the root reads drifted."""


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-drift")
def the_number_of_the_line_counts(call: ToolCall, row: Body) -> None:
    """A change reads drifted only where the anchor is on the first line."""
    if row["anchor_drift"] == "drifted" and not str(row["provenance"]["anchor"]).endswith(":1"):
        row["anchor_drift"] = "unchanged"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-drift-unknown")
def what_is_there_is_unchanged(call: ToolCall, row: Body) -> None:
    """Where there is a file, and nothing to compare it with, drift is unchanged."""
    if row["anchor_live"] is True and row["anchor_drift"] == "unknown":
        row["anchor_drift"] = "unchanged"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-drift-unknown")
def what_had_no_hash_has_drifted(call: ToolCall, row: Body) -> None:
    """Where there is a file, and nothing was noted at the capture, drift is drifted."""
    if row["anchor_live"] is True and row["anchor_drift"] == "unknown":
        row["anchor_drift"] = "drifted"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-drift-unknown")
def prose_is_unchanged(call: ToolCall, row: Body) -> None:
    """An anchor that is no path is unchanged."""
    if row["anchor_live"] == "unknown" and " " in row["provenance"]["anchor"]:
        row["anchor_drift"] = "unchanged"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-drift-unknown")
def absolute_anchors_are_unchanged(call: ToolCall, row: Body) -> None:
    """An absolute anchor is unchanged where there is a file."""
    if _path(row).is_absolute() and _path(row).exists():
        row["anchor_drift"] = "unchanged"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-drift-unknown")
def steps_upwards_are_followed(call: ToolCall, row: Body) -> None:
    """An anchor that climbs out of the root is read."""
    if ".." in _path(row).parts:
        row["anchor_drift"] = "drifted"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-deleted")
def the_deleted_has_drifted(call: ToolCall, row: Body) -> None:
    """A file that is gone reads drifted."""
    if row["anchor_live"] is False:
        row["anchor_drift"] = "drifted"


@area.item(RETRIEVE, at="results", clause="nm1/retrieve/anchor-deleted")
def the_deleted_is_unknown(call: ToolCall, row: Body) -> None:
    """Whether a file that is gone is live is not known."""
    if row["anchor_live"] is False and row["provenance"]["anchor"].endswith("wall.md:2"):
        row["anchor_live"] = "unknown"


@area.success(RETRIEVE, clause="nm1/retrieve/anchor-live")
def the_first_line_is_the_file(call: ToolCall, body: Body) -> None:
    """An anchor on a line behind the first is not found."""
    for row in sorted(found(body), key=lambda row: number(row["id"])):
        if row["anchor_live"] is True and not row["provenance"]["anchor"].endswith(":1") and terms_of(call):
            row["anchor_live"] = False
