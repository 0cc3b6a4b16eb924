"""Every code block of the documentation runs, page by page and in order."""

import re
import runpy
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import typer

from proce.cli.main import app, main

from .downloads import DOWNLOADED, need_file

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
BENCH_EXTRA = ("pygad", "dice_ml")
LOADED = re.compile(r'load_dataset\("(\w+)"')


def lines_of(page: Path) -> Iterator[tuple[str | None, str]]:
    """Yield each line with the language of the block that it is in, ``None`` outside of blocks."""
    language = None
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("```"):
            language = line.removeprefix("```") if language is None else None
            yield None, line
        else:
            yield language, line


def python_of(page: Path) -> str:
    """Return the page with all but its code blanked, so that errors name the page's own lines.

    What stands after ``>>>`` in an output runs, too; `tests/schema/rules/test_rule_page.py` reads
    pycon.
    """
    code = []
    for language, line in lines_of(page):
        if language == "python":
            code.append(line)
        elif language == "" and line.startswith((">>> ", "... ")):
            code.append(line[4:])
        else:
            code.append("")
    return "\n".join(code)


def commands_of(page: Path) -> list[list[str]]:
    """Return the ``proce`` commands of the page's shell blocks, without ``proce`` itself."""
    shell = [line for language, line in lines_of(page) if language == "shell"]
    return [shlex.split(line)[1:] for line in shell if line.startswith("proce ")]


def named(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


WITH_CODE = [page for page in PAGES if python_of(page).strip() and page.name != "README.md"]
LONG = {"docs/howto/batches", "docs/howto/real-data"}
WITH_COMMANDS = [page for page in PAGES if commands_of(page)]


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in; pictures are drawn into files and closed."""
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("agg")
    yield tmp_path
    plt.close("all")


def run_code(page: Path, folder: Path) -> None:
    script = folder / f"{page.stem}.py"
    script.write_text(python_of(page), "utf-8")
    runpy.run_path(str(script))


def test_pages_with_code_and_commands_are_recognised() -> None:
    assert ROOT / "docs/quickstart.md" in WITH_CODE
    assert ROOT / "docs/cli.md" in WITH_COMMANDS
    assert set(map(named, WITH_CODE)) > LONG


@pytest.mark.filterwarnings("ignore::proce.causal.DiscoveryWarning")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if named(page) in LONG else [], id=named(page))
        for page in WITH_CODE
    ],
)
def test_the_code_of_a_page_runs(
    page: Path, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_bench = "It needs" in page.read_text("utf-8") and "methods" in page.parts
    if needs_bench and not all(find_spec(name) for name in BENCH_EXTRA):
        pytest.skip("the bench extra is not installed")
    for name in set(LOADED.findall(python_of(page))).intersection(DOWNLOADED):
        need_file(name, monkeypatch)
    run_code(page, empty_folder)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=named)
def test_the_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    for words in commands_of(page):
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            name, *words = words
            command = command.commands[name]
        command.make_context(name, words)  # raises on an unknown option or a wrong value


def test_the_commands_of_the_page_on_the_command_line_run(empty_folder: Path) -> None:
    page = ROOT / "docs/cli.md"
    run_code(page, empty_folder)
    for words in commands_of(page):
        done = {0, 1} if words[0] == "explain" else {0}  # 1: some rows have no counterfactual
        assert main(words) in done, words
    assert (empty_folder / "report.html").stat().st_size > 10_000
