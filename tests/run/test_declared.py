"""A name in a profile that means nothing is refused: it would change nothing, and nobody would notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from nmemory_kit.contract import load_pack
from nmemory_kit.run.declared import check_declared
from nmemory_kit.target.errors import ProfileError
from nmemory_kit.target.profile import load_profile


def declared(tmp_path: Path, text: str) -> None:
    file = tmp_path / "profile.yaml"
    file.write_text(f"target: serve\n{text}\n")
    check_declared(load_profile(file), [load_pack("memory-verbs")])


@pytest.mark.parametrize(
    "text",
    [
        "claims: [verbs-surface, no-llm]",
        "capabilities: {restart: false, seed-page: true, 'tool:put_page': false, 'observed:supersedes': true}",
        "seeds: {page: {tool: write}, alias: {tool: write}, link: {tool: write}}",
    ],
)
def test_what_the_packs_ask_for_may_be_declared(text: str, tmp_path: Path):
    declared(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("claims: [verb-surface]", "2: nothing asks for 'verb-surface' under `claims`; there is verbs-surface"),
        ("capabilities: {restrt: no}", "2: nothing asks for 'restrt' under `capabilities`; there is restart"),
        ("seeds:\n  pgae: {tool: x}", "3: nothing asks for 'pgae' under `seeds`; there is page"),
        ("seeds: {zzz: {tool: x}}", "2: nothing asks for 'zzz' under `seeds`; there is alias and link and page"),
    ],
)
def test_a_name_that_nothing_asks_for_is_told_with_its_line_and_the_nearest(text: str, told: str, tmp_path: Path):
    with pytest.raises(ProfileError) as caught:
        declared(tmp_path, text)
    assert str(caught.value).endswith(f"profile.yaml:{told}")
