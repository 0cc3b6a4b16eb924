"""Counts, times and states of the service, in the text format of Prometheus."""

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MAX_SERIES = 200  # of one metric; what comes beyond is counted as 'other'
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OTHER = "other"

GaugeFunction = Callable[[], float | Mapping[str, float]]


@dataclass(frozen=True)
class _Gauge:
    words: str
    label: str
    function: GaugeFunction


@dataclass
class _Times:
    """How many durations ended up in each interval, and their sum."""

    counts: list[int]
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(_BOUNDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """What ``/metrics`` tells. It belongs to one event loop; nothing here blocks."""

    CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self._requests: dict[tuple[str, str, str], int] = {}
        self._times: dict[tuple[str, str], _Times] = {}
        self._gauges: dict[str, _Gauge] = {}
        self.gauge("process_resident_memory_bytes", "Memory of the main process.", _resident_bytes)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered.

        Parameters
        ----------
        route
            The template of the route, never the path itself.
        method
            The method.
        status
            The status of the answer.
        seconds
            How long it took.
        """
        counted = (route, method, str(status))
        if counted not in self._requests and len(self._requests) >= _MAX_SERIES:
            counted = (_OTHER, _OTHER, _OTHER)
        self._requests[counted] = self._requests.get(counted, 0) + 1
        timed = (route, method)
        if timed not in self._times and len(self._times) >= _MAX_SERIES:
            timed = (_OTHER, _OTHER)
        self._times.setdefault(timed, _Times([0] * (len(_BOUNDS) + 1))).add(seconds)

    def gauge(self, name: str, words: str, function: GaugeFunction, label: str = "state") -> None:
        """Tell a state that is asked for whenever the metrics are read.

        A name that ends with ``_total`` is told as a counter.

        Parameters
        ----------
        name
            The name of the metric, such as ``proce_queue_length``.
        words
            What it is.
        function
            Returns its value, or one value for each value of a label.
        label
            The name of that label.
        """
        if not _NAME.fullmatch(name) or not _NAME.fullmatch(label):
            raise ValueError(f"{name!r} or {label!r} is no name of a metric.")
        self._gauges[name] = _Gauge(words, label, function)

    def text(self) -> str:
        """Return everything as text."""
        return "\n".join([*self._request_lines(), *self._time_lines(), *self._gauge_lines(), ""])

    def _request_lines(self) -> Iterator[str]:
        name = "proce_http_requests_total"
        yield f"# HELP {name} Requests that were answered."
        yield f"# TYPE {name} counter"
        for (route, method, status), count in sorted(self._requests.items()):
            yield f"{name}{_labels(route=route, method=method, status=status)} {count}"

    def _time_lines(self) -> Iterator[str]:
        name = "proce_http_request_seconds"
        yield f"# HELP {name} How long requests took; streams of events until their end."
        yield f"# TYPE {name} histogram"
        for (route, method), times in sorted(self._times.items()):
            so_far = 0
            for bound, count in zip([*map(str, _BOUNDS), "+Inf"], times.counts, strict=True):
                so_far += count
                yield f"{name}_bucket{_labels(route=route, method=method, le=bound)} {so_far}"
            yield f"{name}_sum{_labels(route=route, method=method)} {times.total:.6f}"
            yield f"{name}_count{_labels(route=route, method=method)} {so_far}"

    def _gauge_lines(self) -> Iterator[str]:
        for name, gauge in sorted(self._gauges.items()):
            value = gauge.function()
            yield f"# HELP {name} {_escaped(gauge.words)}"
            yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}"
            if isinstance(value, Mapping):
                for key in sorted(value)[:_MAX_SERIES]:
                    yield f"{name}{_labels(**{gauge.label: key})} {value[key]}"
            else:
                yield f"{name} {value}"


def _labels(**values: str) -> str:
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in values.items())
    return f"{{{inside}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _resident_bytes() -> float:
    """Return the memory of this process; zero where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
