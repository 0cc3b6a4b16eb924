"""The job of ``proce explain`` on this machine: in this process, or in workers."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from proce.batch.in_process import InProcessJob
from proce.batch.parallel.running import ParallelJob, piece_rows
from proce.batch.parallel.work import CallTerms, SavedExplainer
from proce.batch.reading.rows import Rows
from proce.batch.receipts import ReceiptWriter
from proce.cli.console import InterruptWatch, ProgressBars
from proce.explanation import Explanations, Outcome, unanswered
from proce.explanation.receipts import ModelFile
from proce.explanation.record.view import View
from proce.methods import ProCE


def local_job(
    explainer: ProCE,
    folder: Path,
    rows: Rows,
    options: Mapping[str, Any],
    view: View,
    *,
    n_workers: int,
    receipts: Path | None,
    watch: InterruptWatch,
    progress: ProgressBars,
) -> InProcessJob | ParallelJob:
    """Return the job."""
    also = None if receipts is None else ReceiptWriter(receipts, ModelFile.of(folder))
    if n_workers == 1:

        def explain(table: Any, report: Any) -> Explanations:
            result = explainer.explain(table, progress=report, **options)
            watch.raise_if_interrupted()  # an interrupted call returns only what it has so far
            return result.seen_by(view)

        def give_up(table: Any, reason: str) -> Explanations:
            like = explainer.explain(table.slice(0, 0), **options)
            return unanswered(like, table, Outcome.FAILED, reason).seen_by(view)

        return InProcessJob(rows, explain, give_up, also, progress)
    nothing = next(rows.chunks()).table.slice(0, 0)
    like = explainer.explain(nothing, **options).seen_by(view)
    call = CallTerms(options, like.provenance.options, view=view)
    pieces = replace(rows, chunk_rows=piece_rows(rows.count, n_workers))
    saved = SavedExplainer(folder.absolute())
    return ParallelJob(pieces, saved, call, like, n_workers, also, progress)
