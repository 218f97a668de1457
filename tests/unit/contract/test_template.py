"""What fills a placeholder, and what a case may not leave unfilled."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from nmemory_kit.contract.template import Unfilled, placeholders, render

NOW = datetime(2026, 3, 1, 0, 30, 15, 250_900, tzinfo=UTC)
VALUES: dict[str, Any] = {"marker": "nmk", "ids": [{"id": 7}, {"id": None}], "a_text": "x", "total": 7}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{marker}} and {{a_text}}", "nmk and x"),
        ("{{ids/0/id}}", 7),
        ("{{ids/1/id}}", None),
        ("id {{ids/0/id}}", "id 7"),
        ("{{ids}}", VALUES["ids"]),
        ("aliases: {{ids/0}}", 'aliases: {"id": 7}'),
        ("{{now}}", "2026-03-01T00:30:15.250Z"),
        ("{{now+90m}}", "2026-03-01T02:00:15.250Z"),
        ("{{now-1.5s}}", "2026-03-01T00:30:13.750Z"),
        ("{{now@+09:30}}", "2026-03-01T10:00:15.250+09:30"),
        ("{{now+1h@-11:00}}", "2026-02-28T14:30:15.250-11:00"),
        ("{{today}}", "2026-03-01"),
        ("- {{today-1d}}: rain", "- 2026-02-28: rain"),
        ("{{today-1h}}", "2026-02-28"),
        ("{{today+30d}}", "2026-03-31"),
        ("{{é*4}}", "éééé"),
        ("{{very *2}}long", "very very long"),
        (r"\{{marker}}", "{{marker}}"),
        ("{{total+12}}", 19),
        ("{{total-8}} left", "-1 left"),
        ({"key": ["{{marker}}", 1, None]}, {"key": ["nmk", 1, None]}),
    ],
)
def test_a_placeholder_is_filled(template: Any, filled: Any) -> None:
    assert render(template, VALUES, NOW) == filled


@pytest.mark.parametrize(
    "template", ["{{gone}}", "{{ids/2/id}}", "{{today-2}}", "{{now+3w}}", "{{}}", "{{Marker}}", "{{a_text+1}}"]
)
def test_what_nothing_fills_is_an_error_and_never_a_literal(template: str) -> None:
    with pytest.raises(Unfilled, match="nothing fills"):
        render(template, VALUES, NOW)


def test_instants_and_repetitions_need_no_value() -> None:
    template = ["{{now-1h}} {{today-2d}} {{x*9}}", {"a": "{{marker}}", "b": "{{ids/0}}", "c": "{{total+1}}"}]
    assert list(placeholders(template)) == ["marker", "ids", "total"]
