"""Runs: what they leave behind, and what they survive."""

import errno
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from proce.benchmark import Plan, RunFolder, Variant, run_plan
from proce.benchmark.run import RunProgress
from proce.errors import BenchmarkError


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


def test_two_runs_on_one_folder_are_one_too_many(copied: RunFolder, small_plan: Plan) -> None:
    with copied.locked(), pytest.raises(BenchmarkError, match="another run is working"):
        run_plan(small_plan, copied.path, resume=True)


def test_a_full_disk_leaves_nothing_half_written(
    copied: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    cell = next(iter(copied.plan.cells()))
    shutil.rmtree(copied.path / "cells" / cell.id)
    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    with pytest.raises(BenchmarkError, match="is full"):
        copied.write(cell, {"status": "done"}, pd.DataFrame({"a": [1]}))
    assert not copied.is_done(cell)
    assert not [p for p in (copied.path / "cells").iterdir() if p.name.startswith(".")]


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
