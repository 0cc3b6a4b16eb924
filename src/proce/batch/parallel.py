"""``explain_parallel``: explain a frame in worker processes."""

import hashlib
import logging
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import narwhals as nw

from proce.arguments import check_count, is_whole
from proce.batch.job import (
    CallTerms,
    ExplainWork,
    GivenExplainer,
    Job,
    SavedExplainer,
    piece_rows,
)
from proce.batch.parts.parts import Parts
from proce.batch.parts.spans import Span
from proce.batch.reading.rows import Chunk
from proce.classifier.adapters.probe import probe_rows
from proce.errors import FileError, ModelError, PersistenceError, SearchError, WorkerError
from proce.explanation import Explanations, Outcome
from proce.files import require_apart, require_place
from proce.methods import Method, ProCE
from proce.methods.calls.explain_options import check_callback
from proce.methods.calls.method import ProgressCallback, check_method
from proce.methods.calls.method import closing as closing_bar
from proce.methods.calls.options import MAX_ROWS_WITH_FRONTS
from proce.paths import path_of
from proce.processes.worker import pickled
from proce.processors import n_usable
from proce.schema import Codec
from proce.schema.frames.frame import open_frame
from proce.schema.matching import only_features

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
    the rest is explained all the same; a model that fails on nearly all rows is given up. Ctrl-C
    ends the workers: what is done is returned, or kept for the next call where there is an
    ``out``.

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
    started = time.monotonic()
    empty = explainer.explain(open_frame(frame)[:0].to_native(), **options)
    features, rows_sum = _checked_frame(empty.context.codec, frame)
    rows = FrameRows(features, chunk_rows or piece_rows(len(features), n_workers))
    call = _call_terms(explainer, empty, rows.count, started, options)
    _learn_once(explainer, options)
    with closing_bar(progress), _sent(explainer) as source:
        job = Job(rows, source, call, empty, n_workers, progress=progress)
        if place is None:
            return _gathered(job, started)
        request = {
            "explainer": _sum_of(explainer, empty),
            "rows": rows_sum,
            "options": call.reported_options,
        }
        with Parts.open(place, request, restart=not resume) as parts:
            if not _kept(job, parts):
                n_done = sum(span.n_rows for span in parts.covered())
                _log.warning("%d of %d rows were reached in time", n_done, rows.count)
                for result in job.unreached(parts.covered(), Outcome.OUT_OF_TIME, _STOPPED):
                    parts.writer.write(result)
            parts.put_together(rows.count, beside)
    return place


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a frame of any library, cut into chunks."""

    frame: Any  # the frame; only the columns of features are sent to workers
    chunk_rows: int  # how many rows a chunk has

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.frame)

    @property
    def labels(self) -> "FrameLabels":
        """What gives explanations their positions; their labels they have from the frame."""
        return FrameLabels()

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows, cut into chunks."""
        opened = nw.from_native(self.frame, eager_only=True)
        for first_row in range(0, max(self.count, 1), self.chunk_rows):
            part = opened[first_row : first_row + self.chunk_rows]
            yield Chunk(first_row, part.to_native())


class FrameLabels:
    """Gives explanations of rows the positions that they have in the whole frame."""

    def labelled(self, result: Explanations, _table: Any, first_row: int) -> Explanations:
        """Count the rows from ``first_row``."""
        return result.counted_from(first_row)

    def naming(self, _first_row: int) -> nullcontext[None]:
        """Leave errors as they are: all cells were read before."""
        return nullcontext()


def _checked_frame(codec: Codec, frame: Any) -> tuple[Any, str]:
    """Return the features of a frame, or say which cell does not fit, and a sum of its rows."""
    features = only_features(codec.schema, frame)
    total = hashlib.sha256(codec.raw_of_frame(features).tobytes())
    index = getattr(frame, "index", None)
    if index is not None:
        total.update(repr(index.tolist()).encode())
    return features, total.hexdigest()


def _kept(job: Job, parts: Parts) -> bool:
    """Explain into parts, all of them or not; say what is kept where Ctrl-C ends it."""
    try:
        return job.keep(parts)
    except KeyboardInterrupt:
        n_done = sum(span.n_rows for span in parts.covered())
        raise KeyboardInterrupt(
            f"interrupted after {n_done:,} of {job.rows.count:,} rows; they are kept in"
            f" {str(parts.folder)!r}: the same call again goes on"
        ) from None


def _gathered(job: Job, started: float) -> Explanations:
    """Return the explanations of all rows in memory, those that were not reached marked."""
    results: list[Explanations] = []
    outcome, reason = Outcome.OUT_OF_TIME, _STOPPED
    try:
        with closing(job.explanations()) as pieces:
            results.extend(pieces)
    except KeyboardInterrupt:
        n_done = sum(map(len, results))
        _log.warning("interrupted: %d of %d rows were finished", n_done, job.rows.count)
    except ModelError as error:
        outcomes = [own.rows.outcome_counts() for own in results]
        if not any(counts.keys() - {Outcome.FAILED} for counts in outcomes):
            raise
        _log.warning("the model was given up: %s", error)
        outcome, reason = Outcome.FAILED, str(error)
    covered = [Span(int(own.rows.positions[0]), len(own)) for own in results if len(own)]
    results += job.unreached(covered, outcome, reason)
    results.sort(key=lambda own: int(own.rows.positions[0]) if len(own) else 0)
    return Explanations.join(results, elapsed_seconds=time.monotonic() - started)


def _call_terms(
    explainer: Method, empty: Explanations, n_rows: int, started: float, options: dict[str, Any]
) -> CallTerms:
    """Return the terms of the whole call for any of its pieces."""
    budget = options.get("budget_seconds")
    own = {name: value for name, value in options.items() if name != "budget_seconds"}
    if isinstance(explainer, ProCE) and own.get("keep_front") is None:
        own["keep_front"] = n_rows <= MAX_ROWS_WITH_FRONTS
    deadline = None if budget is None else started + budget
    return CallTerms(own, empty.provenance.options, deadline)


def _learn_once(explainer: Method, options: dict[str, Any]) -> None:
    """Learn here what every worker would learn again: what is typical of the classes."""
    if isinstance(explainer, ProCE) and options.get("pick") == "typical":
        explainer.fitted_.learn_looks()


@contextmanager
def _sent(explainer: Method) -> Iterator[GivenExplainer | SavedExplainer]:
    """Yield what workers have the explainer from: itself, or a folder where it has no copies."""
    given = GivenExplainer(explainer)
    try:
        pickled(ExplainWork(given, CallTerms({}), FrameLabels()))
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


def _sum_of(explainer: Method, empty: Explanations) -> str:
    """Return a sum of what the answers depend on: the explainer, its model, the versions."""
    provenance, context = empty.provenance, empty.context
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
    total = hashlib.sha256(repr(told).encode())
    fitted: Any = getattr(explainer, "fitted_", None) or getattr(explainer, "common_", None)
    if fitted is not None:
        sample = fitted.classifier.predict_proba(probe_rows(context.codec))
        total.update(sample.tobytes())
    return total.hexdigest()
