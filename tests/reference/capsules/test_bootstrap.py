"""memory_bootstrap: the pack of a fresh agent, its sections, its ranks and its budget."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nmemory_reference.capsules import wire
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.recall import alias
from nmemory_reference.capsules.views import bootstrap, digest
from reference.capsules.acts import ask, capture, drop, edge, label, nail, retier
from reference.capsules.inspection import audit, rows
from reference.capsules.stage import Stage

PAST = {"valid_from": "2031-04-01T08:00:00Z", "valid_to": "2031-05-01T07:00:00Z"}
KIND = {"constraints": "constraint", "decisions": "decision", "traps": "failure_pattern"}


def pack(stage: Stage, **arguments: Any) -> dict[str, Any]:
    return stage.call(bootstrap.TOOL, **{"token_budget": 100_000, **arguments})


def ids(shown: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in shown]


def add(stage: Stage, kind: str, content: str, **fields: Any) -> str:
    capsule = capture(stage, content, **fields)
    label(stage, capsule, kind)
    return capsule


def several(stage: Stage, kind: str, count: int, **fields: Any) -> list[str]:
    return [add(stage, kind, f"{kind} number {number}", **fields) for number in range(count)]


def chain(stage: Stage, count: int) -> list[str]:
    """Capsules of which all but the last are ready."""
    capsules = [capture(stage, f"step {number}") for number in range(count)]
    for capsule in capsules[:-1]:
        edge(stage, capsule, "blocks", capsules[-1])
    return capsules


def cost(row: dict[str, Any] | str) -> int:
    text = row if isinstance(row, str) else json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    return math.ceil(len(text) / 4)


def spent(shown: dict[str, Any]) -> int:
    """What the rows and handles of a pack cost."""
    ready = shown["ready"]
    kept = [row for name in KIND for row in shown.get(name, [])]
    kept += ([ready["next_action"]] if "next_action" in ready else []) + ready["ready"]
    return sum(map(cost, kept)) + sum(map(cost, shown.get("handles", [])))


def test_one_constraint_is_the_worked_answer(stage: Stage) -> None:
    add(stage, "constraint", "one writer per store", project_id="lab")
    shown = stage.call(bootstrap.TOOL)
    row = {
        "id": "cap-1",
        "project_id": "lab",
        "instruction_taint": False,
        "created_at": "2031-05-01T08:00:00Z",
        "headline": "one writer per store",
        "kind": "constraint",
    }
    assert list(shown.items()) == [
        ("label", "ADVISORY_NOT_AUTHORITY"),
        ("framing", "DATA"),
        ("constraints", [row]),
        ("constraints_total", 1),
        ("ready", {"ready": [], "ready_total": 0}),
        ("decisions_total", 0),
        ("traps_total", 0),
        ("handles", ["cap-1"]),
        ("budget", {"token_budget": 1500, "used_tokens": cost(row) + cost("cap-1"), "trimmed_by_budget": 0}),
    ]


def test_bst1_keys_come_in_the_order_of_the_contract(stage: Stage) -> None:
    for kind in KIND.values():
        add(stage, kind, f"a {kind}")
    chain(stage, 3)
    shown = pack(stage)
    assert list(shown)[2:] == [
        *("constraints", "constraints_total", "ready", "decisions", "decisions_total", "traps", "traps_total"),
        *("handles", "budget"),
    ]
    assert list(shown["ready"]) == ["next_action", "ready", "ready_total"]
    assert list(shown["budget"]) == ["token_budget", "used_tokens", "trimmed_by_budget"]


def test_bst2_bst3_constraints_are_never_capped(stage: Stage) -> None:
    capsules = several(stage, "constraint", 14)
    assert ids(pack(stage)["constraints"]) == capsules
    assert pack(stage)["constraints_total"] == 14


def test_bst4_only_the_budget_shortens_constraints(stage: Stage) -> None:
    several(stage, "constraint", 14)
    shown = pack(stage, token_budget=200)
    assert 1 < len(shown["constraints"]) < shown["constraints_total"] == 14
    assert shown["budget"]["trimmed_by_budget"] == 14 - len(shown["constraints"])


@pytest.mark.parametrize(("kind", "section"), [("decision", "decisions"), ("failure_pattern", "traps")])
def test_bst5_the_other_sections_are_capped_at_ten(stage: Stage, kind: str, section: str) -> None:
    capsules = several(stage, kind, 14)
    shown = pack(stage)
    assert (ids(shown[section]), shown[f"{section}_total"]) == (capsules[:10], 14)
    assert shown["budget"]["trimmed_by_budget"] == 0


def test_bst6_bst9_bst10_the_next_action_and_ten_beside_it(stage: Stage) -> None:
    chain(stage, 14)
    ready = pack(stage)["ready"]
    in_order = sorted(f"cap-{number}" for number in range(1, 14))
    assert ready["next_action"]["id"] == "cap-1"
    assert ids(ready["ready"]) == in_order[1:11]
    assert ready["ready_total"] == 13


def test_bst7_bst8_what_is_empty(stage: Stage) -> None:
    assert list(pack(stage).items())[2:-1] == [
        ("constraints_total", 0),
        ("ready", {"ready": [], "ready_total": 0}),
        ("decisions_total", 0),
        ("traps_total", 0),
    ]


def test_bst11_bst20_handles_name_the_pack_once_and_in_order(stage: Stage) -> None:
    trap, decision, constraint = (add(stage, kind, kind) for kind in ("failure_pattern", "decision", "constraint"))
    first, second, blocked = chain(stage, 3)
    edge(stage, decision, "blocks", blocked)
    assert pack(stage)["handles"] == [constraint, decision, first, second, trap]


def test_bst12_what_is_ready_elsewhere_is_neither_shown_nor_counted(stage: Stage) -> None:
    inside, outside = capture(stage, "a", project_id="lab/x"), capture(stage, "b", project_id="labs")
    blocked = capture(stage, "c", project_id="lab")
    for capsule in (inside, outside):
        edge(stage, capsule, "blocks", blocked)
    ready = pack(stage, project_prefix="lab")["ready"]
    assert (ready["next_action"]["id"], ready["ready"], ready["ready_total"]) == (inside, [], 1)


def test_bst13_bst14_a_cycle_anywhere_leaves_nothing_ready(stage: Stage) -> None:
    one, two = capture(stage, "a", project_id="far"), capture(stage, "b", project_id="far")
    constraint = add(stage, "constraint", "c", project_id="lab")
    chain(stage, 3)
    edge(stage, one, "blocks", two)
    edge(stage, two, "blocks", one)
    for shown in (pack(stage), pack(stage, project_id="lab")):
        assert shown["ready"] == {"ready": [], "ready_total": 0, "cycle": [one, two]}
        assert ids(shown["constraints"]) == [constraint]


def test_bst15_ready_is_what_the_digest_says(stage: Stage) -> None:
    capsules = chain(stage, 8)
    edge(stage, capsules[2], "witnesses", capsules[0])
    edge(stage, capsules[2], "supersedes", capsules[1])
    drop(stage, capsules[3])
    ready = pack(stage)["ready"]
    shown = [ready["next_action"]["id"], *ids(ready["ready"])]
    dag = stage.call(digest.TOOL)["dag"]
    assert (shown, ready["ready_total"]) == (dag["ready"], dag["ready_total"])


@pytest.mark.parametrize("section", ["constraints", "decisions"])
def test_bst16_what_no_longer_holds_is_absent(stage: Stage, section: str) -> None:
    kept = add(stage, KIND[section], "it holds")
    add(stage, KIND[section], "it has expired", **PAST)
    edge(stage, kept, "supersedes", add(stage, KIND[section], "it was replaced"))
    future = add(stage, KIND[section], "it will hold", valid_from="2032-01-01T00:00:00Z")
    wrong = add(stage, KIND[section], "it is wrong")
    edge(stage, kept, "falsifies", wrong)
    assert sorted(ids(pack(stage)[section])) == sorted([kept, future, wrong])
    assert pack(stage)[f"{section}_total"] == 3


@pytest.mark.parametrize("tier", ["archived", "quarantined"])
def test_bst17_bst18_a_tier_fences_constraints_alone(stage: Stage, tier: str) -> None:
    for kind in KIND.values():
        retier(stage, add(stage, kind, kind), tier)
    shown = pack(stage)
    assert "constraints" not in shown
    assert shown["constraints_total"] == 0
    assert [row["tier"] for row in (*shown["decisions"], *shown["traps"])] == [tier, tier]


def test_bst18_a_stale_trap_says_so(stage: Stage) -> None:
    trap = add(stage, "failure_pattern", "it falls over", **PAST)
    edge(stage, capture(stage, "x"), "supersedes", trap)
    (row,) = pack(stage)["traps"]
    assert (row["superseded"], row["expired"]) == (True, True)


def test_bst19_the_forgotten_are_nowhere(stage: Stage) -> None:
    for kind in KIND.values():
        drop(stage, add(stage, kind, kind))
    first, *_ = chain(stage, 2)
    drop(stage, first)
    shown = pack(stage)
    assert not {"constraints", "decisions", "traps"} & set(shown)
    assert shown["ready"]["next_action"]["id"] == "cap-5"


def test_bst21_bst26_without_terms_what_decay_leaves_leads(stage: Stage) -> None:
    weak = add(stage, "decision", "a", confidence=0.5)
    strong = add(stage, "decision", "b", confidence=0.9)
    old = add(stage, "decision", "c", confidence=1.0, valid_from="2030-01-01T00:00:00Z")
    tied = add(stage, "decision", "d", confidence=0.5)
    nothing = add(stage, "decision", "e", confidence=0.0)
    assert ids(pack(stage)["decisions"]) == [strong, weak, tied, old, nothing]


def test_bst22_bst23_terms_lift_and_never_filter(stage: Stage) -> None:
    leader = add(stage, "decision", "plain words", confidence=1.0)
    one = add(stage, "decision", "the relay keeps one writer", confidence=0.1)
    two = add(stage, "decision", "the relay and the queue", confidence=0.1)
    assert ids(pack(stage, terms=["relay", "queue"])["decisions"]) == [two, one, leader]
    assert ids(pack(stage, terms=["RELAY writer"])["decisions"]) == [one, leader, two]
    assert ids(pack(stage, terms=["relay", "Relay", "relay"])["decisions"]) == [one, two, leader]


def test_bst24_no_alias_widens_a_term(stage: Stage) -> None:
    leader, match = (
        add(stage, "decision", "plain", confidence=1.0),
        add(stage, "decision", "the conduit", confidence=0.1),
    )
    stage.call(alias.TOOL, term="relay", alias="conduit")
    assert ids(pack(stage, terms=["relay"])["decisions"]) == [leader, match]
    assert ids(pack(stage, terms=["conduit"])["decisions"]) == [match, leader]


@pytest.mark.parametrize("terms", [[], ["..."], [""], ["*", '"', "AND", "NEAR("], ["\0"]])
def test_bst25_terms_without_a_word_match_nothing_and_are_no_fault(stage: Stage, terms: list[str]) -> None:
    capsules = several(stage, "decision", 3)
    assert ids(pack(stage, terms=terms)["decisions"]) == capsules


def test_bst27_the_budget_is_1500_unless_it_is_told(stage: Stage) -> None:
    assert stage.call(bootstrap.TOOL)["budget"]["token_budget"] == 1500
    assert stage.call(bootstrap.TOOL, token_budget=None)["budget"]["token_budget"] == 1500


@pytest.fixture
def full(stage: Stage) -> Stage:
    """A store whose pack has something in each section."""
    for kind in KIND.values():
        several(stage, kind, 4)
    chain(stage, 5)
    return stage


def test_bst28_used_tokens_is_what_the_pack_costs(full: Stage) -> None:
    for budget in (1, 60, 200, 500, 900, 5000):
        shown = pack(full, token_budget=budget)
        assert shown["budget"]["used_tokens"] == spent(shown)


def test_bst29_bst33_a_budget_that_holds_the_floors_is_never_overspent_and_cuts_a_tail(full: Stage) -> None:
    whole = pack(full)
    order = [
        whole["ready"]["next_action"],
        *whole["constraints"],
        *whole["ready"]["ready"],
        *whole["decisions"],
        *whole["traps"],
    ]
    floors = cost(order[0]) + cost(order[1])
    for budget in range(floors, 1000):
        shown = pack(full, token_budget=budget)
        kept = [
            shown["ready"]["next_action"],
            *shown["constraints"],
            *shown["ready"]["ready"],
            *shown.get("decisions", []),
            *shown.get("traps", []),
        ]
        assert shown["budget"]["used_tokens"] <= budget
        assert kept == order[: len(kept)]
        assert shown["budget"]["trimmed_by_budget"] == len(order) - len(kept)
        if len(kept) < len(order):
            assert "handles" not in shown


def test_bst30_the_floors_are_kept_at_any_budget_but_0(full: Stage) -> None:
    shown = pack(full, token_budget=1)
    assert (len(shown["constraints"]), shown["ready"]["next_action"]["id"]) == (1, "cap-13")
    assert shown["budget"] == {
        "token_budget": 1,
        "used_tokens": spent(shown),
        "trimmed_by_budget": 3 + 3 + 4 + 4,
    }
    assert shown["budget"]["used_tokens"] > 1


def test_bst31_budget_0_keeps_the_totals_alone(full: Stage) -> None:
    shown = pack(full, token_budget=0)
    assert list(shown.items())[2:-1] == [
        ("constraints_total", 4),
        ("ready", {"ready": [], "ready_total": 4}),
        ("decisions_total", 4),
        ("traps_total", 4),
    ]
    assert shown["budget"] == {"token_budget": 0, "used_tokens": 0, "trimmed_by_budget": 16}


def test_bst32_handles_that_do_not_fit_are_no_trimmed_rows(full: Stage) -> None:
    whole = pack(full)
    rows_alone = whole["budget"]["used_tokens"] - sum(map(cost, whole["handles"]))
    shown = pack(full, token_budget=rows_alone + 5)
    assert shown["budget"]["trimmed_by_budget"] == 0
    assert shown["handles"] == whole["handles"][: len(shown["handles"])]
    assert 0 < len(shown["handles"]) < len(whole["handles"])


def test_bst34_no_content_is_shown(stage: Stage) -> None:
    add(stage, "constraint", "one line\nand a second")
    assert pack(stage)["constraints"][0]["headline"] == "one line…"
    assert "second" not in str(pack(stage))


def test_bst35_bst36_a_pack_leaves_no_trace_and_repeats_itself(full: Stage) -> None:
    ask(full, "number")
    before = audit(full), rows(full, "SELECT sum(recall_count) FROM standing")
    one = pack(full, terms=["unheard", "number"])
    full.later(days=30)
    assert pack(full, terms=["unheard", "number"]) == one
    assert (audit(full), rows(full, "SELECT sum(recall_count) FROM standing")) == before
    assert rows(full, "SELECT count(*) FROM recall_miss") == [(0,)]


def test_bst37_both_fences_have_to_hold(stage: Stage) -> None:
    inside = add(stage, "constraint", "a", project_id="lab/x")
    add(stage, "constraint", "b", project_id="lab")
    assert ids(pack(stage, project_prefix="lab", project_id="lab/x")["constraints"]) == [inside]
    assert pack(stage, project_prefix="lab", project_id="other")["constraints_total"] == 0


def test_bst38_a_pin_keeps_its_weight_and_makes_no_section(stage: Stage) -> None:
    old = add(stage, "decision", "a", confidence=0.7, valid_from="2029-01-01T00:00:00Z")
    new = add(stage, "decision", "b", confidence=0.6)
    assert ids(pack(stage)["decisions"]) == [new, old]
    keys = list(pack(stage))
    nail(stage, old)
    assert ids(pack(stage)["decisions"]) == [old, new]
    assert list(pack(stage)) == keys


def test_bst39_other_kinds_are_left_out(stage: Stage) -> None:
    for kind in ("fact", "task", "epic", "procedure", "doc", "brainstorm", "capability"):
        add(stage, kind, kind)
    capture(stage, "unlabelled")
    assert "handles" not in pack(stage)


@pytest.mark.parametrize("prefix", ["", "\t", "lab/"])
def test_a_prefix_that_can_match_nothing_is_refused(stage: Stage, prefix: str) -> None:
    with pytest.raises(ProtocolFault, match="project_prefix") as fault:
        pack(stage, project_prefix=prefix)
    assert (fault.value.code, fault.value.data) == (-32602, None)


@pytest.mark.parametrize("sent", [{"intent": "fix it"}, {"terms": "relay"}, {"terms": [1]}, {"token_budget": -1}])
def test_arguments_of_another_shape_are_refused_in_band(stage: Stage, sent: dict[str, Any]) -> None:
    with pytest.raises(ShapeFault):
        pack(stage, **sent)


_row = st.fixed_dictionaries(
    {
        "id": st.integers(1).map("cap-{}".format),
        "project_id": st.text(),
        "instruction_taint": st.booleans(),
        "created_at": st.just("2031-05-01T08:00:00Z"),
        "headline": st.text(max_size=141),
    }
)


@settings(max_examples=200)
@given(_row)
def test_no_row_costs_less_than_the_bound_that_the_query_trusts(row: dict[str, Any]) -> None:
    """The pack reads only as many constraints as a budget could hold at the least cost of a row."""
    assert wire.cost(row) == cost(row) >= bootstrap.LEAST_COST
