"""The same search on resampled rows, over processes, until the callback stops it.

Resample ``k`` draws from a random stream of its own, so the graphs do not depend on how many
processes there are.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from proce.arguments import brief, is_whole
from proce.arrays import Flags, Floats
from proce.errors import GraphError
from proce.processors import n_usable

Marks = tuple[Flags, Flags]  # arrows [cause, effect], and lines, which are symmetric
Search = Callable[[Floats], Marks]


@dataclass(frozen=True, slots=True)
class DiscoveryProgress:
    """How far a discovery is; a callback that returns False stops the bootstrap."""

    # `"search"` on all rows, then `"bootstrap"` on resampled ones. The first report comes before
    # the search, with 0 done.
    stage: str
    done: int  # how many searches of this stage are finished, of how many
    total: int


DiscoveryCallback = Callable[[DiscoveryProgress], object]


MAX_PROCESSES = 10_000


def n_processes(n_jobs: int) -> int:
    """Return a number of processes; -1 stands for as many as there are processors."""
    if not is_whole(n_jobs) or n_jobs == 0 or abs(n_jobs) > MAX_PROCESSES:
        raise GraphError(
            f"n_jobs is {brief(n_jobs)}; expected a number of processes, or -1 for all."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, n_usable() + 1 + int(n_jobs))


def search_resamples(
    search: Search,
    rows: Floats,
    n_resamples: int,
    seed: int,
    n_jobs: int,
    progress: DiscoveryCallback | None,
) -> list[Marks]:
    """Search in resampled rows; return the results that there are when it ends or is stopped."""
    # A `KeyboardInterrupt` stops like a callback that returns False.
    done: dict[int, Marks] = {}
    searches = _in_processes if n_jobs > 1 and n_resamples > 1 else _in_turn
    try:
        with searches(search, rows, n_resamples, seed, n_jobs) as results:
            for number, marks in results:
                done[number] = marks
                report = DiscoveryProgress("bootstrap", len(done), n_resamples)
                if progress is not None and progress(report) is False:
                    break
    except KeyboardInterrupt:
        pass
    return [done[number] for number in sorted(done)]


def _search_resample(search: Search, rows: Floats, seed: int, number: int) -> tuple[int, Marks]:
    """Draw the resample of a number and search in it, on one thread."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng([seed, number])
    with threadpool_limits(1):
        return number, search(rows[rng.integers(0, len(rows), len(rows))])


@contextmanager
def _in_turn(
    search: Search, rows: Floats, n_resamples: int, seed: int, n_jobs: int
) -> Iterator[Iterator[tuple[int, Marks]]]:
    yield (_search_resample(search, rows, seed, number) for number in range(n_resamples))


@contextmanager
def _in_processes(
    search: Search, rows: Floats, n_resamples: int, seed: int, n_jobs: int
) -> Iterator[Iterator[tuple[int, Marks]]]:
    earlier_children = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(n_jobs, n_resamples),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(search, rows, seed),
    )
    try:
        futures = [pool.submit(_work, number) for number in range(n_resamples)]
        yield (future.result() for future in as_completed(futures))
    except BrokenProcessPool:
        raise GraphError(
            "a process of the bootstrap ended too early. It was short of memory, or the script"
            " that called it does so without if __name__ == '__main__': call it from there, or"
            " with n_jobs=1."
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - earlier_children:
            child.terminate()


_job: tuple[Search, Floats, int]  # of a worker process


def _start(search: Search, rows: Floats, seed: int) -> None:
    """Keep the job of this process; the parent alone answers to Ctrl-C."""
    global _job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _job = search, rows, seed


def _work(number: int) -> tuple[int, Marks]:
    search, rows, seed = _job
    return _search_resample(search, rows, seed, number)
