"""Whether the service is up, what it allows whom, and what it has counted."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Literal

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from pydantic import Field

from proce import __version__
from proce.server.guard import Metrics, Role
from proce.server.jobs import Jobs
from proce.server.routes.answers import answers, writes
from proce.server.routes.service import AnyService, RoleHere
from proce.server.routes.values import Answer
from proce.server.workers import Workers

router = APIRouter(tags=["operations"])


class WorkersState(Answer):
    """The worker processes."""

    total: int = Field(description="How many there are.")
    ready: int = Field(description="How many have loaded the explainer.")
    busy: int = Field(description="How many are explaining.")


class QueueState(Answer):
    """The queue of explanations."""

    length: int = Field(description="How many wait.")
    limit: int = Field(description="How many may wait.")


class Health(Answer):
    """Whether the service is up."""

    status: Literal["ok", "starting"]
    version: str
    workers: WorkersState
    queue: QueueState


@router.get("/health", **answers("The service is up, or starting.", Health))
async def health(service: AnyService) -> Response:
    """Return whether the service is up; needs no token."""
    workers, jobs = service.workers.state(), service.jobs
    return JSONResponse(
        {
            "status": "ok" if service.is_ready() else "starting",
            "version": __version__,
            "workers": {"total": workers.total, "ready": workers.ready, "busy": workers.busy},
            "queue": {"length": jobs.queue_length, "limit": jobs.max_waiting},
        }
    )


class SessionLimits(Answer):
    """The most that one request may ask for."""

    rows: int
    n: int
    rules: int
    seconds: float
    body_bytes: int


class Session(Answer):
    """Who asks, and what the operator has set."""

    role: Role
    token_required: bool
    version: str
    title: str
    limits: SessionLimits
    has_rows: bool


@router.get("/session", **answers("The role and the limits.", Session))
async def session(service: AnyService, role: RoleHere) -> Response:
    """Return the role of the token, and what the operator has set."""
    settings = service.settings
    return JSONResponse(
        {
            "role": role,
            "token_required": settings.token_required,
            "version": __version__,
            "title": settings.title,
            "limits": asdict(settings.limits),
            "has_rows": settings.has_rows,
        }
    )


@router.get("/metrics", **writes("Counts, times and states.", media_types=["text/plain"]))
async def metrics(service: AnyService) -> Response:
    """Return what the service has counted, in the text format of Prometheus."""
    return Response(service.metrics.text(), headers={"content-type": service.metrics.content_type})


class _States(Collector):
    """The states of the workers and the queue, and the counts of jobs, as they are when asked."""

    def __init__(self, workers: Workers, jobs: Jobs) -> None:
        self._workers, self._jobs = workers, jobs

    def collect(self) -> Iterable[Metric]:
        """Return them."""
        workers, counted = self._workers.state(), self._jobs.counters
        states = {"total": workers.total, "ready": workers.ready, "busy": workers.busy}
        limit = self._jobs.max_waiting
        yield GaugeMetricFamily(
            "proce_queue_length", "Explanations that wait.", self._jobs.queue_length
        )
        yield GaugeMetricFamily("proce_queue_limit", "Explanations that may wait.", limit)
        yield _by_state(GaugeMetricFamily, "proce_workers", "Worker processes.", states)
        for name, words, count in (
            ("proce_jobs_accepted", "Explanations accepted.", counted.accepted),
            ("proce_jobs_refused", "Refused: the queue was full.", counted.refused),
            ("proce_job_queue_seconds", "Time in the queue.", counted.queue_seconds),
            ("proce_job_work_seconds", "Time of workers.", counted.work_seconds),
            ("proce_worker_restarts", "Workers replaced.", workers.restarts),
        ):
            yield CounterMetricFamily(name, words, count)
        yield _by_state(
            CounterMetricFamily, "proce_jobs_ended", "Explanations ended.", counted.endings
        )


def measures_of(workers: Workers, jobs: Jobs) -> Metrics:
    """Return what is counted, with the states of the workers and the queue."""
    metrics = Metrics()
    metrics.add(_States(workers, jobs))
    return metrics


def _by_state(kind: Any, name: str, words: str, values: Mapping[str, float]) -> Metric:
    family: Metric = kind(name, words, labels=["state"])
    for state, value in values.items():
        family.add_metric([state], value)  # type: ignore[attr-defined]
    return family
