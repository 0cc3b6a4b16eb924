"""Run a task for every piece on a cluster, so many at a time, whatever dies in between."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from proce.batch.cluster.explainer_payload import ExplainerPayload
from proce.batch.cluster.inputs import FileSlice
from proce.batch.cluster.task import Assignment, PieceReport, explain_piece
from proce.errors import WorkerError

_POLL_SECONDS = 0.05
_LOOK_SECONDS = 1.0  # between two looks at how many threads the cluster has
_TASKS_PER_THREAD = 2  # in flight, so that no thread waits for work
_MIN_IN_FLIGHT, _MAX_IN_FLIGHT = 4, 2_000
_MAX_ATTEMPTS = 3  # at a piece whose workers died; Dask itself tries each attempt several times
_ANSWER_SECONDS = 30  # for the scheduler to answer a question
_MAX_FETCHES = 5  # of a report that does not come, before the attempt counts as lost
_MAX_IDLE_SECONDS = 600.0  # without any worker


@dataclass
class _Attempt:
    """A piece on its way: which attempt at it this is, and how often its report did not come."""

    piece: FileSlice
    number: int
    future: Any
    n_fetches: int = 0


def run_tasks(
    client: Any,
    payload: ExplainerPayload,
    assignment: Assignment,
    pieces: Sequence[FileSlice],
    *,
    max_idle_seconds: float = _MAX_IDLE_SECONDS,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[FileSlice, PieceReport]]:
    """Yield how each piece went, in the order in which they end.

    What is in flight is cancelled where the caller stops early, on Ctrl-C for example.
    """
    run = uuid4().hex[:8]
    waiting = [(piece, 1) for piece in reversed(pieces)]
    in_flight: list[_Attempt] = []
    sent = _submit(client, _same, payload, key=f"proce-explainer-{run}")
    n_threads, last_look, last_worker = 0, float("-inf"), now()
    try:
        while waiting or in_flight:
            if now() - last_look > _LOOK_SECONDS:
                n_threads, last_look = _count_threads(client), now()
                last_worker = last_look if n_threads else last_worker
            _require_cluster(client, now() - last_worker, max_idle_seconds)
            room = min(max(_TASKS_PER_THREAD * n_threads, _MIN_IN_FLIGHT), _MAX_IN_FLIGHT)
            while waiting and len(in_flight) < room:
                piece, number = waiting.pop()
                key = f"proce-{run}-{number}-{piece.part}"
                future = _submit(client, explain_piece, sent, assignment, piece, key=key)
                in_flight.append(_Attempt(piece, number, future))
            ended = [attempt for attempt in in_flight if attempt.future.status != "pending"]
            for attempt in ended:
                try:
                    report = _report(attempt)
                except TimeoutError:
                    continue  # its worker died with the report; Dask does the piece again
                in_flight.remove(attempt)
                if report is not None:
                    yield attempt.piece, report
                    continue
                if sent.status not in ("pending", "finished"):
                    sent = _submit(client, _same, payload, key=f"proce-explainer-{uuid4().hex[:8]}")
                waiting.append((attempt.piece, attempt.number + 1))
            if not ended:
                time.sleep(_POLL_SECONDS)
    finally:
        if in_flight and _is_open(client):
            client.cancel([attempt.future for attempt in in_flight], force=True)


def _same(payload: ExplainerPayload) -> ExplainerPayload:
    """Return the explainer: a task can be run again where the worker that held it died."""
    return payload


def _submit(client: Any, function: Callable[..., Any], *arguments: Any, key: str) -> Any:
    with warnings.catch_warnings():
        # Dask warns of large tasks; the one with the explainer is sent once.
        warnings.filterwarnings("ignore", message=r"(?s).*large graph", category=UserWarning)
        return client.submit(function, *arguments, key=key, pure=False)


def _report(attempt: _Attempt) -> PieceReport | None:
    """Return how an attempt ended, or ``None`` where it was lost and there shall be another."""
    from distributed.scheduler import KilledWorker

    future, piece = attempt.future, attempt.piece
    error: BaseException | None = None
    try:
        if future.status == "finished":
            report: PieceReport = future.result(timeout=_ANSWER_SECONDS)
            return report
        if future.status == "error":
            error = future.exception(timeout=_ANSWER_SECONDS)
    except TimeoutError:
        attempt.n_fetches += 1
        if attempt.n_fetches < _MAX_FETCHES:
            raise
    except (CancelledError, KilledWorker) as lost:  # since its status was asked for
        error = lost
    is_lost = error is None or isinstance(error, CancelledError | KilledWorker)
    if is_lost and attempt.number < _MAX_ATTEMPTS:
        return None
    if is_lost:
        failure = (
            f"the worker processes died whenever they worked on {piece.description}; the model ends"
            " its process on one of these rows, or there is too little memory. To find the row,"
            " explain the file with --workers 2 and without --engine."
        )
    else:
        lines = str(error).strip().splitlines() or ["no message"]
        failure = f"{type(error).__name__}: {lines[0]}"
    return PieceReport(piece.n_rows, failure=failure)


def _is_open(client: Any) -> bool:
    return bool(client.status == "running")


def _count_threads(client: Any) -> int:
    """Return how many threads all workers have; 0 where the scheduler does not say."""
    if not _is_open(client):
        return 0
    try:
        return sum(client.sync(client.scheduler.ncores, callback_timeout=_ANSWER_SECONDS).values())
    except (OSError, TimeoutError):
        return 0


def _require_cluster(client: Any, idle_seconds: float, max_idle_seconds: float) -> None:
    if client.status in ("closed", "closing"):
        raise WorkerError(
            "the scheduler is gone. What was finished is kept; run the same command again to go on."
        )
    if idle_seconds > max_idle_seconds:
        raise WorkerError(
            f"the scheduler has had no worker for {max_idle_seconds:g} seconds. Start workers, then"
            " run the same command again."
        )
