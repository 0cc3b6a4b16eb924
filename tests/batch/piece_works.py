"""Work on pieces in tests: quick, and as wicked as a model can be."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from proce.batch.pieces import Piece, Report
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
    seen
        A folder where each worker leaves a file, and one for every piece that it begins.
    kills_first
        Numbers on which the process ends itself the first time that it sees them, by ``seen``.
    seconds
        How long a piece takes.
    slow
        Numbers that take a minute.
    first_waits_for
        The number that 0 waits for, by ``seen``.
    """

    kills: tuple[int, ...] = ()
    raises: tuple[int, ...] = ()
    breaks: tuple[int, ...] = ()
    kills_first: tuple[int, ...] = ()
    seen: Path | None = None
    seconds: float = 0.0
    slow: tuple[int, ...] = ()
    first_waits_for: int = 0

    def __call__(self) -> "Squares":
        """Leave a trace of the worker."""
        if self.seen is not None:
            (self.seen / f"worker-{os.getpid()}").touch()
        return self

    def do(self, piece: Piece, progress: Report) -> list[int]:
        """Square the numbers."""
        numbers = piece.frame["number"].tolist()
        progress(len(numbers) // 2)
        time.sleep(60 if set(numbers) & set(self.slow) else self.seconds)
        while 0 in numbers and self.first_waits_for:
            if (Path(self.seen or "") / f"number-{self.first_waits_for}").exists():
                break
            time.sleep(0.01)
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
        if number in self.raises:
            raise ModelError(f"cannot square {number}")
        if number in self.breaks:
            raise OSError(28, "No space left on device", "squares.parquet")


class NeverOpens:
    """A work whose workers die before they begin."""

    def __call__(self) -> "NeverOpens":
        """Die."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError
