"""Run a plan on a cluster: explain the pieces that have no part yet."""

import errno
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from proce.batch.cluster.futures import run_tasks
from proce.batch.cluster.inputs import FileSlice
from proce.batch.cluster.outputs import close_output, open_output, require_current
from proce.batch.cluster.plan import Plan
from proce.batch.cluster.store import Store
from proce.batch.cluster.task import PieceReport
from proce.batch.tables import NO_ROWS, Summary, read_summary
from proce.errors import FileError
from proce.methods import Progress

_N_THREADS = 16  # that read what finished parts say


@dataclass
class RunSummary:
    """How a run ended."""

    rows: Summary = NO_ROWS  # how many rows ended how
    failures: dict[str, str] = field(default_factory=dict)  # why files are not done, by name
    n_done_before: int = 0  # how many rows an earlier run had done

    def add(self, piece: FileSlice, report: PieceReport) -> None:
        """Count a piece."""
        if report.failure is not None:
            self.failures.setdefault(piece.file, report.failure)
        else:
            self.rows += report.summary


def run_plan(
    plan: Plan, client: Any, progress: Callable[[Progress], object] | None = None
) -> RunSummary:
    """Explain the pieces that have no part yet; what cannot be done is told in the summary."""
    names = [piece.part for piece in plan.pieces]
    opened = []
    for store, marker in plan.outputs():
        parts = open_output(store, marker, plan.restart)
        require_current(store, marker, parts, names)
        opened.append(parts)
    done = set.intersection(*opened)
    summary = RunSummary(failures=dict(plan.failures))
    finished = [piece for piece in plan.pieces if piece.part in done]
    summary.rows = sum(_summaries(plan.assignment.out, finished), summary.rows)
    summary.n_done_before = sum(piece.n_rows for piece in finished)
    left = [piece for piece in plan.pieces if piece.part not in done]
    n_done = summary.n_done_before
    for piece, report in run_tasks(client, plan.payload, plan.assignment, left):
        if report.cannot_write:
            told = FileError(
                f"{report.failure}: the part of {piece.description} cannot be written. Finished"
                " parts are kept; make room, then run the same command again."
            )
            told.errno = errno.EIO  # it is the store's fault, whatever its own number
            raise told
        summary.add(piece, report)
        n_done += piece.n_rows
        if progress is not None:
            progress(Progress("search", n_done, plan.n_rows))
    if not summary.failures:
        for store, marker in plan.outputs():
            close_output(store, marker, names)
    return summary


def _summaries(out: Store, finished: Sequence[FileSlice]) -> list[Summary]:
    def read(piece: FileSlice) -> Summary:
        with out.reading(piece.part) as (stream, _):
            return read_summary(stream)

    with ThreadPoolExecutor(_N_THREADS) as threads:
        return list(threads.map(read, finished))
