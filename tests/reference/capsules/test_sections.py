"""How a file is split into blocks (sheet A 6.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nmemory_reference.capsules.capture.sections import blocks


def split(document: str) -> list[tuple[int, str]]:
    return [(block.line, block.text) for block in blocks(document)]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("", []),
        (" \n\n\t\n", []),
        (
            "# T\nintro\n## A\ntext\n### deep\nx\n## B\ny",
            [(1, "# T\nintro"), (3, "## A\ntext\n### deep\nx"), (7, "## B\ny")],
        ),
        ("## X\na\n# Y\nb\n## Z\nc", [(1, "## X\na\n# Y\nb"), (5, "## Z\nc")]),
        ("# Only\n\nbody\n\nmore\n", [(1, "# Only\n\nbody\n\nmore")]),
        ("before\n\n# Only\nbody", [(1, "before"), (3, "# Only\nbody")]),
        ("### a\n# b\n## c", [(1, "### a"), (2, "# b\n## c")]),
        ("# a\n## b\n# c\n## d", [(1, "# a\n## b"), (3, "# c\n## d")]),
        ("one\ntwo\n\n\nthree\n   \nfour", [(1, "one\ntwo"), (5, "three"), (7, "four")]),
        ("#\ta\nx\n#\ny", [(1, "#\ta\nx"), (3, "#\ny")]),
    ],
    ids=[
        "empty",
        "blank",
        "a lone title over sections",
        "a lower number inside",
        "one heading is one block",
        "text before the heading",
        "all different",
        "the smallest that repeats",
        "paragraphs",
        "tab and end of line",
    ],
)
def test_imp07_imp08_imp09_the_level_that_repeats_cuts(document: str, expected: list[tuple[int, str]]) -> None:
    assert split(document) == expected


@pytest.mark.parametrize(
    "fence",
    ["```\n{}\n```", "~~~\n{}\n~~~", "  ```py\n{}\n   ```", "````\n```\n{}\n```\n````", "```\n{}\n~~~\n```", "```\n{}"],
)
def test_imp10_nothing_in_a_fence_cuts(fence: str) -> None:
    code = fence.format("# no\n\n# heading")
    assert split(f"start\n{code}") == [(1, f"start\n{code}")]
    assert split(f"## a\n{code}") == [(1, f"## a\n{code}")]


def test_imp10_code_in_a_line_opens_no_fence() -> None:
    assert split("```x``` is code\n\nnext") == [(1, "```x``` is code"), (3, "next")]


@pytest.mark.parametrize("line", ["#nope", " # x", "####### seven", "\\# x", "    # code"])
def test_imp11_what_only_looks_like_a_heading_cuts_nothing(line: str) -> None:
    assert split(f"a\n{line}\nb\n{line}\nc") == [(1, f"a\n{line}\nb\n{line}\nc")]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("---\ntitle: x\n---\n\nbody", [(5, "body")]),
        ("\ufeff---\ntitle: x\n...\nbody", [(4, "body")]),
        ("---\r\ntitle: x\r\n---\r\nbody\r\nmore\r\n", [(4, "body\nmore")]),
        ("---\ntitle: x", [(1, "---\ntitle: x")]),
        ("text\n---\nx\n---", [(1, "text\n---\nx\n---")]),
        ("---\na: 1\n---\nb\n\n---\nc\n---", [(4, "b"), (6, "---\nc\n---")]),
    ],
    ids=["closed", "with a mark of order and dots", "crlf", "never closed", "not first", "only one"],
)
def test_front_matter_is_no_content(document: str, expected: list[tuple[int, str]]) -> None:
    assert split(document) == expected


TEXT = st.text(alphabet=st.sampled_from("ab #`~-\n\r\t\ufeff."), max_size=120)


@given(TEXT)
def test_blocks_are_the_lines_of_the_file_in_order_and_nothing_else(document: str) -> None:
    lines = [line.removesuffix("\r") for line in document.removeprefix("\ufeff").split("\n")]
    end = 0
    for block in blocks(document):
        start = block.line - 1
        size = block.text.count("\n") + 1
        assert start >= end
        assert "\n".join(lines[start : start + size]) == block.text
        assert block.text.strip()
        end = start + size


@given(TEXT)
def test_no_line_that_shows_is_lost_but_front_matter(document: str) -> None:
    text = "first\n" + document
    kept = "\n".join(block.text for block in blocks(text))
    assert [line.removesuffix("\r") for line in text.split("\n") if line.strip()] == [
        line for line in kept.split("\n") if line.strip()
    ]


@pytest.mark.parametrize("unit", ["`", "# ", "```\n", "\n", "~~~ ", "-", "a\n\n"])
def test_long_runs_of_anything_are_split_in_linear_time(unit: str) -> None:
    blocks(unit * (300_000 // len(unit)))
