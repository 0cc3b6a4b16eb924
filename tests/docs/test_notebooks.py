"""The notebooks run, and give the outputs that are stored in them."""

import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .comparing import module_at, same_text
from .downloads import DOWNLOADED, need_file

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LONG = {"adult", "credit_card", "law"}
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
each_run = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.stem in LONG else [], id=path.stem)
        for path in NOTEBOOKS
    ],
)


@pytest.fixture(scope="module")
def runner() -> ModuleType:
    return module_at(FOLDER / "execute.py")


def code_cells(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def texts(output: dict[str, Any]) -> dict[str, str]:
    """Return what an output shows, by kind; a picture counts as there, whatever is in it."""
    if output["output_type"] == "stream":
        return {output["name"]: "".join(output["text"])}
    return {
        kind: "" if kind == "image/png" else "".join(content)
        for kind, content in output["data"].items()
    }


def same_outputs(stored: list[dict[str, Any]], fresh: list[dict[str, Any]]) -> bool:
    """Whether a cell shows the same."""
    if [list(texts(output)) for output in stored] != [list(texts(output)) for output in fresh]:
        return False
    pairs = [
        (texts(old)[kind], new)
        for old, output in zip(stored, fresh, strict=True)
        for kind, new in texts(output).items()
    ]
    return all(same_text(old, new) for old, new in pairs)


def test_the_notebooks_are_here() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"adult", "credit", "credit_card", "law"}


def outputs_of(path: Path, folder: Path) -> list[list[dict[str, Any]]]:
    """Return what the cells of a notebook show that is executed in a folder."""
    os.chdir(folder)
    runner = module_at(FOLDER / "execute.py")
    outputs: list[list[dict[str, Any]]] = runner.outputs(runner.load(path))
    return outputs


@each_run
def test_the_outputs_are_those_stored(
    path: Path,
    in_plain_process: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if path.stem in DOWNLOADED:
        need_file(path.stem, monkeypatch)
    cells = code_cells(path)
    assert any(cell["outputs"] for cell in cells)
    found = in_plain_process(outputs_of, path, tmp_path)
    for cell, fresh in zip(cells, found, strict=True):
        assert same_outputs(cell["outputs"], fresh), "".join(cell["source"])


def mark() -> str:
    """Return how this process rounds."""
    rounds: str = module_at(FOLDER / "execute.py").numerics()
    return rounds


@pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"),
    reason="other systems have other libraries, which round otherwise",
)
def test_a_plain_process_rounds_as_the_one_that_wrote_the_pages(
    in_plain_process: Callable[..., Any],
) -> None:
    assert in_plain_process(mark) == "6fb7db0c9b5c"


@every_notebook
def test_a_notebook_is_small_listed_and_tells_nothing_of_its_run(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["cells"]
    assert path.stat().st_size < 400_000
    assert f"({path.stem}.md)" in (FOLDER / "index.md").read_text("utf-8")
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not any(cell["metadata"] for cell in notebook["cells"])


@every_notebook
def test_the_page_of_a_notebook_is_what_is_stored_in_it(path: Path) -> None:
    text, pictures = module_at(FOLDER / "render.py").page(path.stem, json.loads(path.read_bytes()))
    assert path.with_suffix(".md").read_text("utf-8") == text, "run docs/notebooks/render.py"
    stored = {
        f"{path.stem}/{file.name}": file.read_bytes() for file in path.with_suffix("").glob("*")
    }
    assert stored == pictures


def test_a_page_has_what_a_cell_prints_ends_with_and_draws() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["one\n", "```\n"]},
        {"output_type": "execute_result", "data": {"text/plain": ["  a  b"]}},
        {"output_type": "execute_result", "data": {"text/html": ["<style>x</style>\n\n<p>b</p>"]}},
        {"output_type": "display_data", "data": {"image/png": "AAAA"}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words."]},
        {"cell_type": "code", "source": ["x = 1\n", "x.plot();"], "outputs": outputs},
    ]
    text, pictures = module_at(FOLDER / "render.py").page("name", {"cells": cells})
    assert text.splitlines() == [
        *("# Title", "", "Words.", ""),
        *("This page is [a notebook](name.ipynb) with the outputs of its last run.", ""),
        *("```python", "x = 1", "x.plot()", "```", ""),
        *("````output", "one", "```", "````", ""),
        *("```", "  a  b", "```", ""),
        *("<div style='overflow-x:auto'>", "<p>b</p>", "</div>", ""),
        "![What `x.plot()` draws](name/2.png)",
    ]
    assert pictures == {"name/2.png": bytes(3)}


@pytest.mark.parametrize(
    ("stored", "fresh", "same"),
    [
        ("Raise savings to 13,800.", "Raise savings to 13,900.", True),
        ("Raise savings to 13,800.", "Raise savings to 15,800.", False),
        ("Raise savings to 13,800.", "Lower savings to 13,800.", False),
        ("mean  0.635\n", "mean 0.64", True),
        ("gap -0.255", "gap 0.255", False),
        ("3 of 7 edges", "3 of 7", False),
    ],
)
def test_words_count_exactly_and_numbers_nearly(stored: str, fresh: str, same: bool) -> None:
    assert same_text(stored, fresh) is same


def test_cells_of_other_kinds_differ() -> None:
    printed = [{"output_type": "stream", "name": "stdout", "text": ["one\n"]}]
    drawn = [{"output_type": "display_data", "data": {"image/png": "AA=="}}]
    assert same_outputs(printed, printed)
    assert not same_outputs(printed, drawn)
    assert not same_outputs(printed, [])


def test_a_cell_gives_what_it_prints_draws_and_ends_with(runner: ModuleType) -> None:
    sources = [
        "import matplotlib.pyplot as plt\nprint('said')\n40 + 2",
        "plt.figure(); plt.plot([1, 2]);",
        "x = 1",
    ]
    cells = [{"cell_type": "code", "source": [source]} for source in sources]
    first, second, third = runner.outputs({"cells": cells})
    assert [texts(output) for output in first] == [{"stdout": "said\n"}, {"text/plain": "42"}]
    assert [texts(output) for output in second] == [{"image/png": ""}]
    assert third == []


def test_a_warning_in_a_notebook_is_an_error(runner: ModuleType) -> None:
    source = "import warnings\nwarnings.warn('old')"
    with pytest.raises(UserWarning, match="old"):
        runner.outputs({"cells": [{"cell_type": "code", "source": [source]}]})
