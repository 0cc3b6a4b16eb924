"""The job of ``proce explain`` on this machine: in this process, or in workers."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from proce.batch.job import (
    CallTerms,
    GivenExplainer,
    Job,
    ReceiptWriter,
    SavedExplainer,
    piece_rows,
)
from proce.batch.reading.rows import Rows
from proce.cli.console import InterruptWatch, ProgressBars
from proce.explanation import Explanations
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
) -> Job:
    """Return the job."""
    writer = None if receipts is None else ReceiptWriter(receipts, ModelFile.of(folder))
    nothing = next(rows.chunks()).table.slice(0, 0)
    empty = explainer.explain(nothing, **options).seen_by(view)
    call = CallTerms(options, empty.provenance.options, view=view)
    if n_workers > 1:
        pieces = replace(rows, chunk_rows=piece_rows(rows.count, n_workers))
        saved = SavedExplainer(folder.absolute())
        return Job(pieces, saved, call, empty, n_workers, writer, progress)

    def on_result(result: Explanations) -> None:
        watch.raise_if_interrupted()  # an interrupted call returns only what it has so far
        if writer is not None:
            writer(result)

    return Job(rows, GivenExplainer(explainer), call, empty, None, on_result, progress)
