"""A run on disk: the plan, the environment, and a folder for every finished cell.

::

    plan.json          what is measured
    environment.json   versions, code, hardware
    worlds/*.json      split, classifier and data of each world
    cells/<id>/        cell.json, metrics.parquet, counterfactuals.parquet
    run.lock           held while a run works here

A cell's folder is written under another name and moved into place: it is whole or not there.
"""

import contextlib
import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from proce.benchmark.environment import describe_environment
from proce.benchmark.plan import Plan, PlanCell
from proce.errors import BenchmarkError
from proce.files import write_text


class RunFolder:
    """The folder of one run.

    Parameters
    ----------
    path
        The folder; :meth:`create` and :meth:`open` check what is in it.
    plan
        The plan of the run.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan

    @classmethod
    def create(cls, path: str | Path, plan: Plan, *, resume: bool = False) -> "RunFolder":
        """Make the folder of a new run, or resume one with the same plan and versions."""
        path = Path(path)
        if (path / "plan.json").exists():
            return cls._open_to_resume(path, plan, resume)
        if path.exists() and any(path.iterdir()):
            raise BenchmarkError(f"{path} is not empty and holds no run; give another folder.")
        try:
            for name in ("cells", "worlds"):
                (path / name).mkdir(parents=True, exist_ok=True)
            write_text(path / "environment.json", json.dumps(describe_environment(), indent=1))
            write_text(path / "plan.json", plan.to_json())
        except OSError as error:
            raise BenchmarkError(f"{path} cannot be written: {error.strerror}.") from None
        return cls(path, plan)

    @classmethod
    def open(cls, path: str | Path) -> "RunFolder":
        """Open the folder of a run, to make tables and figures of it."""
        path = Path(path)
        if not (path / "plan.json").is_file():
            raise BenchmarkError(
                f"{path} holds no run (no plan.json); make one with 'proce benchmark run --preset"
                f" smoke --out {path}'."
            )
        return cls(path, Plan.from_json((path / "plan.json").read_text(encoding="utf-8")))

    @classmethod
    def _open_to_resume(cls, path: Path, plan: Plan, resume: bool) -> "RunFolder":
        recorded = cls.open(path)
        if not resume:
            raise BenchmarkError(
                f"{path} holds a run already; add --resume to go on with it, or give another"
                " folder."
            )
        before = json.loads((path / "environment.json").read_text(encoding="utf-8"))
        now = describe_environment()
        differences = recorded.plan.difference(plan) + [
            f"{name}: {before.get(name)} here, {now[name]} now"
            for name in ("code", "versions")
            if before.get(name) != now[name]
        ]
        if differences:
            raise BenchmarkError(
                f"{path} holds another run; these differ: " + "; ".join(differences) + ". Results"
                " of both would not be comparable; give another folder."
            )
        for unfinished in (path / "cells").glob(".*"):
            shutil.rmtree(unfinished, ignore_errors=True)
        return recorded

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the run; it is released when the process ends, however it ends."""
        with (self.path / "run.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BenchmarkError(
                    f"another run is working on {self.path}; wait for it, or give another folder."
                ) from None
            yield

    def is_done(self, cell: PlanCell) -> bool:
        """Return whether a cell is finished; a cell that failed is finished too."""
        return (self.path / "cells" / cell.id / "cell.json").exists()

    def write(
        self,
        cell: PlanCell,
        record: dict[str, Any],
        metrics: pd.DataFrame | None = None,
        counterfactuals: pd.DataFrame | None = None,
    ) -> None:
        """Write a finished cell, whole or not at all."""
        final = self.path / "cells" / cell.id
        draft = final.with_name(f".{cell.id}.{os.getpid()}")
        try:
            draft.mkdir()
            if metrics is not None:
                metrics.to_parquet(draft / "metrics.parquet", index=False)
            if counterfactuals is not None:
                counterfactuals.to_parquet(draft / "counterfactuals.parquet", index=False)
            (draft / "cell.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
            draft.rename(final)
        except OSError as error:
            shutil.rmtree(draft, ignore_errors=True)
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise BenchmarkError(
                    f"the disk of {self.path} is full; what is there is whole. Free some space and"
                    " go on with --resume."
                ) from None
            raise

    def records(self) -> pd.DataFrame:
        """Return one line per finished cell: whether it failed, and how long it took."""
        rows = []
        for cell in self.plan.cells():
            if self.is_done(cell):
                path = self.path / "cells" / cell.id / "cell.json"
                rows.append(_cell_columns(cell) | json.loads(path.read_text(encoding="utf-8")))
        return pd.DataFrame(rows)

    def metrics(self) -> pd.DataFrame:
        """Return one line per measured value, with the cell, the row and the metric it is of."""
        parts = []
        for cell in self.plan.cells():
            path = self.path / "cells" / cell.id / "metrics.parquet"
            if path.exists():
                parts.append(pd.read_parquet(path).assign(**_cell_columns(cell)))
        if not parts:
            raise BenchmarkError(f"{self.path} holds no finished cell yet; run it first.")
        return pd.concat(parts, ignore_index=True)


def _cell_columns(cell: PlanCell) -> dict[str, Any]:
    """Return the columns that say which cell a line belongs to."""
    return {
        "dataset": cell.dataset,
        "classifier": cell.classifier,
        "repetition": cell.repetition,
        "variant": cell.variant.name,
    }
