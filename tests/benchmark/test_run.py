"""Runs: what they leave behind, and what they survive."""

import json
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

from proce.benchmark import Plan, RunFolder, Variant, run_plan
from proce.benchmark import folder as folder_module
from proce.benchmark.measuring import run
from proce.benchmark.measuring.run import RunProgress
from proce.benchmark.reporting.figures import write_figures
from proce.benchmark.reporting.summary import summarise
from proce.benchmark.reporting.tables import write_tables
from proce.cli.main import main
from proce.errors import BenchmarkError, FileError

from ..failing_disk import BROKEN, FULL, READ_ONLY, FailingDisk, use


@pytest.fixture
def copied(small_run: RunFolder, tmp_path: Path) -> RunFolder:
    shutil.copytree(small_run.path, tmp_path / "copy")
    return RunFolder.open(tmp_path / "copy")


def test_a_finished_run_holds_everything(small_run: RunFolder, small_plan: Plan) -> None:
    assert RunFolder.open(small_run.path).plan == small_plan
    records = small_run.records()
    assert records["status"].tolist() == ["failed"] + ["done"] * 3
    assert (records["seconds_per_row"][1:] > 0).all()
    metrics = small_run.metrics()
    assert set(metrics["variant"]) == {"ProCE", "Nearest", "Nearest, rules"}
    valid = metrics[metrics["metric"] == "target_class_validity"]
    assert len(valid) == 3 * 4
    environment = json.loads((small_run.path / "environment.json").read_text())
    assert len(environment["code"]) == 64
    assert environment["hardware"]["cores"] >= 1
    (world,) = (small_run.path / "worlds").iterdir()
    record = json.loads(world.read_text())
    assert len(record["data_sha256"]) == 64
    assert len(record["factual_rows"]) == 4


def test_counterfactuals_are_recorded_and_have_the_target(small_run: RunFolder) -> None:
    cell = next(cell for cell in small_run.plan.cells() if cell.variant.name == "Nearest")
    path = small_run.path / "cells" / cell.id / "counterfactuals.parquet"
    rows = pd.read_parquet(path)
    assert len(rows) == 4
    assert rows["row"].tolist() == [0, 1, 2, 3]


def test_nothing_is_run_twice(copied: RunFolder, small_plan: Plan) -> None:
    reports: list[RunProgress] = []
    times = {path: path.stat().st_mtime_ns for path in (copied.path / "cells").iterdir()}
    assert len(times) == 4
    run_plan(small_plan, copied.path, jobs=1, resume=True, progress=reports.append)
    assert reports == []
    assert {path: path.stat().st_mtime_ns for path in (copied.path / "cells").iterdir()} == times


@pytest.mark.slow
def test_a_lost_cell_is_run_again_and_gives_the_same(copied: RunFolder, small_plan: Plan) -> None:
    cell = next(cell for cell in small_plan.cells() if cell.variant.name == "Nearest")
    path = copied.path / "cells" / cell.id
    before = pd.read_parquet(path / "metrics.parquet")
    assert len(before)
    shutil.rmtree(path)
    (copied.path / "cells" / ".half-written").mkdir()
    run_plan(small_plan, copied.path, jobs=1, resume=True)
    pd.testing.assert_frame_equal(pd.read_parquet(path / "metrics.parquet"), before)
    assert not (copied.path / "cells" / ".half-written").exists()


def test_a_method_that_fails_costs_its_cell_alone(
    small_run: RunFolder, reports: list[RunProgress]
) -> None:
    records = small_run.records().set_index("variant")
    assert records.loc["broken", "status"] == "failed"
    assert "nonsense" in records.loc["broken", "error"]
    assert records.loc["Nearest", "status"] == "done"
    assert [(report.done, report.total, report.failed) for report in reports] == [
        (1, 4, 1),
        (2, 4, 1),
        (3, 4, 1),
        (4, 4, 1),
    ]


def test_another_plan_or_version_is_refused_with_the_difference(
    copied: RunFolder, small_plan: Plan
) -> None:
    with pytest.raises(BenchmarkError, match=r"add --resume"):
        run_plan(small_plan, copied.path)
    with pytest.raises(BenchmarkError, match="rows: 4 here, 5 asked for"):
        run_plan(replace(small_plan, rows=5), copied.path, resume=True)
    path = copied.path / "environment.json"
    record = json.loads(path.read_text()) | {"code": "0" * 64}
    path.write_text(json.dumps(record))
    with pytest.raises(BenchmarkError, match="code: 0000"):
        run_plan(small_plan, copied.path, resume=True)


def test_two_runs_on_one_folder_are_one_too_many(
    copied: RunFolder, small_plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "_PATIENCE_SECONDS", 0.1)
    with copied.locked(), pytest.raises(BenchmarkError, match="another run is working"):
        run_plan(small_plan, copied.path, resume=True)


@pytest.mark.parametrize("with_old", [True, False])
@pytest.mark.parametrize("code", [FULL, BROKEN, READ_ONLY])
def test_whichever_write_of_a_cell_fails_it_is_old_or_new(
    copied: RunFolder, code: int, with_old: bool
) -> None:
    cell = next(iter(copied.plan.cells()))
    final = copied.path / "cells" / cell.id
    old, table = copied.check(cell), pd.DataFrame({"a": [1]})
    for number in range(1, 100):
        shutil.rmtree(final, ignore_errors=True)
        if with_old:
            copied.write(cell, old)
        with use(FailingDisk(copied.path, number, code)) as disk, suppress(FileError):
            copied.write(cell, {"status": "done"}, table, table)
        if not disk.failed:
            assert number > 8
            return
        assert copied.is_done(cell) or not with_old
        if copied.is_done(cell):
            assert copied.check(cell)["status"] in ("failed", "done")
        if not disk.done[number - 1].startswith(("unlink", "rmdir")):
            assert not [p for p in (copied.path / "cells").iterdir() if p.name.startswith(".")]
    raise AssertionError("the cell was never written")


@pytest.mark.parametrize("code", [FULL, BROKEN, READ_ONLY])
def test_whichever_write_of_a_new_run_fails_it_can_be_begun_again(
    small_plan: Plan, tmp_path: Path, code: int
) -> None:
    for number in range(1, 100):
        path = tmp_path / str(number)
        with use(FailingDisk(path, number, code)) as disk, suppress(FileError):
            RunFolder.create(path, small_plan)
        if not disk.failed:
            assert number > 8
            return
        assert RunFolder.create(path, small_plan).plan == small_plan
        assert not [inner for inner in path.rglob("*") if inner.name.startswith(".")]
    raise AssertionError("the run was never begun")


DAMAGES = {
    "gone": lambda content: None,
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "no text": lambda content: b"\xff\xfe" + content,
    "another thing": lambda content: b"[1, 2]",
    "deep": lambda content: b"[" * 100_000,
}


def damage(path: Path, kind: str) -> None:
    content = DAMAGES[kind](path.read_bytes())
    path.unlink()
    if content is not None:
        path.write_bytes(content)


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("name", ["cell.json", "metrics.parquet", "counterfactuals.parquet"])
def test_a_cell_that_lost_something_is_named_and_run_again(
    copied: RunFolder,
    small_plan: Plan,
    name: str,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cell = list(copied.plan.cells())[1]
    path = copied.path / "cells" / cell.id / name
    damage(path, kind)
    gone = (name, kind) == ("cell.json", "gone")
    with pytest.raises(BenchmarkError, match=f"{cell.id}.*--resume"):
        summarise(copied)
    again: list[Any] = []
    monkeypatch.setattr(run, "_PlanRun", lambda folder, worlds, *_: again.extend(worlds) or Mock())
    run_plan(small_plan, copied.path, resume=True)
    assert [[cell.id for cell in world] for world in again] == [[cell.id]]
    assert (str(path) in caplog.text) != gone
    copied.write(cell, {"status": "failed", "error": "still"})
    assert copied.check(cell)["status"] == "failed"


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.parametrize("name", ["environment.json", "plan.json"])
def test_a_damaged_file_of_the_run_is_named_in_one_line(
    copied: RunFolder,
    small_plan: Plan,
    tmp_path: Path,
    name: str,
    kind: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(small_plan.to_json())
    damage(copied.path / name, kind)
    words = ["--plan", str(plan), "--out", str(copied.path), "--resume"]
    assert main(["benchmark", "run", *words]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(copied.path / name) in told or (name, kind) == ("plan.json", "gone")


def test_a_run_that_is_not_finished_or_of_a_later_version_has_no_tables(
    copied: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, *_ = copied.plan.cells()
    path = copied.path / "cells" / first.id / "cell.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 2}))
    for command in ("tables", "figures"):
        assert main(["benchmark", command, str(copied.path)]) == 2
        assert f"{path} has format 2" in capsys.readouterr().err
    shutil.rmtree(copied.path / "cells" / second.id)
    for command in ("tables", "figures"):
        assert main(["benchmark", command, str(copied.path)]) == 2
        assert f"{copied.path} is not finished: 1 of 4 cells" in capsys.readouterr().err


@pytest.mark.parametrize(
    "write", [write_tables, pytest.param(write_figures, marks=pytest.mark.slow)]
)
def test_whichever_write_of_tables_and_figures_fails_each_is_old_or_new(
    copied: RunFolder, write: Callable[[Path], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = summarise(copied)
    monkeypatch.setattr(f"{write.__module__}.summarise", lambda folder: summary)
    whole = {path: path.read_bytes() for path in write(copied.path)}
    for number in range(1, 300, 1 if write is write_tables else 7):
        for path in whole:
            path.write_bytes(b"old")
        with use(FailingDisk(copied.path, number)) as disk, suppress(FileError):
            write(copied.path)
        now = {path: path.read_bytes() for path in whole}
        assert all(now[path] in (b"old", content) for path, content in whole.items())
        assert {*next(iter(whole)).parent.iterdir()} == {*whole}
        if not disk.failed:
            return
    raise AssertionError("they were never written")


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, small_plan: Plan) -> None:
    with pytest.raises(BenchmarkError, match="holds no run"):
        RunFolder.open(tmp_path)
    (tmp_path / "thesis.txt").write_text("do not lose me")
    with pytest.raises(BenchmarkError, match="not empty"):
        run_plan(small_plan, tmp_path)


def test_a_missing_extra_is_named(
    tmp_path: Path, small_plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dice_ml", None)  # as if it were not installed
    plan = replace(small_plan, variants=(Variant(name="DiCE", method="Dice"),))
    with pytest.raises(ImportError, match=r"pip install 'proce\[bench\]'"):
        run_plan(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()
