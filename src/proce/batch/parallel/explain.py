"""``explain_parallel``: explain a frame in worker processes."""

import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proce.arguments import check_count, is_whole
from proce.batch.parallel.frame_rows import CountRows, FrameRows, checked_frame, no_rows
from proce.batch.parallel.running import ParallelJob, piece_rows
from proce.batch.parallel.work import CallTerms, ExplainWork, GivenExplainer, SavedExplainer
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span
from proce.classifier.adapters.probe import probe_rows
from proce.errors import FileError, PersistenceError, SearchError, WorkerError
from proce.explanation import Explanations
from proce.files import require_apart, require_place
from proce.methods import Method, ProCE
from proce.methods.calls.explain_options import check_callback
from proce.methods.calls.method import ProgressCallback, check_method
from proce.methods.calls.method import closing as closing_bar
from proce.methods.calls.options import MAX_ROWS_WITH_FRONTS
from proce.paths import path_of
from proce.processes.worker import pickled
from proce.processors import n_usable

_log = logging.getLogger("proce.batch")
_SUFFIXES = (".parquet", ".csv", ".json")
_STOPPED = "The call ended before this row was reached."


def explain_parallel(
    explainer: Method,
    frame: Any,
    *,
    n_jobs: int | None = None,
    out: str | Path | None = None,
    outcomes: str | Path | None = None,
    resume: bool = True,
    chunk_rows: int | None = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> Explanations | Path:
    """Explain the rows of a frame in worker processes; each row gets the answer of ``explain``.

    A row on which the model ends its process, or raises an error, has the outcome ``failed``, and
    the rest is explained all the same. Ctrl-C ends the workers: what is done is returned, or kept
    for the next call where there is an ``out``.

    Parameters
    ----------
    explainer
        A fitted explainer. Each worker gets a copy, or loads it where it cannot be copied.
    frame
        The rows, a frame of any library.
    n_jobs
        How many processes, of one thread each; ``None`` or -1 for one for each core.
    out
        A ``.parquet``, ``.csv`` or ``.json`` file to write. Finished rows are kept in a folder
        beside it until all are done, so memory does not grow with the number of rows explained.
        A ``budget_seconds`` that runs out ends it too: rows that were not reached are
        ``out_of_time`` in ``outcomes``.
    outcomes
        With ``out``, a ``.parquet`` or ``.csv`` file with a line for each row, found or not.
    resume
        Whether to go on with what an interrupted call has kept for ``out``; else it is discarded.
        What was kept for other rows, options or another explainer is refused. A model is known by
        its answers to a sample of rows: after a change that these do not show, say False.
    chunk_rows
        How many rows a worker explains at a time. The answers do not depend on it.
    progress
        A function that is called with a ``Progress``; the call ends where it returns False.
    **options
        The options of the explainer's ``explain``.

    Returns
    -------
    Explanations | Path
        The explanations, or ``out`` where it is given.
    """
    check_method(explainer)
    check_callback(progress)
    n_workers = _n_workers(n_jobs)
    if chunk_rows is not None:
        check_count("chunk_rows", chunk_rows, SearchError)
    if not isinstance(resume, bool):
        raise SearchError(f"resume is {resume!r}; expected True or False.")
    place = None if out is None else _checked_place(out, "out", _SUFFIXES)
    beside = None if outcomes is None else _checked_place(outcomes, "outcomes", _SUFFIXES[:2])
    if beside is not None and place is None:
        raise FileError("outcomes= needs out=; without a file, ask the result for .outcomes().")
    if beside is not None:
        require_apart(beside, "outcomes", {"out": place})
    started, like = time.monotonic(), explainer.explain(no_rows(frame), **options)
    features, rows_sum = checked_frame(like.context.codec, frame)
    rows = FrameRows(features, chunk_rows or piece_rows(len(features), n_workers))
    call = _call_terms(explainer, like, rows.count, started, options)
    _learn_once(explainer, options)
    with closing_bar(progress), _sent(explainer) as source:
        job = ParallelJob(rows, source, call, like, n_workers, progress=progress)
        if place is None:
            return _gathered(job, started)
        request = {"explainer": _sum_of(explainer, like), "rows": rows_sum, "options": call.told}
        with Parts.open(place, request, restart=not resume) as parts:
            if not _kept(job, parts):
                n_done = sum(span.n_rows for span in parts.covered())
                _log.warning("%d of %d rows were reached in time", n_done, rows.count)
                for result in job.unreached(parts.covered(), _STOPPED):
                    parts.writer.write(result)
            parts.put_together(rows.count, beside)
    return place


def _kept(job: ParallelJob, parts: Parts) -> bool:
    """Explain into parts, all of them or not; say what is kept where Ctrl-C ends it."""
    try:
        return job.keep(parts)
    except KeyboardInterrupt:
        n_done = sum(span.n_rows for span in parts.covered())
        raise KeyboardInterrupt(
            f"interrupted after {n_done:,} of {job.rows.count:,} rows; they are kept in"
            f" {str(parts.folder)!r}: the same call again goes on"
        ) from None


def _gathered(job: ParallelJob, started: float) -> Explanations:
    """Return the explanations of all rows in memory, those that were not reached marked."""
    results: list[Explanations] = []
    try:
        with closing(job.explanations()) as pieces:
            results.extend(pieces)
    except KeyboardInterrupt:
        n_done = sum(map(len, results))
        _log.warning("interrupted: %d of %d rows were finished", n_done, job.rows.count)
    covered = [Span(int(own.rows.positions[0]), len(own)) for own in results if len(own)]
    results += job.unreached(covered, _STOPPED)
    results.sort(key=lambda own: int(own.rows.positions[0]) if len(own) else 0)
    return Explanations.join(results, elapsed_seconds=time.monotonic() - started)


def _call_terms(
    explainer: Method, like: Explanations, n_rows: int, started: float, options: dict[str, Any]
) -> CallTerms:
    """Return the terms of the whole call for any of its pieces."""
    budget = options.get("budget_seconds")
    own = {name: value for name, value in options.items() if name != "budget_seconds"}
    if isinstance(explainer, ProCE) and own.get("keep_front") is None:
        own["keep_front"] = n_rows <= MAX_ROWS_WITH_FRONTS
    deadline = None if budget is None else started + budget
    return CallTerms(own, like.provenance.options, deadline)


def _learn_once(explainer: Method, options: dict[str, Any]) -> None:
    """Learn here what every worker would learn again: what is typical of the classes."""
    if isinstance(explainer, ProCE) and options.get("pick") == "typical":
        explainer.fitted_.learn_looks()


@contextmanager
def _sent(explainer: Method) -> Iterator[GivenExplainer | SavedExplainer]:
    """Yield what workers have the explainer from: itself, or a folder where it has no copies."""
    given = GivenExplainer(explainer)
    try:
        pickled(ExplainWork(given, CallTerms({}), CountRows()))
    except WorkerError as error:
        with TemporaryDirectory(prefix="proce-") as folder:
            try:
                if not isinstance(explainer, ProCE):
                    raise error
                explainer.save(Path(folder) / "explainer")
                saved = SavedExplainer(Path(folder) / "explainer")
                saved.load()
            except (PersistenceError, WorkerError):
                raise error from None
            yield saved
    else:
        yield given


def _n_workers(n_jobs: int | None) -> int:
    if n_jobs is None or (is_whole(n_jobs) and n_jobs == -1):
        return n_usable()
    check_count("n_jobs", n_jobs, SearchError)
    return n_jobs


def _checked_place(path: str | Path, option: str, suffixes: tuple[str, ...]) -> Path:
    place = path_of(path, option)
    if place.suffix not in suffixes:
        raise FileError(
            f"{option} is {str(path)!r}; expected a name that ends in {', '.join(suffixes)}."
        )
    require_place(place, option)
    return place


def _sum_of(explainer: Method, like: Explanations) -> str:
    """Return a sum of what the answers depend on: the explainer, its model, the versions."""
    provenance, context = like.provenance, like.context
    told = (
        provenance.versions,
        provenance.method,
        provenance.seed,
        provenance.settings,
        provenance.mode,
        provenance.training_hash,
        context.codec.schema.to_json(),
        context.edges,
        context.rules,
    )
    total = sha256(repr(told).encode())
    fitted: Any = getattr(explainer, "fitted_", None) or getattr(explainer, "common_", None)
    if fitted is not None:
        sample = fitted.classifier.predict_proba(probe_rows(context.codec))
        total.update(sample.tobytes())
    return total.hexdigest()
