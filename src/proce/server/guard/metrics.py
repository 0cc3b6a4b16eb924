"""Counts, times and states of the service, in the text format of Prometheus."""

from collections.abc import Callable

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """What ``/metrics`` tells, in a registry of its own."""

    content_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # they double the text
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "proce_http_requests",
            "Requests that were answered.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "proce_http_request_seconds",
            "How long requests took; streams of events until their end.",
            ("route", "method"),
            buckets=_SECONDS,
            registry=self._registry,
        )

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answered request under the template of its route, never its path."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    def state(self, name: str, words: str, value: Callable[[], float]) -> None:
        """Tell a state that is asked for whenever the metrics are read."""
        Gauge(name, words, registry=self._registry).set_function(value)

    def add(self, collector: Collector) -> None:
        """Tell what a collector tells, too."""
        self._registry.register(collector)

    def text(self) -> str:
        """Return everything as text."""
        return generate_latest(self._registry).decode()
