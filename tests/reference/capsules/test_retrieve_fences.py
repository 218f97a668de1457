"""memory_retrieve: three honest outcomes, and what keeps a match from being evidence."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nmemory_reference.capsules.call import CapsuleStore
from nmemory_reference.capsules.views import get
from nmemory_reference.capsules.views import list as listing
from nmemory_reference.capsules.vocabulary import FENCES
from nmemory_reference.store.database import Database
from reference.capsules.acts import ask, begin, capture, drop, edge, end
from reference.capsules.recalling import ACTS, embed, fenced, happened, ids, teach
from reference.capsules.stage import Stage

#: The fences that a live capsule can run into without a window.
STATES = FENCES[:6]
WINDOW = {"from": "2030-06-01T00:00:00Z", "to": "2030-06-30T23:59:59Z"}


def test_ret01_ret04_an_eligible_match_is_grounded(stage: Stage) -> None:
    stage.put("the relay")
    answer = ask(stage, "relay")
    assert list(answer) == [
        "outcome",
        "results",
        "matched",
        "returned",
        "trimmed",
        "trimmed_by_limit",
        "trimmed_by_budget",
        "token_budget",
        "receipt_id",
    ]
    assert (answer["outcome"], answer["matched"], answer["returned"]) == ("grounded", 1, 1)


def test_ret01_ret02_without_a_match_it_abstains(stage: Stage) -> None:
    stage.put("the relay")
    answer = ask(stage, "turbine")
    assert list(answer) == ["outcome", "reason"]
    assert answer["outcome"] == "abstain"
    assert answer["reason"]


@pytest.mark.parametrize("fence", STATES)
def test_ret01_ret03_if_every_match_is_fenced_evidence_is_missing(stage: Stage, fence: str) -> None:
    fenced(stage, "the secret relay of Odessa", fence)
    answer = ask(stage, "relay")
    assert list(answer) == ["outcome", "excluded_count", "excluded", "reason"]
    assert (answer["outcome"], answer["excluded_count"], answer["excluded"]) == ("missing_evidence", 1, {fence: 1})
    assert "cap-" not in json.dumps(answer)
    assert "Odessa" not in json.dumps(answer)
    assert fence in answer["reason"]


def test_ret05_a_grounded_answer_counts_what_was_fenced_beside_it(stage: Stage) -> None:
    stage.put("the relay holds")
    fenced(stage, "the relay is old", "superseded")
    fenced(stage, "the relay is gone", "expired")
    answer = ask(stage, "relay")
    assert ids(answer) == ["cap-1"]
    assert answer["excluded"] == {"superseded": 1, "expired": 1}
    assert list(answer)[-2:] == ["excluded", "receipt_id"]


@pytest.mark.parametrize(
    "pair",
    [pair for pair in itertools.combinations(STATES, 2) if pair not in {("quarantined", "archived"), STATES[-2:]}],
)
def test_ret25_ret26_a_capsule_counts_under_the_first_of_two_fences(stage: Stage, pair: tuple[str, str]) -> None:
    fenced(stage, "the relay", *pair)
    assert ask(stage, "relay")["excluded"] == {pair[0]: 1}


@pytest.mark.parametrize("fence", STATES)
def test_ret25_what_a_capsule_is_comes_before_when_it_happened(stage: Stage, fence: str) -> None:
    fenced(stage, "the relay", fence)
    assert ask(stage, "relay", time_window=WINDOW)["excluded"] == {fence: 1}


def test_ret25_ret71_the_counts_stand_in_the_order_of_the_fences(stage: Stage) -> None:
    gone = fenced(stage, "the relay", "tombstoned")
    stage.put("relay undated")
    happened(stage, "relay outside", "2030-05-01T00:00:00Z", "2030-05-02T00:00:00Z")
    for fence in reversed(STATES):
        fenced(stage, f"relay {fence}", fence)
    answer = ask(stage, "relay", gone, time_window=WINDOW)
    assert list(answer["excluded"]) == list(FENCES)
    assert set(answer["excluded"].values()) == {1}
    assert answer["excluded_count"] == 9


def test_ret27_both_ends_of_validity_are_inclusive(stage: Stage) -> None:
    until = capture(stage, "relay until now", valid_from="2031-01-01T00:00:00Z", valid_to="2031-05-01T08:00:00Z")
    since = capture(stage, "relay from now on", valid_from="2031-05-01T10:00:00+02:00")
    assert set(ids(ask(stage, "relay"))) == {until, since}
    stage.later(microseconds=1)
    assert ask(stage, "relay")["excluded"] == {"expired": 1}
    stage.later(microseconds=-2)
    assert ask(stage, "relay")["excluded"] == {"not_yet_valid": 1}


@pytest.mark.parametrize("fence", STATES)
def test_ret28_a_fenced_capsule_is_still_got_and_listed(stage: Stage, fence: str) -> None:
    capsule = fenced(stage, "the relay", fence)
    assert stage.call(get.TOOL, id=capsule)["capsule"]["content"] == "the relay"
    assert capsule in [row["id"] for row in stage.call(listing.TOOL)["entries"]]


def test_ret29_the_id_of_a_forgotten_capsule_counts_and_its_words_abstain(stage: Stage) -> None:
    gone = stage.put("the relay")
    drop(stage, gone)
    answer = ask(stage, gone)
    assert (answer["outcome"], answer["excluded"]) == ("missing_evidence", {"tombstoned": 1})
    assert ask(stage, "relay")["outcome"] == "abstain"


def test_ret29_every_forgotten_id_counts_beside_evidence_too(stage: Stage) -> None:
    for _ in ("one", "two"):
        drop(stage, stage.put(f"gone {_}"))
    stage.put("the relay")
    answer = ask(stage, "relay", "cap-2", "cap-1", " cap-1 ")
    assert (ids(answer), answer["excluded"]) == (["cap-3"], {"tombstoned": 2})


@pytest.mark.parametrize("term", ["CAP-1", "cap-01", "the cap-1", "cap-1 ,", "cap 1", "cap-2", "cap-1.0"])
def test_ret30_only_the_id_exactly_is_looked_up(stage: Stage, term: str) -> None:
    drop(stage, stage.put("the relay"))
    assert ask(stage, term)["outcome"] == "abstain"


def test_ret30_an_alias_looks_up_no_id(stage: Stage) -> None:
    drop(stage, stage.put("the relay"))
    teach(stage, "relay", "cap-1")
    assert ask(stage, "relay")["outcome"] == "abstain"


def test_ret31_ret32_the_id_minds_the_session_label_but_no_project(stage: Stage) -> None:
    session = begin(stage)
    gone = capture(stage, "the relay", session_id=session, project_id="lab")
    drop(stage, gone)
    assert ask(stage, gone, project_id="elsewhere")["excluded"] == {"tombstoned": 1}
    assert ask(stage, gone, project_prefix="elsewhere")["excluded"] == {"tombstoned": 1}
    assert ask(stage, gone, session_id=session)["excluded"] == {"tombstoned": 1}
    other = ask(stage, gone, session_id="sess-2")
    assert other["outcome"] == "abstain"
    assert gone not in other["reason"]


def test_ret33_a_live_id_is_a_word_like_any_other(stage: Stage) -> None:
    stage.put("the relay")
    stage.put("as cap-1 says")
    assert ids(ask(stage, "cap-1")) == ["cap-2"]


def test_ret34_ret35_project_and_subtree_hold_together(stage: Stage) -> None:
    for project in ("nott", "nott/x", "nott/x/y", "nottx", "Nott", "lab"):
        stage.put(f"relay of {project}", project_id=project)
    assert set(ids(ask(stage, "relay", project_prefix="nott"))) == {"cap-1", "cap-2", "cap-3"}
    assert set(ids(ask(stage, "relay", project_prefix="nott/x"))) == {"cap-2", "cap-3"}
    assert ids(ask(stage, "relay", project_id="nott")) == ["cap-1"]
    assert ids(ask(stage, "relay", project_id="nott/x", project_prefix="nott")) == ["cap-2"]
    assert ask(stage, "relay", project_id="lab", project_prefix="nott")["outcome"] == "abstain"
    assert ask(stage, "relay", project_id="")["outcome"] == "abstain"


def test_ret34_a_scope_comes_before_the_fences(stage: Stage) -> None:
    fenced(stage, "relay in the lab", "superseded")
    assert ask(stage, "relay", project_id="elsewhere")["outcome"] == "abstain"
    assert ask(stage, "relay", project_id="lab")["outcome"] == "missing_evidence"


def test_ret34_a_scope_sees_what_was_captured_after_it_was_asked_first(stage: Stage) -> None:
    stage.put("relay one", session_id="sess-1")
    assert ids(ask(stage, "relay", session_id="sess-1", project_id="lab")) == ["cap-1"]
    stage.put("relay two", session_id="sess-1")
    stage.put("relay three", session_id="sess-2")
    assert set(ids(ask(stage, "relay", session_id="sess-1", project_id="lab"))) == {"cap-1", "cap-2"}


def test_ret36_a_session_is_a_label_compared_exactly(stage: Stage) -> None:
    session = begin(stage)
    capture(stage, "the relay", session_id=session)
    stage.put("a relay", session_id="sess-7")
    assert ids(ask(stage, "relay", session_id=session)) == ["cap-1"]
    end(stage, session)
    assert ids(ask(stage, "relay", session_id=session)) == ["cap-1"]
    assert ids(ask(stage, "relay", session_id="sess-7")) == ["cap-2"]
    for other in ("SESS-1", " sess-1", "sess-1 ", "sess-01", "sess-9", "anything at all", "x" * 5_000):
        assert ask(stage, "relay", session_id=other)["outcome"] == "abstain"


def test_ret37_an_abstention_names_the_scope_and_the_alias_expansion(stage: Stage) -> None:
    stage.put("the relay")
    teach(stage, "Turbine", "rotor")
    plain = ask(stage, "zzz")["reason"]
    assert "project" not in plain
    assert "session" not in plain
    assert "alias" not in plain
    reason = ask(stage, "turbine", project_id="lab", project_prefix="la b", session_id=" sess-1")["reason"]
    for named in ('project_id "lab"', 'project_prefix "la b"', 'session_id " sess-1"', 'alias expansion of "turbine"'):
        assert named in reason


def test_ret37_a_forced_vector_abstention_speaks_of_vectors_and_claims_nothing_of_terms(stage: Stage) -> None:
    embed(stage, stage.put("the relay"), 1, 0)
    answer = ask(stage, "relay", lane="vector", query_embedding=[-1, 0], session_id="sess-3")
    assert answer["outcome"] == "abstain"
    assert "lane vector" in answer["reason"]
    assert 'session_id "sess-3"' in answer["reason"]
    assert "terms" not in answer["reason"]


def test_ret38_what_lies_outside_of_a_scope_is_not_told(stage: Stage) -> None:
    stage.put("the relay in Odessa", project_id="hidden")
    answer = json.dumps(ask(stage, "relay", project_id="lab"))
    for leak in ("cap-", "Odessa", "hidden"):
        assert leak not in answer


@pytest.mark.parametrize(
    ("start", "end", "inside"),
    [
        ("2030-06-10T00:00:00Z", "2030-06-10T00:00:00Z", True),
        ("2030-01-01T00:00:00Z", "2030-06-01T00:00:00Z", True),
        ("2030-06-30T23:59:59Z", "2031-01-01T00:00:00Z", True),
        ("2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z", True),
        ("2030-06-01T02:00:00+02:00", "2030-06-01T02:00:00+02:00", True),
        ("2030-01-01T00:00:00Z", "2030-05-31T23:59:59.999999Z", False),
        ("2030-06-30T23:59:59.000001Z", "2031-01-01T00:00:00Z", False),
        ("2030-07-01T00:00:00+02:00", "2030-07-01T00:00:00+02:00", True),
    ],
)
def test_ret39_a_window_keeps_what_intersects_it_bounds_included(
    stage: Stage, start: str, end: str, inside: bool
) -> None:
    happened(stage, "the relay", start, end)
    answer = ask(stage, "relay", time_window=WINDOW)
    assert (answer["outcome"] == "grounded") is inside
    assert answer.get("excluded") == (None if inside else {"outside_time_window": 1})


@pytest.mark.parametrize(
    ("window", "inside"),
    [
        ({"from": "2030-06-10T00:00:00Z"}, True),
        ({"from": "2030-06-10T00:00:01Z"}, False),
        ({"to": "2030-06-10T00:00:00Z"}, True),
        ({"to": "2030-06-09T23:59:59Z", "from": None}, False),
        ({"from": "2030-06-10T00:00:00Z", "to": "2030-06-10T00:00:00Z"}, True),
        ({"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59Z"}, True),
    ],
)
def test_ret39_a4_a_window_may_have_one_bound_or_be_an_instant(
    stage: Stage, window: dict[str, str], inside: bool
) -> None:
    happened(stage, "the relay", "2030-06-10T00:00:00Z", "2030-06-10T00:00:00Z")
    assert (ask(stage, "relay", time_window=window)["outcome"] == "grounded") is inside


def test_ret39_ret41_what_declares_nothing_is_undated_under_a_window_only(stage: Stage) -> None:
    stage.put("the relay")
    assert ask(stage, "relay")["outcome"] == "grounded"
    assert ask(stage, "relay", time_window=None)["outcome"] == "grounded"
    assert ask(stage, "relay", time_window=WINDOW)["excluded"] == {"undated": 1}


def test_ret70_a_tainted_capsule_is_shown_with_its_flag(stage: Stage) -> None:
    capture(stage, "the relay", instruction_taint=True)
    capture(stage, "a relay")
    rows = ask(stage, "relay")["results"]
    assert {row["id"]: row["instruction_taint"] for row in rows} == {"cap-1": True, "cap-2": False}


@pytest.mark.parametrize("kind", ["witnesses", "blocks", "derived_from", "proposes", "grounded_in"])
def test_ret72_no_other_edge_fences(stage: Stage, kind: str) -> None:
    stage.put("the relay")
    edge(stage, stage.put("something else"), kind, "cap-1")
    assert ids(ask(stage, "relay")) == ["cap-1"]


def test_fences_follow_every_change_at_once(stage: Stage) -> None:
    """What is remembered between calls never outlives an act."""
    capsule = stage.put("the relay")
    for fence in reversed(ACTS):
        assert fence not in ask(stage, "relay").get("excluded", {})
        if fence == "quarantined":
            with stage.store.writing() as db:
                db.execute("UPDATE tier SET tier = 'quarantined'")
        else:
            ACTS[fence](stage, capsule)
        assert ask(stage, "relay")["excluded"] == {fence: 1}


def test_a_fence_that_is_taken_back_lets_the_capsule_be_evidence_again(stage: Stage) -> None:
    stage.put("the relay")
    stage.put("the other relay")
    with stage.store.writing() as db:
        db.execute("INSERT INTO relation VALUES ('supersedes', 'cap-2', 'cap-1', 'now', 'import')")
    assert ids(ask(stage, "relay")) == ["cap-2"]
    with stage.store.writing() as db:
        db.execute("DELETE FROM relation")
    assert set(ids(ask(stage, "relay"))) == {"cap-1", "cap-2"}


@dataclass(frozen=True)
class State:
    """A capsule's standing; times are microseconds from now on, None for no end and for no declared time."""

    tier: str
    falsified: bool
    superseded: bool
    valid_from: int
    valid_to: int | None
    event: int | None
    worded: bool
    embedded: bool

    def fence(self, windowed: bool) -> str | None:
        """The first fence by the words of the contract; the window is the present microsecond."""
        applies = {
            "quarantined": self.tier == "quarantined",
            "falsified": self.falsified,
            "archived": self.tier == "archived",
            "superseded": self.superseded,
            "expired": self.valid_to is not None and self.valid_to < 0,
            "not_yet_valid": self.valid_from > 0,
            "outside_time_window": windowed and self.event not in {None, 0},
            "undated": windowed and self.event is None,
        }
        return next((fence for fence in FENCES if applies.get(fence)), None)

    def arrange(self, stage: Stage, project: str, number: int) -> str:
        """A capsule in this state; gives its id."""
        now = stage.context().now.us
        said = "relay" if self.worded else "other"
        capsule = stage.put(f"{said} {number} of {project}", project_id=project)
        seq = int(capsule[4:])
        if self.embedded:
            embed(stage, capsule, 1, 1)
        with stage.store.writing() as db:
            if self.event is not None:
                db.execute(
                    "INSERT INTO fact_time VALUES (?, '', ?, '', ?, '')", (seq, now + self.event, now + self.event)
                )
            stop = None if self.valid_to is None else now + self.valid_to
            db.execute(
                "UPDATE standing SET tier = ?, falsified = ?, superseded = ?, valid_from_us = ?, valid_to_us = ? "
                "WHERE seq = ?",
                (self.tier, self.falsified, self.superseded, now + self.valid_from, stop, seq),
            )
        return capsule


states = st.builds(
    State,
    tier=st.sampled_from(["active", "active", "archived", "quarantined"]),
    falsified=st.booleans(),
    superseded=st.booleans(),
    valid_from=st.sampled_from([-1, 0, 1]),
    valid_to=st.sampled_from([None, None, -1, 0, 1]),
    event=st.sampled_from([None, 0, 7]),
    worded=st.booleans(),
    embedded=st.booleans(),
)


def test_ret25_ret48_each_match_is_evidence_or_counted_once_under_its_first_fence(stage: Stage) -> None:
    projects = itertools.count(1)

    @settings(deadline=None)
    @given(st.lists(states, min_size=1, max_size=6), st.booleans(), st.sampled_from(["term", "vector", "fused"]))
    def holds(made: list[State], windowed: bool, lane: str) -> None:
        project = f"p{next(projects)}"
        evidence: set[str] = set()
        counts: Counter[str] = Counter()
        for number, state in enumerate(made):
            capsule = state.arrange(stage, project, number)
            if not (state.worded and lane != "vector") and not (state.embedded and lane != "term"):
                continue
            fence = state.fence(windowed)
            if fence is None:
                evidence.add(capsule)
            else:
                counts[fence] += 1
        more: dict[str, Any] = {"lane": lane, "token_budget": 10**6, "project_id": project}
        if lane != "term":
            more["query_embedding"] = [1, 0]
        if windowed:
            more["time_window"] = {"from": stage.context().now.text, "to": stage.context().now.text}
        answer = ask(stage, "relay", **more)
        assert set(ids(answer) if evidence else []) == evidence
        assert answer.get("excluded", {}) == counts
        assert list(answer.get("excluded", {})) == [fence for fence in FENCES if fence in counts]
        assert answer["outcome"] == ("grounded" if evidence else "missing_evidence" if counts else "abstain")

    holds()


def test_what_another_process_does_is_seen_at_once(stage: Stage, tmp_path: Path) -> None:
    """Nothing that is kept between calls hides a change that came past this server."""
    embed(stage, stage.put("relay one", project_id="lab"), 1, 0)
    asked: dict[str, Any] = {"project_id": "lab", "query_embedding": [1, 0]}
    assert ids(ask(stage, "relay", **asked)) == ["cap-1"]
    other = Stage(CapsuleStore(Database.open(tmp_path / "memory.sqlite3")), stage.settings)
    embed(other, other.put("relay two", project_id="lab"), 1, 1)
    edge(other, "cap-2", "supersedes", "cap-1")
    answer = ask(stage, "relay", **asked)
    assert (ids(answer), answer["excluded"]) == (["cap-2"], {"superseded": 1})
    assert answer["results"][0]["vector_similarity"] == 0.7071
    drop(other, "cap-2")
    assert ask(stage, "relay", **asked)["excluded"] == {"superseded": 1}
    other.store.database.close()
