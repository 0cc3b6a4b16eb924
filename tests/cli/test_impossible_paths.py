"""Paths that nothing can be written to or read from: an error of ours that names the path."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proce import ProCE, explain_parallel
from proce.benchmark.measuring.run import run_plan
from proce.benchmark.presets import find_preset
from proce.benchmark.reporting.figures import write_figures
from proce.benchmark.reporting.tables import write_tables
from proce.classifier.saved import read_model, write_model
from proce.cli.main import main
from proce.errors import ProceError
from proce.explanation import Receipt

from .test_failing_disk import Bench, bench

__all__ = ["bench"]

# How each path comes about in a folder; a suffix is added to its name where that must have one.
PATHS: dict[str, Callable[[Path], Path]] = {
    "a name of 300 characters": lambda folder: folder / ("n" * 300),
    "a zero character": lambda folder: folder / "a\0b",
    "half a character": lambda folder: folder / "a\ud800b",
    "a folder": lambda folder: folder / "taken",
    "a parent that is a file": lambda folder: folder / "file" / "name",
    "a parent that is not there": lambda folder: folder / "none" / "name",
    "a parent of 300 characters": lambda folder: folder / ("n" * 300) / "name",
    "a path without end": lambda folder: folder.joinpath(*["deep"] * 2000),
    "a link to itself": lambda folder: folder / "loop" / "name",
    "nothing": lambda folder: Path(),
    "the root": lambda folder: Path("/"),
    "a system that takes nothing": lambda folder: Path("/proc/name"),
}
NO_PATHS = (None, 5, 1.5, b"bytes", ["a list"], object())
SAVERS: dict[str, tuple[str, Callable[[Bench, Any], object]]] = {
    "save_html": (".html", lambda bench, path: bench.result[0].save_html(path)),
    "save_html of all": (".html", lambda bench, path: bench.result.save_html(path)),
    "receipt": (".json", lambda bench, path: bench.result.receipt(0).save(path)),
    "write_model": (".skops", lambda bench, path: write_model(bench.explainer.model, path)),
    "save": ("", lambda bench, path: bench.explainer.save(path)),
    "out": (".csv", lambda bench, path: parallel(bench, out=path)),
    "outcomes": (".csv", lambda bench, path: parallel(bench, out="r.csv", outcomes=path)),
    "run_plan": ("", lambda bench, path: run_plan(find_preset("smoke"), path)),
}
READERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "Receipt.load": (".json", Receipt.load),
    "read_model": (".skops", read_model),
    "ProCE.load": ("", ProCE.load),
    "write_tables": ("", write_tables),
    "write_figures": ("", write_figures),
}
MAKES_PARENTS = ("save", "run_plan")  # these make the folders that are not there
COMMANDS = {
    "schema": ("schema people.csv --label decision --out", ".json"),
    "discover": ("discover people.csv --label decision --out", ".json"),
    "fit": ("fit people.csv --label decision --model model.skops --graph none --out", ""),
    "explain": ("explain credit three.csv --target yes --out", ".csv"),
    "outcomes": ("explain credit three.csv --target yes --outcomes", ".csv"),
    "receipts": ("explain credit three.csv --target yes --receipts", ""),
    "report": ("report three.json --out", ".html"),
    "benchmark": ("benchmark run --preset smoke --out", ""),
    "tables": ("benchmark tables", ""),
    "figures": ("benchmark figures", ""),
    "explain FOLDER": ("explain three.csv --target yes", ""),
    "report FILE": ("report", ".json"),
    "verify": ("verify --model credit", ".json"),
    "verify MODEL": ("verify three.json --model", ".skops"),
    "plan": ("benchmark run --out new --plan", ".json"),
    "fit MODEL": ("fit people.csv --label decision --graph none --out new --model", ".skops"),
    "fit GRAPH": ("fit people.csv --label decision --model model.skops --out new --graph", ".json"),
    "schema DATA": ("schema", ".csv"),
    "serve TOKENS": ("serve credit --tokens", ""),
    "serve FOLDER": ("serve", ""),
}


TAKEN = {
    ("benchmark", "a parent that is not there"),
    ("receipts", "a folder"),
    ("receipts", "nothing"),
    ("receipts", "the root"),
}


def parallel(bench: Bench, **places: Any) -> Any:
    """Explain nothing: the place is refused before the rows are looked at."""
    return explain_parallel(bench.explainer, [], **places)


@pytest.fixture
def odd_folder(tmp_path: Path) -> Path:
    """Return a folder that holds a folder, a file and a link to itself under several names."""
    for suffix in ("", ".json", ".html", ".csv", ".skops"):
        (tmp_path / f"taken{suffix}" / "inside").mkdir(parents=True)
    (tmp_path / "file").write_text("a file")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    return tmp_path


def with_suffix(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix) if path.name else path


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("name", SAVERS)
def test_a_path_that_cannot_be_written_is_refused(
    name: str, kind: str, bench: Bench, at_desk: Path, odd_folder: Path
) -> None:
    suffix, save = SAVERS[name]
    if kind == "a parent that is not there" and name in MAKES_PARENTS:
        pytest.skip("the folder is made")
    with pytest.raises(ProceError):
        save(bench, with_suffix(PATHS[kind](odd_folder), suffix))


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("name", READERS)
def test_a_path_that_cannot_be_read_is_refused(name: str, kind: str, odd_folder: Path) -> None:
    suffix, read = READERS[name]
    with pytest.raises(ProceError):
        read(with_suffix(PATHS[kind](odd_folder), suffix))


@pytest.mark.parametrize("value", NO_PATHS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", [*SAVERS, *READERS])
def test_what_is_no_path_is_refused(name: str, value: Any, bench: Bench) -> None:
    with pytest.raises(ProceError, match="expected"):
        READERS[name][1](value) if name in READERS else SAVERS[name][1](bench, value)


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_refuses_it_in_one_line(
    name: str,
    kind: str,
    bench: Bench,
    at_desk: Path,
    odd_folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words, suffix = COMMANDS[name]
    if (name, kind) in TAKEN:
        pytest.skip("there it is all right")
    path = with_suffix(PATHS[kind](odd_folder), suffix)
    assert main([*words.split(), str(path)]) == 2
    *_notes, told = capsys.readouterr().err.splitlines()
    assert told.startswith("proce: ")
