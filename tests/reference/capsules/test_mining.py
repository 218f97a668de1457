"""Mining a text for candidates: segments, dress, cues, anchors (EXT and the derivation of CLS)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.capture.cues import LABELS, RULES, Place
from nmemory_reference.capsules.capture.mining import derived_kind, entity_of, mine
from nmemory_reference.capsules.vocabulary import KINDS


def told(text: str) -> list[tuple[str, str]]:
    return [(candidate.kind, candidate.content) for candidate in mine(text)]


@pytest.mark.parametrize(
    ("text", "kind", "cue"),
    [
        ("the cache port is 7001", "fact", "declarative:'is' entity:'7001'"),
        ("A API é lenta", "fact", "declarative:'é' entity:'API'"),
        ("o deploy sempre roda às 18h", "fact", "standing-rule:'sempre'"),
        ("the leader never sleeps", "fact", "standing-rule:'never'"),
        ("Sempre valide o token", "procedure", "imperative-opener:'sempre'"),
        ("Always rotate the certificate", "procedure", "imperative-opener:'always'"),
        ("epic: x y", "epic", "epic-label:'epic'"),
        ("marco: versão dois", "epic", "epic-label:'marco'"),
        ("runbook: x y", "doc", "doc-label:'runbook'"),
        ("doc: how it works", "doc", "doc-label:'doc'"),
        ("todo: rotate it", "task", "task-label:'todo'"),
        ("pendente: rotacionar o certificado", "task", "task-label:'pendente'"),
        ("ideia: usar cache", "brainstorm", "idea-label:'ideia'"),
        ("e se usássemos cache", "brainstorm", "exploration-opener:'e se'"),
        ("procedure: stop it", "procedure", "procedure-label:'procedure'"),
        ("procedimento: parar tudo", "procedure", "procedure-label:'procedimento'"),
        ("how to rotate the key", "procedure", "how-to-opener:'how to'"),
        ("constraint: x y", "constraint", "constraint-label:'constraint'"),
        ("restrição: um escritor", "constraint", "constraint-label:'restrição'"),
        ("clients must not reuse a nonce", "constraint", "prohibition:'must not'"),
        ("o cliente não pode repetir", "constraint", "prohibition:'não pode'"),
        ("clientes não podem repetir", "constraint", "prohibition:'não podem'"),
        ("o job não deve rodar", "constraint", "prohibition:'não deve'"),
        ("jobs não devem rodar", "constraint", "prohibition:'não devem'"),
        ("capability: exports CSV", "capability", "capability-label:'capability'"),
        ("capacidade: exporta CSV", "capability", "capability-label:'capacidade'"),
        ("use when the cache is cold", "capability", "applicability-opener:'use when'"),
        ("use quando o cache esfria", "capability", "applicability-opener:'use quando'"),
        ("failure: disk full", "failure_pattern", "failure-label:'failure'"),
        ("falha: disco cheio", "failure_pattern", "failure-label:'falha'"),
        ("symptom: high load", "failure_pattern", "failure-label:'symptom'"),
        ("sintoma: carga alta", "failure_pattern", "failure-label:'sintoma'"),
        ("the import fails with a timeout", "failure_pattern", "failure:'fails with'"),
        ("o job falha quando chove", "failure_pattern", "failure:'falha quando'"),
        ("the build breaks when offline", "failure_pattern", "failure:'breaks when'"),
        ("we decided to keep one writer", "decision", "decision:'we decided'"),
        ("decisão: um escritor", "decision", "decision-label:'decisão'"),
        ("ontem decidimos manter", "decision", "decision:'decidimos'"),
        ("os pods são v2", "fact", "declarative:'são' entity:'v2'"),
        ("o SQLite não bloqueia leitores", "fact", "declarative:'não' entity:'SQLite'"),
        ("o token deve durar 30 dias", "fact", "declarative:'deve' entity:'30'"),
        ("os tokens devem durar 30 dias", "fact", "declarative:'devem' entity:'30'"),
        ("the SSOT was PLAN.md", "fact", "declarative:'was' entity:'SSOT'"),
        ("a porta foi 4320", "fact", "declarative:'foi' entity:'4320'"),
        ("the limits are 400", "fact", "declarative:'are' entity:'400'"),
        ("the leader always writes", "fact", "standing-rule:'always'"),
        ("o líder nunca dorme", "fact", "standing-rule:'nunca'"),
        ("o líder jamais dorme", "fact", "standing-rule:'jamais'"),
        ("Never share a nonce", "procedure", "imperative-opener:'never'"),
        ("Nunca repita o nonce", "procedure", "imperative-opener:'nunca'"),
        ("milestone: version two", "epic", "epic-label:'milestone'"),
        ("o build quebra quando chove", "failure_pattern", "failure:'quebra quando'"),
        ("ontem foi decidido manter", "decision", "decision:'foi decidido'"),
    ],
)
def test_ext19_ext20_ext23_ext24_ext26_every_printed_cue_tells_its_kind(text: str, kind: str, cue: str) -> None:
    assert [(candidate.kind, candidate.content, candidate.cue) for candidate in mine(text)] == [(kind, text, cue)]
    assert derived_kind(text) == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "we decided to keep one writer; the port is 7001",
            [("decision", "we decided to keep one writer"), ("fact", "the port is 7001")],
        ),
        ("[10:05] ana: todo: rotate the certificate", [("task", "todo: rotate the certificate")]),
        ("[10:05] todo: rotate it", [("task", "todo: rotate it")]),
        ("- [ ] buy milk", [("task", "buy milk")]),
        ("- [x] buy milk", []),
        ("## 1. the port is 7001", [("fact", "the port is 7001")]),
        ("> * the port is 7001", [("fact", "the port is 7001")]),
        ("```\nthe port is 7001\n```\nthe host is h1", [("fact", "the host is h1")]),
        ("```\nthe port is 7001", []),
        ("    the port is 7001", []),
        ("\tthe port is 7001", []),
        ("    - the port is 7001", [("fact", "the port is 7001")]),
        ("todo:", []),
        ("is the API slow?", []),
        ("what if we cached it?", [("brainstorm", "what if we cached it?")]),
        ("- [ ] is the API slow?", [("task", "is the API slow?")]),
        (
            "The port is 7001. The host is h1.",
            [("fact", "The port is 7001."), ("fact", "The host is h1.")],
        ),
        ("The port, e.g. The one of v2, is 7001", [("fact", "The port, e.g. The one of v2, is 7001")]),
        ("ask J. Doe, the port is 7001", [("fact", "ask J. Doe, the port is 7001")]),
        ("we rotate todo: items", []),
        ("Redis is fast", []),
        ("o sistema é resiliente", []),
        ("call run(x) is done", []),
        ("der Dienst läuft auf Port 80", []),
        ("", []),
        ("same is v1\nsame is v1", [("fact", "same is v1"), ("fact", "same is v1")]),
    ],
    ids=[
        *("EXT10", "EXT14", "EXT14-label-stays", "EXT15", "EXT15-checked", "EXT13", "EXT13-quote", "EXT11"),
        *("EXT11-unclosed", "EXT12", "EXT12-tab", "EXT12-dressed", "EXT16", "EXT17", "EXT17-brainstorm", "EXT17-task"),
        *(
            "EXT8",
            "EXT9-dotted",
            "EXT9-one-letter",
            "EXT18",
            "EXT21-capital",
            "EXT20",
            "EXT22",
            "EXT30",
            "EXT3",
            "EXT5",
        ),
    ],
)
def test_a_text_is_mined_segment_by_segment(text: str, expected: list[tuple[str, str]]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        *(("the API", "API"), ("about SQLite", "SQLite"), ("in nMEMORY", "nMEMORY"), ("since v2", "v2")),
        *(("at 18h", "18h"), ("under /etc/x", "/etc/x"), ("of a::b.", "a::b"), ("see PLAN.md.", "PLAN.md")),
        *(("port 4320", "4320"), ("with 400", "400"), ("of SSOT,", "SSOT"), ("of x::y()", None), ("of {x1;y2}z", None)),
        *(("see v2(); then", None), ("(see API)", "API"), ("[API] is", "API"), ('"v2";', "v2")),
        *(("at menot.you", "menot.you"), ("run `nsh` now", "nsh"), ("(API)", "API"), ("and/or", None)),
        *(("Redis here", None), ("e.g. here", None), ("f(x1) here", None), ("`f(x)` here", None), ("the end.", None)),
    ],
)
def test_ext21_ext22_an_anchor_is_a_concrete_token(text: str, entity: str | None) -> None:
    assert entity_of(text) == entity


def test_ext25_work_plane_labels_come_before_everything_else() -> None:
    assert told("todo: we decided that clients must not call API v2")[0][0] == "task"
    assert told("we decided that clients must not call API v2")[0][0] == "decision"
    assert told("clients must not run when it fails with v2")[0][0] == "constraint"


def test_the_tables_are_closed_and_well_formed() -> None:
    assert {rule.kind for rule in RULES} == set(KINDS)
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert re.fullmatch(r"[a-z-]+", rule.id)
        assert all(phrase == phrase.lower() for phrase in rule.phrases)
        assert len(set(rule.phrases)) == len(rule.phrases)
    assert "todo" in LABELS
    assert any(rule.place is Place.INSIDE for rule in RULES)


@given(st.text(alphabet=st.sampled_from("ab1 .;:!?-[]>`\n#éA'"), max_size=80) | st.text())
def test_ext2_candidates_are_pieces_of_the_text_with_a_cue(text: str) -> None:
    found = mine(text)
    assert found == mine(text)
    for candidate in found:
        assert candidate.content in text
        assert candidate.kind in KINDS
        assert re.match(r"[a-z-]+:'.+", candidate.cue)


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "> ", "[1] ", "- ", "; ", "`a ", "x.\n", "todo ", "a b: ", "is A1 ", "\n", "[", "(", "#"),
        *(".", "?!", "a. ", "A. ", "e.g. A ", "e.g.\tA ", '."', "). A", "Word one. "),
    ],
)
def test_a_megabyte_is_mined(unit: str) -> None:
    mine(unit * (1_000_000 // len(unit)))
