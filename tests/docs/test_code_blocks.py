"""Every code block of the documentation is run, page by page and in order, or says why not.

Python and ``proce`` commands are run in one folder and one namespace for each page; the block that
follows, if it is an output, is compared with what was printed, on any x86-64 processor.
"""

import io
import os
import shlex
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import typer

from proce import DiscoveryWarning
from proce.cli.main import app, main

from .blocks import PAGES, ROOT, Block, blocks_of, named
from .comparing import NOTEBOOKS, module_at, same_text
from .downloads import DOWNLOADED, need_file

LONG = {"docs/howto/batches", "docs/howto/real-data", "docs/howto/robust"}
TEN_LINES = {"README", "docs/index"}  # tests/test_readme.py runs them
BENCH_EXTRA = ("pygad", "dice_ml")
WIDE = ("display.max_columns", 20, "display.width", 130)  # whatever the terminal

NOT_RUN = {  # how commands begin that are not run, and why
    "python3 -m venv": "the tests run in one; benchmarks/quickstart.py makes a bare one",
    ". .venv/bin/activate": "changes the shell that it is typed in",
    "proce demo": "tests/cli/test_process.py runs it",
    "pip install": "needs a package index; benchmarks/quickstart.py and make package-check do it",
    "make": "fills an environment from a package index; the targets are checked to exist",
    "curl": "needs a service; tests/docs/test_service_page.py starts one",
    "proce serve": "runs until it is stopped; tests/docs/test_service_page.py starts it",
    "PGPASSWORD=": "needs a PostgreSQL server",
    "podman": "needs podman and the images of a registry",
    "proce benchmark run": "takes hours; tests/benchmark run a smaller plan",
    "proce benchmark tables": "needs the run before it",
    "proce benchmark figures": "needs the run before it",
    "proce explain credit s3://": "needs an object store and a cluster",
    "python hardening/": "takes hours; the scripts and their options are checked to exist",
    "python docs/notebooks/execute.py": "writes into this tree; test_notebooks.py runs the same",
}
OTHER_TEXTS = {  # blocks of other languages, and the tests that read them
    ("docs/rules", "pycon"): "tests/schema/rules/test_rule_page.py",
    ("docs/rules", "text"): "tests/schema/rules/test_rule_page.py",
    ("docs/howto/service", "text"): "tests/docs/test_service_page.py",
}
ALL = [block for page in PAGES for block in blocks_of(page)]
COMMANDS = [(block, command) for block in ALL for command in block.commands]


def reason_of(command: str) -> str | None:
    return next((NOT_RUN[begins] for begins in NOT_RUN if command.startswith(begins)), None)


def runs(block: Block) -> bool:
    if block.language == "shell":
        return not all(map(reason_of, block.commands))
    return block.language == "python" or ">>> " in block.text


def with_marks(page: Path) -> Any:
    return pytest.param(
        page, marks=[pytest.mark.slow] if named(page) in LONG else [], id=named(page)
    )


TO_RUN = [
    page
    for page in PAGES
    if any(map(runs, blocks_of(page))) and named(page) not in {*TEN_LINES, "docs/rules"}
]


class Walk:
    """A reader who types what is on a page."""

    def __init__(self) -> None:
        self.runner = module_at(NOTEBOOKS / "execute.py")
        self.namespace: dict[str, Any] = {"__name__": "__main__"}

    def take(self, block: Block) -> str:
        """Run a block; return what it prints."""
        if block.language == "python":
            return self.python(block.padded, at_prompt=False)
        if block.language == "shell":
            return "".join(self.command(line) for line in block.commands if not reason_of(line))
        return self.prompt(block.text)

    def python(self, source: str, at_prompt: bool) -> str:
        shown = self.runner.run_cell(source, self.namespace, 0)
        printed = [output["text"] for output in shown if output["output_type"] == "stream"]
        values = [output["data"] for output in shown if output["output_type"] == "execute_result"]
        printed += [data["text/plain"] for data in values if at_prompt]
        return "\n".join("".join(lines) for lines in printed)

    def prompt(self, text: str) -> str:
        """Type each line that begins with ``>>>``; return a text such as the one on the page."""
        told = []
        for line in text.splitlines():
            if line.startswith(">>> "):
                told += [line, self.python(line.removeprefix(">>> "), at_prompt=True)]
        return "\n".join(told)

    def command(self, line: str) -> str:
        words = shlex.split(line, comments=True)[1:]
        printed, said = io.StringIO(), io.StringIO()
        with redirect_stdout(printed), redirect_stderr(said):
            code = main(words)
        done = {0, 1} if words[0] == "explain" else {0}  # 1: some rows have no counterfactual
        assert code in done, f"{line}\n{said.getvalue()}"
        return printed.getvalue() or said.getvalue()


def walk_page(page: Path, folder: Path) -> None:
    """Run the blocks of a page in an empty folder; compare what they print with what it shows."""
    os.chdir(folder)
    plt.switch_backend("agg")
    walk, printed = Walk(), ""
    if "cli.md#files-to-try-it-with" in page.read_text("utf-8"):
        walk.take(blocks_of(ROOT / "docs/cli.md")[0])
    with pd.option_context(*WIDE), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DiscoveryWarning)
        for block in blocks_of(page):
            if runs(block):
                printed = walk.take(block)
            if block.is_output:
                place = f"{named(page)}, line {block.line}"
                assert same_text(block.text, printed), f"{place} shows other than\n{printed}"
    plt.close("all")


@pytest.mark.parametrize("page", list(map(with_marks, TO_RUN)))
def test_the_blocks_of_a_page_run_and_print_what_it_shows(
    page: Path,
    in_plain_process: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = page.read_text("utf-8")
    if "It needs" in text and "methods" in page.parts and not all(map(find_spec, BENCH_EXTRA)):
        pytest.skip("the bench extra is not installed")
    for name in DOWNLOADED:
        if f'load_dataset("{name}"' in text:
            need_file(name, monkeypatch)
    in_plain_process(walk_page, page, tmp_path)


def test_pages_that_run_are_recognised() -> None:
    names = set(map(named, TO_RUN))
    assert {"docs/quickstart", "docs/cli", "docs/howto/service"} - names == {"docs/howto/service"}
    assert names > LONG


def test_every_block_is_run_or_has_a_reason() -> None:
    for block in ALL:
        place = f"{named(block.page)}, line {block.line}"
        if block.language == "shell":
            odd = [
                line
                for line in block.commands
                if not (line.startswith("proce ") or reason_of(line))
            ]
            assert odd == [], place
        elif block.language != "python" and not block.is_output:
            reader = OTHER_TEXTS[named(block.page), block.language]
            assert block.page.name in (ROOT / reader).read_text("utf-8"), place


def test_every_output_follows_a_block_that_prints_it() -> None:
    for page in PAGES:
        if named(page) in TEN_LINES:
            continue
        before: Block | None = None
        for block in blocks_of(page):
            if block.is_output and ">>> " not in block.text:
                assert before is not None, f"{named(page)}, line {block.line}"
                assert runs(before), f"{named(page)}, line {block.line}"
            before = block


def test_no_reason_is_stale() -> None:
    lines = [command for _, command in COMMANDS]
    assert [
        begins for begins in NOT_RUN if not any(line.startswith(begins) for line in lines)
    ] == []
    there = {(named(block.page), block.language) for block in ALL}
    assert set(OTHER_TEXTS) <= there
    assert set(map(named, TO_RUN)) >= LONG


@pytest.mark.parametrize(("block", "line"), COMMANDS, ids=[command for _, command in COMMANDS])
def test_a_command_exists_with_its_options(block: Block, line: str) -> None:
    first, *words = shlex.split(line, comments=True)
    if first == "proce":
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            name, *words = words
            command = command.commands[name]
        command.make_context(name, words)  # raises on an unknown option or a wrong value
    elif first == "make":
        assert f"\n{words[0]}:" in (ROOT / "Makefile").read_text("utf-8")
    elif first == "python":
        script, *options = words
        source = (ROOT / script).read_text("utf-8")
        assert [
            word for word in options if word.startswith("--") and f'"{word}"' not in source
        ] == []
