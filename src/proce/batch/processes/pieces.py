"""Pieces of rows that go to workers, and what comes back of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals as nw


@dataclass(frozen=True, eq=False)
class Piece:
    """Some consecutive rows.

    Attributes
    ----------
    first_row
        The position of the first of them among all rows.
    frame
        The rows, a frame of any library.
    deaths
        How many workers died of it.
    """

    first_row: int
    frame: Any
    deaths: int = 0

    def __len__(self) -> int:
        return len(self.frame)

    def halves(self) -> "tuple[Piece, Piece]":
        """Return the two halves of the piece, as pieces on which one worker has died.

        A worker that dies of a half is enough to halve it again; of a single row it takes two, so
        that a row is not blamed for what happened to a worker by chance.
        """
        middle = len(self) // 2
        opened = nw.from_native(self.frame, eager_only=True)
        parts = ((0, opened[:middle]), (middle, opened[middle:]))
        first, second = (
            Piece(self.first_row + start, part.to_native(), deaths=int(len(part) > 1))
            for start, part in parts
        )
        return first, second


@dataclass(frozen=True, eq=False)
class Done:
    """A piece, and what the work made of it."""

    piece: Piece
    value: Any


@dataclass(frozen=True, eq=False)
class Failed:
    """A piece of one row on which the work fails, and why."""

    piece: Piece
    reason: str


Report = Callable[[int], None]  # how many rows of the piece are finished
Do = Callable[[Piece, Report], Any]


class Work(Protocol):
    """What every worker does; each gets a copy of it, once."""

    def open(self) -> Do:
        """Prepare, in the worker, and return what handles one piece."""
