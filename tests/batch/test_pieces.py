"""Pieces go to worker processes and come back in order, whatever becomes of the workers."""

import os
import random
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proce.batch.pieces import (
    Done,
    Failed,
    Piece,
    PieceQueue,
    PieceSettings,
    PieceWork,
    run_in_workers,
)
from proce.errors import ModelError, WorkerError
from proce.processes.worker import pickled

from .piece_works import NeverOpens, Squares, pieces

ROOT = Path(__file__).parents[2]
TWO = PieceSettings(2, preload=("pandas", "proce.batch.pieces"))


def run_pieces(
    pieces: Iterator[Piece],
    initialiser: bytes,
    settings: PieceSettings,
    n_rows: int = 100,
    **more: Any,
) -> Generator[Done | Failed]:
    queue = PieceQueue(pieces, n_rows, n_workers=settings.n_workers)
    return run_in_workers(queue, initialiser, settings, **more)


def run(
    work: Callable[[], PieceWork], n_rows: int = 100, size: int = 10, settings: PieceSettings = TWO
) -> list[int]:
    """Return the squares of all rows, and -1 for rows that failed; the order is checked."""
    results: list[int] = []
    with closing(run_pieces(pieces(n_rows, size), pickled(work), settings, n_rows)) as events:
        for event in events:
            assert event.piece.first_row == len(results)
            results += event.value if isinstance(event, Done) else [-1]
            assert len(results) == event.piece.first_row + len(event.piece)
    return results


def squares(n_rows: int, without: tuple[int, ...] = ()) -> list[int]:
    return [-1 if number in without else number**2 for number in range(n_rows)]


@pytest.mark.parametrize("n_workers", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_what_comes_back_depends_neither_on_workers_nor_on_pieces(
    n_workers: int, size: int
) -> None:
    assert run(Squares(), 100, size, PieceSettings(n_workers)) == squares(100)


def test_no_piece_gives_nothing_and_starts_nobody(tmp_path: Path) -> None:
    assert run(Squares(seen=tmp_path), 0) == []
    assert not list(tmp_path.iterdir())


def test_a_worker_is_opened_once_and_not_for_every_piece(tmp_path: Path) -> None:
    run(Squares(seen=tmp_path), 100, 5)
    assert len(list(tmp_path.glob("worker-*"))) == 2


def test_a_worker_that_dies_once_costs_a_retry(tmp_path: Path) -> None:
    work = Squares(kills_first=(17,), seen=tmp_path)
    assert run(work, settings=PieceSettings(1)) == squares(100)
    assert len(list(tmp_path.glob("worker-*"))) == 2


def test_rows_that_kill_their_worker_are_cornered_and_named() -> None:
    with closing(run_pieces(pieces(100, 25), pickled(Squares(kills=(0, 31, 99))), TWO)) as events:
        failed = [event for event in events if isinstance(event, Failed)]
    assert [event.piece.first_row for event in failed] == [0, 31, 99]
    assert {event.reason for event in failed} == {
        "The model broke on this row: its process was ended by SIGKILL."
    }


def test_rows_on_which_the_model_raises_are_cornered_without_a_death(tmp_path: Path) -> None:
    work = Squares(raises=(5, 50), seen=tmp_path)
    with closing(run_pieces(pieces(100, 25), pickled(work), TWO)) as events:
        failed = {e.piece.first_row: e.reason for e in events if isinstance(e, Failed)}
    assert failed == {5: "cannot square 5", 50: "cannot square 50"}
    assert len(list(tmp_path.glob("worker-*"))) == 2


def test_any_other_error_ends_the_run_as_it_is() -> None:
    with pytest.raises(OSError, match=r"No space left on device: 'squares\.parquet'"):
        run(Squares(breaks=(50,)))


def test_a_model_that_fails_everywhere_is_given_up() -> None:
    for n_rows, words in ((100, r"fails on 32 of 32 rows.*cannot square"), (3, "on 3 of 3 rows")):
        events = run_pieces(
            pieces(n_rows, 10), pickled(Squares(raises=tuple(range(n_rows)))), TWO, n_rows
        )
        with pytest.raises(ModelError, match=words), closing(events):
            list(events)


def test_workers_that_never_begin_are_given_up() -> None:
    with pytest.raises(WorkerError, match=r"3 workers died before they were open.*SIGKILL"):
        run(NeverOpens())


def test_memory_is_bounded_by_how_far_pieces_may_be_ahead() -> None:
    read: list[int] = []

    def counted() -> Iterator[Piece]:
        for piece in pieces(1000, 1):
            read.append(piece.first_row)
            yield piece

    with closing(run_pieces(counted(), pickled(Squares()), TWO)) as events:
        for number, _ in enumerate(events):
            assert len(read) <= number + 18


def test_a_run_goes_on_after_all_that_may_be_ahead_waited_for_the_first(tmp_path: Path) -> None:
    assert run(Squares(first_waits_for=15, seen=tmp_path), 40, 1) == squares(40)


def test_any_process_of_a_run_may_be_killed(tmp_path: Path) -> None:
    """What forks the workers, then all workers, then all of them at once."""
    results: list[int] = []
    work = pickled(Squares(seen=tmp_path, seconds=0.02))
    with closing(run_pieces(pieces(60, 1), work, TWO)) as events:
        for event in events:
            assert isinstance(event, Done)
            results += event.value
            workers = [own for own in _workers(tmp_path) if _is_running(own)]
            if len(results) in (10, 30):
                parents = [Path(f"/proc/{own}/stat").read_text() for own in workers]
                server = {int(stat.rpartition(")")[2].split()[1]) for stat in parents}
                os.kill(max(server), signal.SIGKILL)
            if len(results) in (15, 30):
                for worker in workers:
                    os.kill(worker, signal.SIGKILL)
    assert results == squares(60)


def test_the_end_is_kept_where_somebody_stops() -> None:
    results = []
    with closing(
        run_pieces(pieces(100, 1), pickled(Squares()), TWO, is_over=lambda: len(results) > 10)
    ) as events:
        for event in events:
            results.append(event.piece.first_row)
    assert 10 < len(results) < 60
    assert results == list(range(len(results)))


def test_progress_counts_rows_up_to_all_of_them() -> None:
    told: list[int] = []
    with closing(
        run_pieces(pieces(100, 10), pickled(Squares()), TWO, on_progress=told.append)
    ) as events:
        list(events)
    assert told[-1] == 100
    assert told == sorted(told)


def test_no_worker_outlives_an_iterator_that_is_closed(tmp_path: Path) -> None:
    events = run_pieces(pieces(100, 1), pickled(Squares(seen=tmp_path, seconds=0.01)), TWO)
    next(events)
    events.close()
    for trace in tmp_path.glob("worker-*"):
        assert not _is_running(int(trace.name.removeprefix("worker-")))


def test_ctrl_c_hands_out_what_is_finished_out_of_order(tmp_path: Path) -> None:
    work = pickled(Squares(slow=(0,), seen=tmp_path))
    told: list[int] = []

    def interrupt(n_rows: int) -> None:
        if n_rows >= 6:
            raise KeyboardInterrupt

    with closing(run_pieces(pieces(10, 1), work, TWO, on_progress=interrupt)) as events:  # noqa: SIM117
        with pytest.raises(KeyboardInterrupt):
            told.extend(event.piece.first_row for event in events)
    assert told == sorted(told)
    assert len(told) >= 6
    assert 0 not in told


def test_killing_workers_at_random_changes_nothing(tmp_path: Path) -> None:
    _killed_at_random(tmp_path, seed=0, n_rows=60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_killing_workers_at_random_changes_nothing_for_long(tmp_path: Path, seed: int) -> None:
    _killed_at_random(tmp_path, seed, n_rows=600)


def _killed_at_random(tmp_path: Path, seed: int, n_rows: int) -> None:
    draw = random.Random(seed)
    results, n_kills = [], 0
    work = Squares(seen=tmp_path, seconds=0.01)
    with closing(run_pieces(pieces(n_rows, 3), pickled(work), TWO)) as events:
        for event in events:
            results += event.value
            if draw.random() < 0.3:
                n_kills += _kill_one(tmp_path, draw)
    assert results == squares(n_rows)
    assert n_kills > 2


def _kill_one(folder: Path, draw: random.Random) -> bool:
    living = [worker for worker in _workers(folder) if _is_running(worker)]
    if living:
        os.kill(draw.choice(living), signal.SIGKILL)
    return bool(living)


def _workers(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("worker-")) for path in folder.glob("worker-*")]


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
