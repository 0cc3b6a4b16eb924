"""docs/cli.md names what there is, and its commands run as printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from proce.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text("utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
ONLY_HERE = {"--debug", "--install-completion", "--help"}


def test_every_command_is_on_the_page_and_has_an_example() -> None:
    for name, command in COMMANDS.items():
        if hasattr(command, "commands"):
            continue  # a group has a page of its own
        assert f"`{name} " in PAGE, name
        assert "Example" in (command.help or ""), name


def test_every_option_on_the_page_exists() -> None:
    known = {option for command in COMMANDS.values() for p in command.params for option in p.opts}
    assert set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", PAGE)) - ONLY_HERE <= known


def test_the_options_of_explain_are_all_told() -> None:
    told = set(re.findall(r"--?[a-z][a-z-]*", PAGE))
    options = {option for param in COMMANDS["explain"].params for option in param.opts}
    assert {option for option in options if option.startswith("-")} - {"--help"} <= told


@pytest.mark.slow
def test_the_five_minutes_run_as_printed(tmp_path: Path) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    lines = re.search(r"```console\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    assert lines is not None
    subprocess.run([sys.executable, "-c", code[1]], cwd=tmp_path, check=True, timeout=300)
    program = str(Path(sys.executable).with_name("proce"))
    for line in lines[1].splitlines():
        words = line.removeprefix("$ proce ").split()
        run = subprocess.run(
            [program, *words], cwd=tmp_path, capture_output=True, text=True, timeout=600
        )
        assert run.returncode in ((0, 1) if words[0] == "explain" else (0,)), run.stderr
    assert (tmp_path / "report.html").stat().st_size > 1_000
