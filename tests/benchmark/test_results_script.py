"""``benchmarks/results.py`` refuses what cannot fill the page, and then leaves it alone."""

import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from proce.benchmark import RunFolder
from proce.benchmark.reporting.summary import read_summary

from ..docs.comparing import module_at

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "results.py"
PAGE = "A page.\n<!-- ranks -->\nold\n<!-- end -->\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script, working on a page of its own."""
    module = module_at(SCRIPT)
    docs = tmp_path / "docs"
    docs.mkdir()
    monkeypatch.setattr(module, "DOCS", docs)
    monkeypatch.setattr(module, "PAGE", docs / "results.md")
    monkeypatch.setattr(module, "SUMMARY", docs / "results.csv")
    module.PAGE.write_text(PAGE)
    return module


def run(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *folders: Path) -> int:
    monkeypatch.setattr(sys, "argv", ["results.py", *map(str, folders)])
    code: int = script.main()
    return code


def test_the_page_is_filled_from_a_finished_run(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, small_run: RunFolder, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(small_run.path, tmp_path / "copy"))
    assert run(script, monkeypatch, folder) == 0
    page = script.PAGE.read_text()
    assert "old" not in page
    assert "| ProCE |" in page
    assert read_summary(script.SUMMARY)[1].plan == "test"
    assert (script.DOCS / "figures" / "ranks.svg").exists()


def test_a_half_run_folder_is_refused_by_name_and_nothing_is_written(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    small_run: RunFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    half = Path(shutil.copytree(small_run.path, tmp_path / "half"))
    shutil.rmtree(next((half / "cells").iterdir()))
    assert run(script, monkeypatch, small_run.path, half) == 2
    told = capsys.readouterr().err
    assert f"{half} is not finished: 1 of 4 cells" in told
    assert "--resume" in told
    assert script.PAGE.read_text() == PAGE
    assert list(script.DOCS.iterdir()) == [script.PAGE]


def test_a_results_file_of_another_version_is_refused_by_name(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script.SUMMARY.write_text("group,dataset\npaper,loan\n")
    assert run(script, monkeypatch) == 2
    assert f"{script.SUMMARY} is no summary of a run" in capsys.readouterr().err
    assert script.PAGE.read_text() == PAGE
