"""The notebooks run, and give the outputs that are stored in them."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .comparing import module_at, same_text
from .downloads import DOWNLOADED, need_file

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LONG = {"credit_card", "law"}
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


def texts(output: dict[str, Any]) -> dict[str, str]:
    """Return what an output shows, by kind; a picture counts as there, whatever is in it."""
    if output["output_type"] == "stream":
        return {output["name"]: "".join(output["text"])}
    return {
        kind: "" if kind == "image/png" else "".join(content)
        for kind, content in output["data"].items()
    }


def same_outputs(stored: list[dict[str, Any]], fresh: list[dict[str, Any]], form: bool) -> bool:
    """Whether a cell shows the same; of ``form``, whether it shows the same kinds of things."""
    if [list(texts(output)) for output in stored] != [list(texts(output)) for output in fresh]:
        return False
    pairs = [
        (texts(old)[kind], new)
        for old, output in zip(stored, fresh, strict=True)
        for kind, new in texts(output).items()
    ]
    return form or all(same_text(old, new) for old, new in pairs)


def test_the_notebooks_are_here() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"adult", "credit", "credit_card", "law"}


@each_run
def test_the_outputs_are_those_stored(
    path: Path, runner: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that rounds otherwise, what a search found is compared in form only."""
    if path.stem in DOWNLOADED:
        need_file(path.stem, monkeypatch)
    monkeypatch.chdir(tmp_path)
    notebook = runner.load(path)
    elsewhere = notebook["metadata"]["numerics"] != runner.numerics()
    cells = list(runner.code_cells(notebook))
    assert any(cell["outputs"] for cell in cells)
    for cell, fresh in zip(cells, runner.outputs(notebook), strict=True):
        form = elsewhere and "searched" in cell["metadata"].get("tags", [])
        assert same_outputs(cell["outputs"], fresh, form), "".join(cell["source"])


@every_notebook
def test_a_notebook_is_small_listed_and_tells_nothing_of_its_run(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["cells"]
    assert path.stat().st_size < 400_000
    assert f"({path.stem}.md)" in (FOLDER / "index.md").read_text("utf-8")
    assert set(notebook["metadata"]) == {"kernelspec", "language_info", "numerics"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(set(cell["metadata"]) <= {"tags"} for cell in notebook["cells"])


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
    assert same_outputs(printed, printed, form=False)
    assert not same_outputs(printed, drawn, form=True)
    assert not same_outputs(printed, [], form=True)


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
