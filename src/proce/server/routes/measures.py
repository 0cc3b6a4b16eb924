"""What ``/metrics`` tells of the workers and the jobs."""

from collections.abc import Callable
from functools import partial

from proce.server.guard import Metrics
from proce.server.jobs import JobCounters, Jobs
from proce.server.workers import Workers


def measures_of(workers: Workers, jobs: Jobs) -> Metrics:
    """Return what is counted, with the states of the workers and the queue."""
    metrics = Metrics()
    metrics.gauge("proce_queue_length", "Explanations that wait.", lambda: jobs.queue_length)
    metrics.gauge("proce_queue_limit", "Explanations that may wait.", lambda: jobs.limits.queue)
    metrics.gauge(
        "proce_workers",
        "Worker processes.",
        lambda: {
            "total": workers.state().total,
            "ready": workers.state().ready,
            "busy": workers.state().busy,
        },
    )
    counted: dict[str, tuple[str, Callable[[JobCounters], float]]] = {
        "proce_jobs_accepted_total": ("Explanations accepted.", lambda jobs: jobs.accepted),
        "proce_jobs_refused_total": ("Refused: the queue was full.", lambda jobs: jobs.refused),
        "proce_job_queue_seconds_total": ("Time in the queue.", lambda jobs: jobs.queue_seconds),
        "proce_job_work_seconds_total": ("Time of workers.", lambda jobs: jobs.work_seconds),
        "proce_worker_restarts_total": ("Workers replaced.", lambda jobs: jobs.restarts),
    }
    for name, (words, count) in counted.items():
        metrics.gauge(name, words, partial(_counted, jobs, count))
    metrics.gauge(
        "proce_jobs_ended_total", "Explanations ended.", lambda: dict(jobs.counters().endings)
    )
    return metrics


def _counted(jobs: Jobs, count: Callable[[JobCounters], float]) -> float:
    return count(jobs.counters())
