from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from nmemory_kit.run import record

ONE = "remember-provenance-blank"
REFERENCE = f"{shlex.quote(sys.executable)} -m nmemory_reference --db {{store}}"

#: Refuses every call and is well-mannered otherwise: it breaks promises without delay.
REFUSING = Path(__file__).parent / "refusing_server.py"
REFUSING_COMMAND = ("--", sys.executable, str(REFUSING))


def test_without_a_target_the_reference_server_is_certified_and_that_is_said(nmemory):
    ran = nmemory("protocol", "conformance", "--case", ONE)
    assert ran.code == 0
    assert ran.out.startswith("CONFORMANT WITH GAPS  memory-verbs/v1\n")
    assert "planned 1 = 1 pass" in ran.out
    assert "reference server" in ran.err


@pytest.mark.parametrize(
    "how",
    [("--target", REFERENCE), ("--", *shlex.split(REFERENCE))],
    ids=["as one text", "as a list after --"],
)
def test_a_command_is_a_target(how, nmemory):
    ran = nmemory("protocol", "conformance", "--case", ONE, *how)
    assert (ran.code, ran.err) == (0, "")
    assert "planned 1 = 1 pass" in ran.out


def test_only_some_cases_are_a_gap_and_strict_says_so_by_its_exit_code(nmemory):
    assert nmemory("protocol", "conformance", "--case", ONE, "--strict").code == 1


def test_a_broken_promise_is_exit_code_1_with_clause_place_and_the_command_that_shows_it_again(nmemory):
    ran = nmemory("protocol", "conformance", "--case", "recall-total", *REFUSING_COMMAND)
    assert ran.code == 1
    assert ran.out.startswith("NOT CONFORMANT")
    rerun = next(line.split("rerun")[1] for line in ran.out.splitlines() if "rerun" in line)
    again = nmemory(*shlex.split(rerun)[1:])
    assert (again.code, again.out.splitlines()[:2]) == (1, ran.out.splitlines()[:2])


def test_json_is_one_object_on_stdout_and_nothing_else(nmemory):
    ran = nmemory("protocol", "conformance", "--case", ONE, "--json", "--target", REFERENCE)
    told = json.loads(ran.out)
    assert told["books"]["pass"] == 1
    assert [case["case"] for case in told["cases"]] == [f"memory-verbs/v1/{ONE}"]


def test_a_report_folder_has_the_result_file_and_every_report(nmemory, tmp_path: Path):
    folder = tmp_path / "report"
    nmemory("protocol", "conformance", "--case", "recall-total", "--report", folder, *REFUSING_COMMAND)
    results = record.read(folder / "result.jsonl")
    assert results.footer.verdict == "NOT CONFORMANT"
    assert results.cases[0].transcript, "the transcript of a failed case is kept"
    assert json.loads((folder / "summary.json").read_text())["verdict"] == "NOT CONFORMANT"
    assert ET.parse(folder / "junit.xml").getroot().get("failures") == "1"
    assert (folder / "summary.md").read_text().startswith("## NOT CONFORMANT")


def test_single_reports_go_where_they_are_asked_for(nmemory, tmp_path: Path):
    junit, markdown = tmp_path / "out" / "j.xml", tmp_path / "m.md"
    nmemory("protocol", "conformance", "--case", ONE, "--junit", junit, "--markdown", markdown, "--target", REFERENCE)
    assert ET.parse(junit).getroot().get("tests") == "1"
    assert ONE not in markdown.read_text(), "a summary tells what is wrong, not what is right"


def test_a_report_of_an_earlier_run_is_never_taken_for_this_one(nmemory, tmp_path: Path):
    junit = tmp_path / "j.xml"
    junit.write_text("<testsuites tests='1'/>")
    nmemory("protocol", "conformance", "--junit", junit, "--target", "no-such-program-anywhere")
    assert ET.parse(junit).find(".//error") is not None


def test_without_a_report_folder_the_result_file_is_kept_and_named(nmemory, state: Path):
    ran = nmemory("protocol", "conformance", "--case", ONE, "--target", REFERENCE)
    (kept,) = (state / "runs").glob("*.jsonl")
    assert str(kept) in ran.out
    assert record.read(kept).footer.books.planned == 1


def test_a_run_goes_on_and_says_so_where_nothing_can_be_written_down(
    nmemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    server = (sys.executable, "-m", "nmemory_reference", "--db", tmp_path / "m.sqlite3")
    ran = nmemory("protocol", "conformance", "--case", ONE, "--", *server)
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert "if this run crashes" in ran.err
    assert "--report DIR" in ran.out


def test_a_list_names_the_cases_with_their_clauses_and_runs_nothing(nmemory, state: Path):
    ran = nmemory("protocol", "conformance", "--list", "--case", ONE, "--target", "no-such-program-anywhere")
    assert ran.code == 0
    assert f"memory-verbs/v1/{ONE}: " in ran.out
    assert "mv1/remember/provenance-blank" in ran.out
    assert not state.exists()


def test_an_excused_failure_is_no_breach_but_never_conformant(nmemory, tmp_path: Path):
    excuses = tmp_path / "excuses.yaml"
    excuses.write_text("- {case: recall-total, reason: known since May}\n")
    ran = nmemory("protocol", "conformance", "--case", "recall-total", "--xfail", excuses, *REFUSING_COMMAND)
    assert "recall-total: known since May" in ran.out
    assert not ran.out.startswith("CONFORMANT\n")


def test_an_excuse_that_is_no_longer_needed_fails_the_run(nmemory, tmp_path: Path):
    excuses = tmp_path / "excuses.yaml"
    excuses.write_text(f"- {{case: {ONE}, reason: known since May}}\n")
    ran = nmemory("protocol", "conformance", "--case", ONE, "--xfail", excuses, "--target", REFERENCE)
    assert ran.code == 1
    assert "take out the excuse" in ran.out


def test_the_names_of_passed_variables_are_shown_and_never_their_values(nmemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LC_TEST", "a-value-of-its-own")
    ran = nmemory("protocol", "conformance", "--case", ONE, "--target", REFERENCE)
    assert "LC_TEST" in ran.out
    assert "a-value-of-its-own" not in ran.out + ran.err


def test_as_a_process_it_writes_the_verdict_to_stdout_and_ends_with_its_code(process, tmp_path: Path):
    ran = process("protocol", "conformance", "--case", ONE)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "CONFORMANT WITH GAPS  memory-verbs/v1")
