"""Anchors: what a root resolves, and what it never reads."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from nmemory_reference.capsules.anchors import anchor_drift, anchor_live, content_hash


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_bytes(b"one\n")
    (root / "a:b.txt").write_bytes(b"two\n")
    (tmp_path / "outside.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "linked").symlink_to(root / "src")
    return root


@pytest.mark.parametrize(
    ("anchor", "live"),
    [
        ("src/a.py:1", True),
        ("./src//a.py:999999", True),
        ("a:b.txt:3", True),
        ("src:1", True),
        ("src/none.py:1", False),
        ("none/a.py:1", False),
        ("link.txt:1", False),
        ("linked/a.py:1", False),
        ("src/a.py", "unknown"),
        ("src/a.py:", "unknown"),
        ("src/a.py:x", "unknown"),
        ("/etc/passwd:1", "unknown"),
        ("../outside.txt:1", "unknown"),
        ("src/../../outside.txt:1", "unknown"),
        ("a\0b:1", "unknown"),
        ("doc-1", "unknown"),
        (":1", "unknown"),
        (".:1", "unknown"),
        ("x" * 5000 + ":1", False),
    ],
)
def test_ret67_an_anchor_lives_where_its_file_is(root: Path, anchor: str, live: bool | str) -> None:
    assert anchor_live(root, anchor) == live


def test_ret68_without_its_root_nothing_is_known(tmp_path: Path) -> None:
    assert anchor_live(tmp_path / "gone", "src/a.py:1") == "unknown"


@pytest.mark.parametrize("anchor", ["link.txt:1", "linked/a.py:1", "../outside.txt:1", "src:1", "none:1", "doc"])
def test_the_fence_reads_no_link_no_folder_and_nothing_outside(root: Path, anchor: str) -> None:
    assert content_hash(root, anchor) is None


def test_a_pipe_under_the_root_holds_nobody(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert anchor_live(root, "pipe:1") is True
    assert content_hash(root, "pipe:1") is None


def test_ret69_drift_compares_the_files_bytes(root: Path) -> None:
    captured = content_hash(root, "src/a.py:1")
    assert captured == hashlib.sha256(b"one\n").hexdigest()
    assert anchor_drift(root, "src/a.py:1", captured) == "unchanged"
    (root / "src" / "a.py").write_bytes(b"three\n")
    assert anchor_drift(root, "src/a.py:1", captured) == "drifted"
    (root / "src" / "a.py").unlink()
    assert anchor_drift(root, "src/a.py:1", captured) == "unknown"
    assert anchor_drift(root, "a:b.txt:1", None) == "unknown"
