"""``proce serve`` refuses what it cannot serve with one line; the demo is made once."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from proce import __version__
from proce.cli import demo, serve
from proce.cli.main import main

WRONG_REQUEST = 2


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Run ``proce serve`` with wrong words and return its one line."""
    assert main(["serve", *map(str, words)]) == WRONG_REQUEST
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) == 1, said.err
    return lines[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like an explainer from outside."""
    (tmp_path / "manifest.json").write_text("{}")
    return tmp_path


def test_it_says_what_is_missing(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert "proce serve --demo" in refusal(capsys)
    assert "leave FOLDER" in refusal(capsys, folder, "--demo")
    assert "--token-file" in refusal(capsys, folder, "--host", "0.0.0.0")
    wrong = folder / "tokens.txt"
    wrong.write_text("everybody 0123456789abcdef\n")
    assert "line 1" in refusal(capsys, folder, "--token-file", wrong)
    assert "--keep-days" in refusal(capsys, folder, "--keep-days", "soon")
    assert "65535" in refusal(capsys, folder, "--port", 70000)


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refusal(capsys, folder, "--port", port)
    assert f"port {port}" in line
    assert "--port 0" in line


def test_what_is_no_explainer_is_told_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no explainer" in refusal(capsys, empty, "--port", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    (empty / "manifest.json").write_text("{}")
    missing = refusal(capsys, empty, "--rows", tmp_path / "rows.csv", "--port", 0)
    assert "no such file" in missing


@pytest.mark.slow
def test_rows_that_do_not_fit_and_a_damaged_explainer_are_told(
    desk: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{}")
    assert "damaged" in refusal(capsys, damaged, "--port", 0)
    rows = tmp_path / "rows.csv"
    rows.write_text("savings,home\n1,2\n")
    line = refusal(capsys, desk / "credit", "--rows", rows, "--port", 0, "--workers", 1)
    assert "age" in line


def test_the_extra_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    assert "pip install 'proce[serve]'" in refusal(capsys, "--demo")


def test_the_demo_is_made_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []

    def make(command: list[str], check: bool) -> "subprocess.CompletedProcess[str]":
        made.append(command)
        Path(command[-1]).mkdir()
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setenv("PROCE_CACHE", str(tmp_path))
    monkeypatch.setattr(demo.subprocess, "run", make)
    folder, rows = demo.demo_files()
    assert demo.demo_files() == (folder, rows)
    assert len(made) == 1
    assert folder.parent == rows.parent == tmp_path / f"demo-{__version__}"
    assert [path.name for path in tmp_path.iterdir()] == [f"demo-{__version__}"]


def test_the_main_process_never_loads_the_model() -> None:
    """What listens imports neither torch nor pandas."""
    code = "import sys, proce.server.run; print({'torch', 'pandas', 'numba'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
