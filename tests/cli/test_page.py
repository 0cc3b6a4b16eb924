"""docs/cli.md names every command and option, and none that does not exist."""

import re
from pathlib import Path

import typer

from proce.cli.main import app

PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text("utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
ONLY_HERE = {"--debug", "--install-completion", "--help"}


def test_every_command_is_on_the_page_and_has_an_example() -> None:
    assert "explain" in COMMANDS
    for name, command in COMMANDS.items():
        if hasattr(command, "commands"):
            continue  # a group has a page of its own
        assert f"`proce {name}`" in PAGE, name
        assert "Example" in (command.help or ""), name


def test_every_option_on_the_page_exists() -> None:
    known = {option for command in COMMANDS.values() for p in command.params for option in p.opts}
    mentioned = set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", PAGE))
    assert "--target" in mentioned
    assert mentioned - ONLY_HERE <= known


def test_the_options_of_explain_are_all_on_the_page() -> None:
    mentioned = set(re.findall(r"--?[a-z][a-z-]*", PAGE))
    options = {option for param in COMMANDS["explain"].params for option in param.opts}
    assert "--target" in options
    assert {option for option in options if option.startswith("-")} - {"--help"} <= mentioned
