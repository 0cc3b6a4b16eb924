"""What ``proce discover`` shows while it works."""

from pathlib import Path

import pytest

from proce.cli.main import main

WORDS = ["discover", "people.csv", "--label", "decision", "--bootstrap", "3"]


def test_a_person_at_a_terminal_sees_bars_of_the_search_and_the_bootstrap(
    at_desk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes stderr for a terminal
    assert main([*WORDS, "--out", str(tmp_path / "graph.json")]) == 0
    shown = capsys.readouterr()
    assert "search" in shown.err
    assert "bootstrap" in shown.err
    assert "100%" in shown.err


def test_nothing_is_drawn_where_nobody_looks(
    at_desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, "--out", str(tmp_path / "graph.json")]) == 0
    assert "100%" not in capsys.readouterr().err
