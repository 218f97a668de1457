"""memory_forget: a content is gone for good, a marker stays."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from nmemory_reference.capsules.call import CapsuleStore
from nmemory_reference.capsules.faults import ProtocolFault, ShapeFault
from nmemory_reference.capsules.lifecycle import forget, pin
from nmemory_reference.capsules.store import tombstones
from nmemory_reference.capsules.store.fingerprint import content_hmac
from nmemory_reference.capsules.structure import relate
from reference.capsules.inspection import audit, rows, standing, verified
from reference.capsules.stage import Stage

CONTENT = "the staging token is xylophone-quetzal"


@pytest.fixture
def capsule(stage: Stage) -> str:
    return stage.put(CONTENT, source="scratch", anchor="scratch.md:1")


def drop(stage: Stage, capsule: str, mode: str = "purged", reason: str = "leaked token") -> dict[str, Any]:
    return stage.call(forget.TOOL, id=capsule, mode=mode, reason=reason)


def test_for01_for24_for43_a_purged_marker_keeps_nothing_of_the_capsule(stage: Stage, capsule: str) -> None:
    marker = drop(stage, capsule)
    fingerprint = marker["content_hmac"]
    assert list(marker.items()) == [
        ("label", "ADVISORY_NOT_AUTHORITY"),
        ("framing", "DATA"),
        ("outcome", "tombstoned"),
        ("id", capsule),
        ("mode", "purged"),
        ("at", "2031-05-01T08:00:00Z"),
        ("reason", "leaked token"),
        ("content_hmac", fingerprint),
        ("relations", []),
        ("last_mutation", {"actor": "kit", "at": "2031-05-01T08:00:00Z", "event": "memory_forget"}),
    ]
    assert fingerprint == content_hmac(b"k1", capsule, CONTENT)


def test_for02_a_redacted_marker_keeps_where_it_came_from(stage: Stage, capsule: str) -> None:
    marker = drop(stage, capsule, "redacted")
    assert marker["provenance"] == {"source": "scratch", "anchor": "scratch.md:1"}
    assert list(marker).index("provenance") == list(marker).index("relations") - 1


@pytest.mark.parametrize("mode", ["purged", "redacted"])
def test_for03_for07_the_marker_holds_no_word_of_the_content_and_stays_as_it_is(
    stage: Stage, capsule: str, mode: str
) -> None:
    marker = drop(stage, capsule, mode)
    assert not any(word in str(marker) for word in ("staging", "xylophone", "quetzal"))
    stage.later(days=3)
    with stage.store.reading() as db:
        assert tombstones.envelope(db, 1) == marker


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"mode": "purged", "reason": "x"}, "missing field `id`"),
        ({"id": "cap-1", "reason": "x"}, "missing field `mode`"),
        ({"id": "cap-1", "mode": "purged"}, "missing field `reason`"),
        ({"id": "cap-1", "mode": "erased", "reason": "x"}, "mode: unknown variant `erased`"),
        ({"id": 1, "mode": "purged", "reason": "x"}, "id: invalid type"),
        ({"id": "cap-1", "mode": "purged", "reason": "x", "hard": True}, "unknown field `hard`"),
    ],
    ids=["FOR-04-id", "FOR-04-mode", "FOR-04", "FOR-06", "FOR-04-type", "FOR-41"],
)
def test_a_wrong_shape_is_taught_the_whole_contract(
    stage: Stage, capsule: str, sent: dict[str, Any], says: str
) -> None:
    with pytest.raises(ShapeFault) as fault:
        stage.call(forget.TOOL, **sent)
    text = fault.value.text()
    assert text.startswith(f"failed to deserialize parameters: {says}")
    assert all(taught in text for taught in ("`id`", "`mode`", "`reason`", '"purged"', '"redacted"'))
    assert standing(stage, capsule)["forgotten"] == 0


@pytest.mark.parametrize("named", ["cap-1", "cap-9"])
def test_for05_a_blank_reason_is_refused_before_the_id_is_looked_at(stage: Stage, capsule: str, named: str) -> None:
    with pytest.raises(ProtocolFault, match="reason is blank") as fault:
        drop(stage, named, reason=" \n")
    assert (fault.value.code, fault.value.data) == (-32602, None)
    assert standing(stage, capsule)["forgotten"] == 0


def test_for14_for44_forgetting_twice_is_a_state_fault_and_changes_nothing(stage: Stage, capsule: str) -> None:
    marker = drop(stage, capsule)
    stage.later(hours=1)
    with pytest.raises(ProtocolFault) as fault:
        drop(stage, capsule, "redacted", "another reason")
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "tombstoned_capsule", "id": capsule})
    with stage.store.reading() as db:
        assert tombstones.envelope(db, 1) == marker
    assert len(audit(stage)) == 1


@pytest.mark.parametrize("named", ["cap-2", "", "cap-1 ", "out-1", "cap-99999999999999999999999"])
def test_for15_an_unknown_id_is_named(stage: Stage, capsule: str, named: str) -> None:
    with pytest.raises(ProtocolFault) as fault:
        drop(stage, named)
    assert (fault.value.code, fault.value.data) == (-32002, {"kind": "unknown_capsule", "id": named})
    assert not audit(stage)


def test_for09_no_word_finds_it_any_more(stage: Stage, capsule: str) -> None:
    stage.put("another staging note")
    drop(stage, capsule)
    assert rows(stage, "SELECT rowid FROM capsule_words WHERE capsule_words MATCH 'xylophone'") == []
    assert rows(stage, "SELECT rowid FROM capsule_words WHERE capsule_words MATCH 'staging'") == [(2,)]
    assert ("quetzal",) not in rows(stage, "SELECT term FROM capsule_vocabulary")


def test_for21_for36_edges_stay_and_so_does_what_they_do(stage: Stage, capsule: str) -> None:
    victim = stage.put("an older token")
    stage.call(relate.TOOL, **{"kind": "supersedes", "from": capsule, "to": victim})
    marker = drop(stage, capsule)
    assert marker["relations"] == [{"kind": "supersedes", "from": capsule, "to": victim, "at": "2031-05-01T08:00:00Z"}]
    assert standing(stage, victim)["superseded"] == 1


@pytest.mark.parametrize("mode", ["purged", "redacted"])
def test_for22_whatever_was_derived_from_or_told_about_the_content_goes_with_it(
    stage: Stage, capsule: str, mode: str
) -> None:
    with stage.store.writing() as db:
        db.execute("INSERT INTO capsule_vector VALUES (1, 'm', 1, x'0000803f', 1)")
        db.execute("INSERT INTO epistemics VALUES (1, 'observed', 'run it', NULL, 'now')")
        db.execute("INSERT INTO fact_time VALUES (1, 'a', 1, 'a', 1, 'a')")
        db.execute("INSERT INTO anchor_hash VALUES (1, 'abc')")
        db.execute("INSERT INTO import_block VALUES ('/x', 1, 0, 1, 1)")
    drop(stage, capsule, mode)
    for table in ("capsule_text", "capsule_vector", "epistemics", "fact_time", "anchor_hash", "import_block"):
        assert rows(stage, f"SELECT count(*) FROM {table}") == [(0,)], table


def test_for23_its_number_is_never_given_out_again(stage: Stage, capsule: str) -> None:
    drop(stage, capsule)
    assert stage.put("the next one") == "cap-2"


def test_for12_its_bytes_stay_known(stage: Stage, capsule: str) -> None:
    drop(stage, capsule)
    with pytest.raises(sqlite3.IntegrityError):
        stage.put(CONTENT)


def test_for25_for26_for27_the_vector_of_the_sheet() -> None:
    expected = "hmac-sha256:6557385eb0954179da989014fdb0a73122a27ef74bbc6383df1c3df8e3f25e92"
    assert content_hmac(b"k1", "cap-1", "alpha note") == expected
    assert content_hmac(b"k2", "cap-1", "alpha note") != expected
    assert content_hmac(b"k1", "cap-2", "alpha note") != expected


def test_for28_for30_without_a_key_one_is_made_beside_the_store_and_used_from_then_on(tmp_path: Path) -> None:
    stage = Stage.at(tmp_path, hmac_key=None)
    key_file = tmp_path / "memory.sqlite3.hmac-key"
    assert not key_file.exists()
    first = drop(stage, stage.put("one"))["content_hmac"]
    key = key_file.read_text()
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")
    assert first == content_hmac(key.encode(), "cap-1", "one")
    assert drop(stage, stage.put("two"))["content_hmac"] == content_hmac(key.encode(), "cap-2", "two")
    assert sorted(path.name for path in tmp_path.glob("*key*")) == [key_file.name]


def test_the_key_file_is_trimmed(tmp_path: Path) -> None:
    stage = Stage.at(tmp_path, hmac_key=None)
    (tmp_path / "memory.sqlite3.hmac-key").write_text(" k1\n")
    assert drop(stage, stage.put("alpha note"))["content_hmac"] == content_hmac(b"k1", "cap-1", "alpha note")


def test_for29_with_a_key_from_the_settings_no_file_is_made(stage: Stage, capsule: str, tmp_path: Path) -> None:
    drop(stage, capsule)
    assert not list(tmp_path.glob("*key*"))


def test_an_empty_key_file_fails_and_forgets_nothing(tmp_path: Path) -> None:
    stage = Stage.at(tmp_path, hmac_key=None)
    capsule = stage.put("one")
    (tmp_path / "memory.sqlite3.hmac-key").write_text("\n")
    with pytest.raises(ProtocolFault, match=r"key file .* is empty") as fault:
        drop(stage, capsule)
    assert (fault.value.code, fault.value.data) == (-32603, None)
    assert str(tmp_path) not in fault.value.message
    assert standing(stage, capsule)["forgotten"] == 0


@pytest.mark.parametrize("size", [60, 20_000], ids=["short", "over many pages"])
def test_for31_the_bytes_are_in_no_file_of_the_store(stage: Stage, tmp_path: Path, size: int) -> None:
    secret = "xylophone quetzal zugzwang " * (size // 27 + 1)
    for number in range(20):
        stage.put(f"note {number} about nothing")
    capsule = stage.put(secret)
    for number in range(20, 40):
        stage.put(f"note {number} about nothing")
    assert b"quetzal" in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    drop(stage, capsule)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert not [name for name, data in files.items() if b"quetzal" in data or b"zugzwang" in data]


def test_for31_a_server_that_dies_right_after_the_forget_leaves_no_word_in_the_file(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capsule = stage.put("Xylophone quetzal zugzwang")
    stage.put("another note")
    monkeypatch.setattr(CapsuleStore, "scrub", lambda _: None)
    drop(stage, capsule)
    database = stage.store.database
    database.truncate_log()  # as whoever opens the file next does
    assert not [word for word in (b"quetzal", b"zugzwang", b"ylophone") if word in database.path.read_bytes()]


def test_for32_for33_one_row_with_the_reason_and_a_chain_that_holds(stage: Stage, capsule: str) -> None:
    drop(stage, capsule, reason=" as it was sent ")
    assert rows(stage, "SELECT action, subject, reason, actor FROM audit_events") == [
        ("memory_forget", capsule, " as it was sent ", "kit")
    ]
    assert verified(stage)


@pytest.mark.parametrize("fence", ["superseded", "falsified", "archived", "quarantined", "pinned"])
def test_for34_whatever_its_standing_it_can_be_forgotten(stage: Stage, capsule: str, fence: str) -> None:
    other = stage.put("another")
    if fence == "pinned":
        stage.call(pin.TOOL, id=capsule, pinned=True, reason="x")
    elif fence in ("archived", "quarantined"):
        with stage.store.writing() as db:
            db.execute("INSERT INTO tier VALUES (1, ?, 'now')", (fence,))
    else:
        kind = {"superseded": "supersedes", "falsified": "falsifies"}[fence]
        stage.call(relate.TOOL, **{"kind": kind, "from": other, "to": capsule})
    assert drop(stage, capsule)["outcome"] == "tombstoned"


def test_for42_the_marker_survives_a_restart(stage: Stage, capsule: str, tmp_path: Path) -> None:
    marker = drop(stage, capsule)
    stage.store.database.close()
    again = Stage.at(tmp_path)
    with again.store.reading() as db:
        assert tombstones.envelope(db, 1) == marker
