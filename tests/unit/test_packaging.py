"""What is in the checkout is in the wheel."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import nmemory_kit

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def test_every_package_is_listed() -> None:
    there = {
        ".".join(file.parent.relative_to(ROOT / base).parts)
        for base in ("kit", "reference_server")
        for file in (ROOT / base).rglob("__init__.py")
    }
    assert sorted(SETUPTOOLS["packages"]) == sorted({*there, "nmemory_cases"})


def test_every_data_file_is_shipped() -> None:
    for package, patterns in SETUPTOOLS["package-data"].items():
        folder = ROOT / SETUPTOOLS["package-dir"][package]
        data = [file for file in folder.rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc")]
        left_out = [
            str(file)
            for file in data
            if not any(fnmatch(str(file.relative_to(folder)), pattern.replace("**/", "*")) for pattern in patterns)
        ]
        assert not left_out, package


def test_the_version_is_told_once() -> None:
    assert PROJECT["project"]["version"] == nmemory_kit.__version__
