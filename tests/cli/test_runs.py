from __future__ import annotations

import os
from pathlib import Path

import pytest
from nmemory_kit.cli.runs import KEPT, Recorder
from nmemory_kit.run import record
from nmemory_kit.run.result import Verdict
from report.sample import case, everything, results


def test_a_result_file_grows_with_its_run_and_ends_whole(tmp_path: Path):
    run = everything()
    with Recorder(tmp_path, run.header.run) as recorder:
        recorder.start(run.header)
        recorder.add(run.cases[3])
        assert len((tmp_path / "result.jsonl").read_text().splitlines()) == 2
        recorder.finish(run)
    read = record.read(tmp_path / "result.jsonl")
    assert {case.case for case in read.cases} == {case.case for case in run.cases}
    assert len(read.cases) == len(run.cases)


def test_a_broken_off_run_says_what_it_knew_and_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = results(case("a", Verdict.PASS))
    recorder = Recorder(tmp_path, "x")
    recorder.start(run.header)
    recorder.add(run.cases[0])
    recorder.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert f"1 cases had been done; what they said is in {tmp_path / 'result.jsonl'}" in capsys.readouterr().err


def test_only_the_last_runs_are_kept(state: Path):
    for number in range(KEPT + 5):
        with Recorder(None, f"run{number}") as recorder:
            os.utime(recorder.path, (number, number))
    kept = {file.stem for file in (state / "runs").glob("*.jsonl")}
    assert kept == {f"run{number}" for number in range(5, KEPT + 5)}


def test_a_run_goes_on_where_the_kits_own_folder_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    run = everything()
    with Recorder(None, "x") as recorder:
        recorder.start(run.header)
        recorder.finish(run)
    assert recorder.path is None
