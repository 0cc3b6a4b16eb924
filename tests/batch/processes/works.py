"""Works for pools in tests: quick, and as wicked as a model can be."""

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from proce.batch.processes.pieces import Do, Piece, Report
from proce.errors import ModelError


def pieces(n_rows: int, size: int) -> Iterator[Piece]:
    """Yield rows with their own number, in pieces."""
    frame = pd.DataFrame({"number": range(n_rows)})
    for first_row in range(0, n_rows, size):
        yield Piece(first_row, frame[first_row : first_row + size])


@dataclass(frozen=True)
class Squares:
    """Square the numbers of a piece; on some of them something happens.

    Attributes
    ----------
    kills
        Numbers on which the process ends itself.
    raises
        Numbers on which it raises a ``ModelError``.
    breaks
        Numbers on which it raises another error.
    leaves_child
        Numbers on which the process ends itself and leaves a child behind, for a while.
    seen
        A folder where each worker leaves a file, and one for every piece that it begins.
    kills_first
        Numbers on which the process ends itself the first time that it sees them, by ``seen``.
    seconds
        How long a piece takes.
    slow
        Numbers that take a minute.
    """

    kills: tuple[int, ...] = ()
    raises: tuple[int, ...] = ()
    breaks: tuple[int, ...] = ()
    leaves_child: tuple[int, ...] = ()
    kills_first: tuple[int, ...] = ()
    seen: Path | None = None
    seconds: float = 0.0
    slow: tuple[int, ...] = ()

    def open(self) -> Do:
        """Leave a trace and return what squares."""
        if self.seen is not None:
            (self.seen / f"worker-{os.getpid()}").touch()
        return self._square

    def _square(self, piece: Piece, report: Report) -> list[int]:
        numbers = piece.frame["number"].tolist()
        report(len(numbers) // 2)
        time.sleep(60 if set(numbers) & set(self.slow) else self.seconds)
        for number in numbers:
            self._happen(number)
        return [number**2 for number in numbers]

    def _happen(self, number: int) -> None:
        is_first = False
        if self.seen is not None:
            trace = self.seen / f"number-{number}"
            is_first = not trace.exists()
            trace.touch()
        if number in self.kills or (number in self.kills_first and is_first):
            os.kill(os.getpid(), signal.SIGKILL)
        if number in self.leaves_child:
            if ctypes.CDLL(None).fork() == 0:  # one that Python knows nothing of
                time.sleep(60)
                os._exit(0)
            os.kill(os.getpid(), signal.SIGKILL)
        if number in self.raises:
            raise ModelError(f"cannot square {number}")
        if number in self.breaks:
            raise OSError(28, "No space left on device", "squares.parquet")


class NeverOpens:
    """A work whose workers die before they begin."""

    def open(self) -> Do:
        """Die."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


class Surroundings:
    """A work that tells how many threads the libraries use, and of its session."""

    def open(self) -> Do:
        """Return what tells."""
        return self._tell

    def _tell(self, _piece: Piece, _report: Report) -> dict[str, object]:
        import torch
        from threadpoolctl import threadpool_info

        threads = {pool["num_threads"] for pool in threadpool_info()} | {torch.get_num_threads()}
        return {"threads": threads, "session": os.getsid(0)}
