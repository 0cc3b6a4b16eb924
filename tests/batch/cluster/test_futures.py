"""Pieces are sent so many at a time; what is lost on the way is sent again, and not for ever."""

from collections import Counter
from concurrent.futures import CancelledError
from typing import Any

import pytest
from distributed.scheduler import KilledWorker

from proce.batch.cluster.explainer_payload import ExplainerPayload
from proce.batch.cluster.futures import run_tasks
from proce.batch.cluster.inputs import FileSlice
from proce.batch.cluster.task import PieceReport
from proce.errors import WorkerError

PIECES = [FileSlice("a.parquet", "mark", 8 * at, 8, f"part-{at}") for at in range(30)]


class Future:
    """A task that has ended in a certain way."""

    def __init__(self, status: str, value: Any = None) -> None:
        self.status, self.value = status, value

    def result(self, timeout: float) -> Any:
        return self.value

    def exception(self, timeout: float) -> Any:
        return self.value


class Orphan(Future):
    """A task whose report dies with its worker so often, and is made again."""

    def __init__(self, n_deaths: int) -> None:
        super().__init__("finished", PieceReport(8))
        self.n_deaths = n_deaths

    def result(self, timeout: float) -> Any:
        if self.n_deaths:
            self.n_deaths -= 1
            raise TimeoutError
        return super().result(timeout)


class Vanished(Future):
    """A task that ends otherwise between two questions."""

    def result(self, timeout: float) -> Any:
        raise self.value


class Cluster:
    """The client of a cluster whose tasks end at once, each in the next of its ways."""

    def __init__(self, n_threads: int = 3, **ways: list[Future]) -> None:
        self.status, self.n_threads, self.ways = "running", n_threads, ways
        self.sent: list[str] = []
        self.cancelled: list[Future] = []

    def submit(self, function: Any, *arguments: Any, **_options: Any) -> Future:
        if len(arguments) == 1:
            return Future("finished")
        part = arguments[-1].part
        self.sent.append(part)
        own = self.ways.get(part.replace("-", "_"))
        return own.pop(0) if own else Future("finished", PieceReport(8))

    def sync(self, *_arguments: Any, **_options: Any) -> dict[str, int]:
        return {"worker": self.n_threads} if self.n_threads else {}

    def cancel(self, futures: list[Future], force: bool) -> None:
        self.cancelled += futures

    @property
    def scheduler(self) -> "Cluster":
        return self

    ncores = None


def run(cluster: Cluster, **options: Any) -> dict[str, PieceReport]:
    ended = run_tasks(cluster, ExplainerPayload("sum", None), None, PIECES, **options)  # type: ignore[arg-type]
    return {piece.part: report for piece, report in ended}


def killed() -> Future:
    return Future("error", KilledWorker("task", None, 3))


def test_every_piece_ends_once() -> None:
    cluster = Cluster()
    assert list(run(cluster)) == [piece.part for piece in PIECES]
    assert set(Counter(cluster.sent).values()) == {1}


def test_no_more_are_in_flight_than_the_threads_need() -> None:
    cluster = Cluster(n_threads=3)
    ended = run_tasks(cluster, ExplainerPayload("sum", None), None, PIECES)  # type: ignore[arg-type]
    next(ended)
    assert len(cluster.sent) == 6
    ended.close()
    assert len(cluster.cancelled) == 5


@pytest.mark.parametrize("status", ["lost", "cancelled"])
def test_a_lost_piece_is_sent_again(status: str) -> None:
    cluster = Cluster(part_3=[Future(status), killed()])
    reports = run(cluster)
    assert reports["part-3"].failure is None
    assert Counter(cluster.sent)["part-3"] == 3


def test_a_report_that_dies_with_its_worker_is_waited_for() -> None:
    cluster = Cluster(part_3=[Orphan(n_deaths=2)])
    assert run(cluster)["part-3"].failure is None
    assert Counter(cluster.sent)["part-3"] == 1


def test_a_report_that_never_comes_is_lost() -> None:
    cluster = Cluster(part_3=[Orphan(n_deaths=99)])
    assert run(cluster)["part-3"].failure is None
    assert Counter(cluster.sent)["part-3"] == 2


@pytest.mark.parametrize("error", [CancelledError(), KilledWorker("task", None, 3)])
def test_a_piece_lost_between_two_questions_is_sent_again(error: Exception) -> None:
    cluster = Cluster(part_3=[Vanished("finished", error)])
    assert run(cluster)["part-3"].failure is None
    assert Counter(cluster.sent)["part-3"] == 2


def test_a_piece_on_which_workers_die_is_given_up_and_the_others_complete() -> None:
    cluster = Cluster(part_3=[killed() for _ in range(9)])
    reports = run(cluster)
    failure = reports["part-3"].failure or ""
    assert "died whenever they worked on a.parquet, rows 24 to 31; " in failure
    assert "explain the file with --workers 2 and without --engine" in failure
    assert Counter(cluster.sent)["part-3"] == 3
    assert sum(report.failure is None for report in reports.values()) == 29


def test_another_error_is_told() -> None:
    cluster = Cluster(part_3=[Future("error", ModuleNotFoundError("No module named 'bank'\nmore"))])
    assert run(cluster)["part-3"].failure == "ModuleNotFoundError: No module named 'bank'"


def test_a_scheduler_that_is_gone_is_an_error() -> None:
    cluster = Cluster()
    cluster.status = "closed"
    with pytest.raises(WorkerError, match="the scheduler is gone"):
        run(cluster)


def test_without_workers_there_is_an_end_to_waiting() -> None:
    pending = {piece.part.replace("-", "_"): [Future("pending")] for piece in PIECES}
    waiting = Cluster(n_threads=0, **pending)
    clock = iter(range(10_000))
    with pytest.raises(WorkerError, match="has had no worker for 20 seconds"):
        run(waiting, max_idle_seconds=20, now=lambda: float(next(clock)))
    assert len(waiting.cancelled) == 4
