"""Results shown: on a terminal, as JSON, JUnit XML, Markdown. It reads results and runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..run.result import Results
from . import junit, markdown, record, summary, terminal


@dataclass(frozen=True, slots=True)
class Format:
    """A way to show a run."""

    #: The name of its file in a report folder.
    file: str
    render: Callable[[Results], str]


#: Every format by its name. One more is one more entry here.
FORMATS: Mapping[str, Format] = {
    "text": Format("report.txt", terminal.render),
    "json": Format("summary.json", summary.render),
    "junit": Format("junit.xml", junit.render),
    "markdown": Format("summary.md", markdown.render),
    "record": Format("record.md", record.render),
}

__all__ = ["FORMATS", "Format"]
