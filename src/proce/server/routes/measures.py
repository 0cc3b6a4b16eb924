"""What ``/metrics`` tells of the workers and the jobs."""

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from proce.server.guard import Metrics
from proce.server.jobs import Jobs
from proce.server.workers import Workers


class _States(Collector):
    """The states of the workers and the queue, and the counts of jobs, as they are when asked."""

    def __init__(self, workers: Workers, jobs: Jobs) -> None:
        self._workers, self._jobs = workers, jobs

    def collect(self) -> Iterable[Metric]:
        """Return them."""
        workers, counted = self._workers.state(), self._jobs.counters()
        states = {"total": workers.total, "ready": workers.ready, "busy": workers.busy}
        limit = self._jobs.limits.queue
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
            ("proce_worker_restarts", "Workers replaced.", counted.restarts),
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
