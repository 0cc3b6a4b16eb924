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
import fcntl
import hashlib
import json
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from proce.benchmark.plan import Plan, PlanCell
from proce.errors import BenchmarkError, FileError
from proce.files import make_folder, read_text, write_text, writing
from proce.json_reading import parse_json
from proce.methods.calls.method import versions_in_use
from proce.paths import path_of

FORMAT = 1  # of the records of cells
_TABLES = ("metrics.parquet", "counterfactuals.parquet")
_EARLY_NAMES = ("cells", "worlds", "environment.json")  # there before the plan is
_PATIENCE_SECONDS = 5.0  # with a lock: workers of a killed run take a moment to end
_RETRY_SECONDS = 0.05


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan

    @classmethod
    def create(cls, path: str | Path, plan: Plan, *, resume: bool = False) -> "RunFolder":
        """Make the folder of a new run, or resume one with the same plan and versions."""
        path = path_of(path)
        if (path / "plan.json").exists():
            return cls._open_to_resume(path, plan, resume)
        if path.exists() and not path.is_dir():
            raise BenchmarkError(f"{path} is not a folder; give another path.")
        if path.exists() and any(inner.name not in _EARLY_NAMES for inner in path.iterdir()):
            raise BenchmarkError(f"{path} is not empty and holds no run; give another folder.")
        for name in ("cells", "worlds"):
            make_folder(path / name)
        write_text(path / "environment.json", json.dumps(describe_environment(), indent=1))
        write_text(path / "plan.json", plan.to_json())  # the last: with it the folder is a run
        return cls(path, plan)

    @classmethod
    def open(cls, path: str | Path) -> "RunFolder":
        """Open the folder of a run, to make tables and figures of it."""
        path = path_of(path)
        if not (path / "plan.json").is_file():
            raise BenchmarkError(
                f"{path} holds no run (no plan.json); make one with 'proce benchmark run --preset"
                f" smoke --out {path}'."
            )
        try:
            return cls(path, Plan.from_json(read_text(path / "plan.json", "the plan")))
        except BenchmarkError as error:
            raise BenchmarkError(f"{path / 'plan.json'}: {error}") from None

    @classmethod
    def _open_to_resume(cls, path: Path, plan: Plan, resume: bool) -> "RunFolder":
        recorded = cls.open(path)
        if not resume:
            raise BenchmarkError(
                f"{path} holds a run already; add --resume to go on with it, or give another"
                " folder."
            )
        before = _read_record(path / "environment.json")
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
        return recorded

    @contextlib.contextmanager
    def locked(self) -> Iterator[int]:
        """Hold the lock of the run, and yield its file; it ends with those who hold the file.

        The workers of a run that was killed end a moment later, and are waited for.
        """
        path, until = self.path / "run.lock", time.monotonic() + _PATIENCE_SECONDS
        with contextlib.ExitStack() as stack:
            with writing(path):
                lock = stack.enter_context(path.open("w"))
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise BenchmarkError(
                            f"another run is working on {self.path}; wait for it, or give another"
                            " folder."
                        ) from None
                    time.sleep(_RETRY_SECONDS)
            yield lock.fileno()

    def remove_drafts(self) -> None:
        """Remove what an earlier run had not finished writing; only who holds the lock may."""
        for draft in self.path.glob("*/.*"):
            if draft.is_dir():
                shutil.rmtree(draft, ignore_errors=True)
            else:
                draft.unlink(missing_ok=True)

    def is_done(self, cell: PlanCell) -> bool:
        """Return whether a cell is finished; a cell that failed is finished too."""
        return (self.path / "cells" / cell.id / "cell.json").exists()

    def check(self, cell: PlanCell) -> dict[str, Any]:
        """Return the record of a finished cell; refuse one of which a file is gone or damaged."""
        place = self.path / "cells" / cell.id
        record = _read_record(place / "cell.json")
        if record.get("status") not in ("done", "failed"):
            raise _damaged(place / "cell.json", f"its status is {record.get('status')!r}")
        for name in _TABLES if record["status"] == "done" else ():
            _read_table(place / name, pq.read_table)
        return record

    def require_finished(self) -> None:
        """Refuse a run of which cells are missing: its tables would pass over them."""
        missing = [cell.id for cell in self.plan.cells() if not self.is_done(cell)]
        if missing:
            n_cells = sum(1 for _ in self.plan.cells())
            raise BenchmarkError(
                f"{self.path} is not finished: {len(missing):,} of {n_cells:,} cells are missing,"
                f" such as {missing[0]}. Finish it with 'proce benchmark run --resume'."
            )

    def write(
        self,
        cell: PlanCell,
        record: dict[str, Any],
        metrics: pd.DataFrame | None = None,
        counterfactuals: pd.DataFrame | None = None,
    ) -> None:
        """Write a finished cell, whole or not at all; it replaces one that was damaged."""
        final = self.path / "cells" / cell.id
        draft = final.with_name(f".{cell.id}.{os.getpid()}")
        try:
            with writing(final):
                draft.mkdir()
                for name, table in zip(_TABLES, (metrics, counterfactuals), strict=True):
                    if table is not None:
                        with (draft / name).open("wb") as stream:
                            table.to_parquet(stream, index=False)
                text = json.dumps({"format": FORMAT, **record}, indent=1)
                (draft / "cell.json").write_text(text, encoding="utf-8")
                _put_in_place(draft, final)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    def records(self) -> pd.DataFrame:
        """Return one line per finished cell: whether it failed, and how long it took."""
        done = [cell for cell in self.plan.cells() if self.is_done(cell)]
        return pd.DataFrame([_cell_columns(cell) | self.check(cell) for cell in done])

    def environment(self) -> dict[str, Any]:
        """Return what the run was made with: versions, a checksum of the code, hardware."""
        return _read_record(self.path / "environment.json")

    def metrics(self) -> pd.DataFrame:
        """Return one line per measured value, with the cell, the row and the metric it is of."""
        parts = []
        for cell in self.plan.cells():
            if self.is_done(cell) and self.check(cell)["status"] == "done":
                path = self.path / "cells" / cell.id / "metrics.parquet"
                parts.append(_read_table(path, pd.read_parquet).assign(**_cell_columns(cell)))
        if not parts:
            raise BenchmarkError(f"{self.path} holds no finished cell yet; run it first.")
        whole: pd.DataFrame = pd.concat(parts, ignore_index=True)
        return whole


def _put_in_place(draft: Path, final: Path) -> None:
    """Give a folder its name; one of that name goes away, or stays where that fails."""
    if not final.exists():
        draft.rename(final)
        return
    aside = draft.with_name(f"{draft.name}.old")
    final.rename(aside)
    try:
        draft.rename(final)
    except BaseException:
        aside.rename(final)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _read_record(path: Path) -> dict[str, Any]:
    """Read a JSON file of the folder; refuse a damaged one, and one of a later version."""
    try:
        record = parse_json(read_text(path, "the file"))
    except ValueError as error:
        raise _damaged(path, f"it is not JSON ({error})") from None
    except FileError as error:
        raise _damaged(path, str(error).rstrip(".")) from error
    if not isinstance(record, dict):
        raise _damaged(path, "it is not an object")
    if record.get("format", FORMAT) != FORMAT:
        raise BenchmarkError(
            f"{path} has format {record['format']!r}; this version of proce reads {FORMAT}. Use"
            " the version that wrote it, or give another folder."
        )
    return record


def _read_table(path: Path, read: Callable[[Path], Any]) -> Any:
    try:
        return read(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = "it is missing" if not path.exists() else str(error).splitlines()[0].rstrip(".")
        raise _damaged(path, reason) from None


def _damaged(path: Path, reason: str) -> BenchmarkError:
    again = "make the run anew in another folder"
    if path.parent.parent.name == "cells":
        again = "run the same with --resume, which measures this cell again"
    return BenchmarkError(
        f"{path} cannot be used: {reason}. It was changed or is damaged; {again}."
    )


def _cell_columns(cell: PlanCell) -> dict[str, Any]:
    """Return the columns that say which cell a line belongs to."""
    return {
        "dataset": cell.dataset,
        "classifier": cell.classifier,
        "repetition": cell.repetition,
        "variant": cell.variant.name,
    }


_LIBRARIES = (
    "proce",
    "torch",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "numba",
    "causal-learn",
    "dice-ml",
    "pygad",
)


def describe_environment() -> dict[str, Any]:
    """Return versions, a checksum of this package's code, and the hardware, for a JSON file."""
    return {
        "code": code_checksum(),
        "versions": versions_in_use(_LIBRARIES),
        "hardware": {
            "machine": platform.machine(),
            "system": platform.system(),
            "processor": _processor(),
            "cores": os.cpu_count(),
        },
    }


@lru_cache(maxsize=1)
def code_checksum() -> str:
    """Return the SHA-256 over the names and texts of all modules of this package."""
    import proce

    root = Path(proce.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _processor() -> str:
    """Return the name of the processor, as exactly as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
