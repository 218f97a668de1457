"""Laws about a Markdown index of a store."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_kit.check import Answer
from nmemory_kit.check.laws import laws

BODY = """
## project lab

### decision

- **cap-1** "Ship on Fridays is off" · conf 0.90 · user-stated · taint:no · notes @ notes.md:4 · 2031-05-01 → open

### unclassified

- **cap-4** "say \\"cap-9\\"…" · conf 0.60 · externally-imported · taint:yes · feed @ cap-7 · tier quarantined

## relations

- cap-1 --supersedes--> cap-2 · at 2031-05-03T00:00:00Z
- out-1 --falsifies--> cap-4 · at 2031-05-03T00:00:01Z

## superseded + tombstoned

- cap-2 — superseded by cap-1 (project lab) · tier archived
- cap-3 — tombstoned (redacted) · reason: "leaked token" · hmac-sha256:0011… · was scratch @ scratch.md:1
"""
COUNTS = "capsules=4 live=2 superseded=1 tombstoned=1 relations=2 projects=1"
STAMP = "> generated_at: 2031-05-04T08:00:00.5Z\n"


def document(body=BODY, counts=COUNTS, stamp="", digest=None):
    digest = digest or hashlib.sha256(body.encode()).hexdigest()
    return f"# A store\n\n> GENERATED VIEW\n{stamp}> store digest: {counts} · body sha256:{digest}\n{body}"


def broken(law, markdown, **args):
    answer = Answer.of_document({"markdown": markdown})
    return [one.expected for one in laws()[law](answer, {"at": "/markdown", **args})]


@pytest.mark.parametrize("law", ["export-digest", "export-layout", "export-counts"])
def test_a_faithful_index_keeps_the_law(law):
    assert not broken(law, document())
    assert not broken(law, document(stamp=STAMP))


@pytest.mark.parametrize("law", ["export-digest", "export-layout", "export-counts"])
def test_an_index_of_nothing_keeps_the_law(law):
    assert not broken(law, document("\n_empty_\n", "capsules=0 live=0 superseded=0 tombstoned=0 relations=0"))


@given(st.integers(0, len(BODY) - 1), st.characters(exclude_categories=["Cs"]))
def test_any_changed_character_breaks_the_digest(place, character):
    changed = BODY[:place] + character + BODY[place + 1 :]
    digest = hashlib.sha256(BODY.encode()).hexdigest()
    assert bool(broken("export-digest", document(changed, digest=digest))) == (changed != BODY)


@pytest.mark.parametrize("body", [BODY + "\n", BODY[:-1], BODY[1:]])
def test_the_digest_covers_every_line_end(body):
    digest = hashlib.sha256(BODY.encode()).hexdigest()
    assert broken("export-digest", document(body, digest=digest))


@pytest.mark.parametrize("markdown", ["", "# a store\n", "capsules=3 sha256:0011\n", None, 3, ["capsules=3"]])
def test_what_is_no_index_breaks_every_law(markdown):
    for law in ("export-digest", "export-layout", "export-counts"):
        assert broken(law, markdown)


def test_the_stamp_is_one_line_with_an_instant_or_none():
    assert not broken("export-stamp", document(stamp=STAMP), stamped=True)
    assert not broken("export-stamp", document(stamp="> generated_at: 2031-05-04t08:00:00z\n"), stamped=True)
    assert not broken("export-stamp", document(), stamped=False)
    assert broken("export-stamp", document(stamp=STAMP), stamped=False)
    assert broken("export-stamp", document(), stamped=True)
    assert broken("export-stamp", document(stamp=STAMP + STAMP), stamped=True)
    assert broken("export-stamp", document(stamp="> generated_at: yesterday\n"), stamped=True)


def test_the_stamp_is_of_now():
    assert not broken("export-stamp", document(stamp=STAMP), stamped=True, now="2031-05-04T10:01:30+02:00")
    assert broken("export-stamp", document(stamp=STAMP), stamped=True, now="2031-05-04T08:03:00Z")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("## relations", "## superseded + tombstoned"), "sections of projects"),
        (("## project lab", "## relations"), "sections of projects"),
        (("### decision", "### unclassified"), "once"),
        (("### unclassified", "### "), "under a kind"),
        (('- **cap-1** "Ship', '**cap-1** "Ship'), "only headings"),
        (("### decision", "### decision\n\n### task"), "no heading"),
        (("### decision\n", ""), "under a kind"),
        (("## relations", "## project empty\n\n## relations"), "no section"),
        (("- **cap-4**", "a forged line\n- **cap-4**"), "only headings"),
    ],
)
def test_another_layout_breaks_the_law(change, says):
    found = broken("export-layout", document(BODY.replace(*change)))
    assert any(says in one for one in found)


def test_unclassified_is_the_last_kind():
    body = BODY.replace("### decision", "### first").replace("### unclassified", "### decision")
    assert broken("export-layout", document(body.replace("### first", "### unclassified")))


@pytest.mark.parametrize(
    "counts",
    [
        "capsules=5 live=2 superseded=1 tombstoned=1",
        "capsules=4 live=1 superseded=2 tombstoned=1",
        "capsules=5 live=3 superseded=1 tombstoned=1",
        "capsules=5 live=2 superseded=1 tombstoned=2",
        "capsules=4 live=2 superseded=1 tombstoned=1 relations=3",
        "capsules=4",
    ],
)
def test_counts_that_do_not_add_up_break_the_law(counts):
    assert broken("export-counts", document(counts=counts))


def test_an_entry_stands_under_its_project_and_kind():
    args = {"id": "cap-1", "project": "lab", "kind": "decision", "tier": None, "matches": ['"Ship on Fridays is off"']}
    assert not broken("export-entry", document(), **args)
    for change in ({"kind": "fact"}, {"project": "la"}, {"id": "cap-2"}, {"tier": "archived"}, {"matches": ["Monday"]}):
        assert broken("export-entry", document(), **{**args, **change})


def test_an_entry_is_its_own_row_not_one_that_mentions_it():
    assert not broken("export-entry", document(), id="cap-4", project="lab", tier="quarantined")
    assert broken("export-entry", document(), id="cap-9", project="lab")
    assert broken("export-entry", document(), id="cap-7", project="lab")


def test_an_entry_besides_a_marker_breaks_the_law():
    body = BODY.replace("- cap-2 — superseded", "- cap-1 — superseded")
    assert broken("export-entry", document(body), id="cap-1", project="lab", kind="decision")
    assert broken("export-marker", document(body), id="cap-1")


def test_a_marker_is_one_row_of_the_last_section():
    assert not broken("export-marker", document(), id="cap-2", matches=["superseded", "cap-1"], tier="archived")
    assert not broken("export-marker", document(), id="cap-3", matches=["redacted", "leaked token"], tier=None)
    assert broken("export-marker", document(), id="cap-3", matches=["purged"])
    assert broken("export-marker", document(), id="cap-2", tier=None)
    assert broken("export-marker", document(), id="cap-5")


def test_edges_stand_once_each_in_their_order():
    first, second = ["cap-1", "supersedes", "cap-2"], ["out-1", "falsifies", "cap-4"]
    assert not broken("export-edges", document(), edges=[first, second])
    assert broken("export-edges", document(), edges=[second, first])
    assert broken("export-edges", document(), edges=[["cap-2", "supersedes", "cap-1"]])
    assert broken("export-edges", document(), edges=[["cap-1", "blocks", "cap-2"]])
    assert broken("export-edges", document(), edges=[["cap-1", "supersedes", "cap-21"]])
    twice = BODY.replace("- out-1", "- cap-1 --supersedes--> cap-2 · at noon\n- out-1")
    assert broken("export-edges", document(twice), edges=[first])


def test_counts_can_be_asked_for():
    assert not broken("export-counts", document(), are={"capsules": 4, "tombstoned": 1})
    assert broken("export-counts", document(), are={"capsules": 4, "tombstoned": 2})
    assert broken("export-counts", document(), are={"sections": 2})


def test_counts_can_be_more_than_they_were():
    before = document(counts="capsules=1 live=0 superseded=1 tombstoned=0 relations=0")
    more = {"capsules": 3, "live": 2, "superseded": 0, "tombstoned": 1}
    assert not broken("export-counts", document(), are=more, since=before)
    assert broken("export-counts", document(), are={**more, "superseded": 1}, since=before)
    assert broken("export-counts", document(), are={"sections": 0}, since=before)


def test_the_stamp_changes_nothing_of_the_body():
    assert not broken("export-same-body", document(stamp=STAMP), **{"as": document()})
    assert broken("export-same-body", document(BODY + "- more\n"), **{"as": document()})
    assert broken("export-same-body", document(), **{"as": document(digest="0" * 64)})
    assert broken("export-same-body", document(), **{"as": None})
    assert not broken("export-same-body", document(stamp=STAMP + "\n"), **{"as": document()})
    assert broken("export-same-body", document(stamp=STAMP + "> no. 7\n"), **{"as": document()})
    assert broken("export-same-body", document(counts=COUNTS.replace("=4", "=5")), **{"as": document()})
