"""JUnit XML, as CI systems read it.

Some readers show an element's text and others its ``message``: both carry the whole finding. What could not be
decided is an ``<error>`` and never a ``<skipped>``; a failure that only breaks a recommendation is a passed test
with a note; a run that decided nothing has an ``<error>`` of its own, so that no reader takes the file for a
success.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from ..run.result import CaseResult, Finding, Results, Verdict
from .foreign import harmless, harmless_lines
from .outline import reproduce, short

_SHOWN = 4000


def render(results: Results) -> str:
    """The run as one XML document, a suite a pack and a test a case."""
    root = ET.Element("testsuites", name="nmemory protocol conformance")
    suites: dict[str, list[CaseResult]] = {}
    for case in results.cases:
        suites.setdefault(case.case.rpartition("/")[0], []).append(case)
    for pack, cases in suites.items():
        suite = ET.SubElement(root, "testsuite", name=pack, timestamp=results.header.started)
        _properties(suite, _about(results))
        names: Counter[str] = Counter()
        for case in cases:
            names[case.case] += 1
            suite.append(_test(results, case, names[case.case]))
    if results.footer.verdict == "INCONCLUSIVE" and root.find(".//error") is None:
        suite = ET.SubElement(root, "testsuite", name="run", timestamp=results.header.started)
        _properties(suite, _about(results))
        test = ET.SubElement(suite, "testcase", classname="nmemory.run", name="verdict", time="0.000")
        _outcome(test, "error", results.footer.verdict, results.footer.reason)
    for suite in root:
        _count(suite, suite)
    _count(root, root, took=results.footer.took)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ("<?xml version='1.0' encoding='utf-8'?>\n", "\n")
    )


def _test(results: Results, case: CaseResult, occurrence: int) -> ET.Element:
    pack, _, name = case.case.rpartition("/")
    test = ET.Element(
        "testcase",
        classname=pack.replace("/", "."),
        name=name if occurrence == 1 else f"{name} #{occurrence}",
        time=f"{case.took:.3f}",
    )
    properties = [("clause", clause) for clause in case.clauses]
    _properties(test, [("title", case.title), ("verdict", case.verdict), *properties])
    reason = case.reason or f"no reason was given ({case.verdict})"
    match case.verdict:
        case Verdict.FAIL if case.binding or not case.findings:
            _outcome(test, "failure", "violated", _told(results, case))
        case Verdict.FAIL:
            ET.SubElement(test, "system-out").text = "warning: " + _told(results, case)
        case Verdict.XPASS:
            _outcome(test, "failure", case.verdict, harmless(reason, _SHOWN))
        case Verdict.NOT_RUN | Verdict.ERROR:
            text = f"{harmless(reason, _SHOWN)}\nrerun: {harmless(reproduce(results.header, case.case))}"
            _outcome(test, "error", case.verdict, text)
        case Verdict.SKIP | Verdict.XFAIL:
            _outcome(test, "skipped", case.verdict, harmless(reason, _SHOWN))
        case Verdict.PASS:
            pass
    return test


def _told(results: Results, case: CaseResult) -> str:
    findings = [line for finding in case.findings for line in _finding(finding)]
    return "\n".join(
        [
            f"{short(case.case)}: {harmless(case.title)}",
            *(findings or [harmless(case.reason or "no finding was kept", _SHOWN)]),
            f"rerun: {harmless(reproduce(results.header, case.case))}",
        ]
    )


def _finding(finding: Finding) -> Iterable[str]:
    yield f"{finding.level} {finding.clause}: {harmless(finding.text, _SHOWN)}"
    yield f"step {finding.step}: {harmless(finding.doing, _SHOWN)}"
    if finding.pointer:
        yield f"at: {harmless(finding.pointer, _SHOWN)}"
    yield f"expected: {harmless(finding.expected, _SHOWN)}"
    yield f"got: {harmless(finding.got, _SHOWN)}"
    for line in harmless_lines(finding.stderr or ""):
        yield f"stderr| {line}"


def _about(results: Results) -> list[tuple[str, str]]:
    header = results.header
    return [
        ("verdict", results.footer.verdict),
        ("kit", header.kit),
        ("run", header.run),
        ("target", f"{header.target.kind}: {header.target.display}"),
        *(("pack", f"{pack.path} {pack.digest}") for pack in header.packs),
    ]


def _properties(parent: ET.Element, pairs: Iterable[tuple[str, str]]) -> None:
    properties = ET.SubElement(parent, "properties")
    for name, value in pairs:
        ET.SubElement(properties, "property", name=name, value=harmless(value, _SHOWN))


def _outcome(test: ET.Element, kind: str, name: str, text: str) -> None:
    lines = [harmless(line) for line in text.split("\n")]
    ET.SubElement(test, kind, type=name, message=" | ".join(lines)).text = "\n".join(lines)


def _count(element: ET.Element, within: ET.Element, took: float | None = None) -> None:
    tests = list(within.iter("testcase"))
    seconds = sum(float(test.get("time", "0")) for test in tests) if took is None else took
    element.set("tests", str(len(tests)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(sum(test.find(tag) is not None for test in tests)))
    element.set("time", f"{seconds:.3f}")
