"""Models that break on some people, as a model of a user may."""

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from proce import ProCE
from proce.errors import ModelError

from .. import worlds

ODD_AGE = 19  # nobody among the bank's people is so young


@dataclass(frozen=True)
class Breaking:
    """The bank, which breaks on people of an odd age: age is fixed, so it is about the person.

    Attributes
    ----------
    kills
        Whether the process ends; else an error is raised.
    once
        A file that is made when it breaks; where it is there, it breaks no more.
    """

    kills: bool
    once: Path | None = None

    def __call__(self, frame: Any) -> Any:
        """Return the probabilities of no and yes."""
        spared = self.once is not None and self.once.exists()
        if not spared and (frame["age"] == ODD_AGE).any():
            if self.once is not None:
                self.once.touch()
            if self.kills:
                os.kill(os.getpid(), signal.SIGSEGV)
            raise ValueError("this age is not in the table")
        return worlds.bank(frame)


@dataclass(frozen=True)
class Tracing:
    """The bank, which leaves a line in a file for every frame that it is asked about."""

    trace: Path

    def __call__(self, frame: Any) -> Any:
        """Return the probabilities of no and yes."""
        with self.trace.open("a") as stream:
            stream.write(f"{os.getpid()}\n")
        return worlds.bank(frame)


@dataclass(frozen=True)
class Disturbed:
    """The banker, to whom something happens before he explains some rows."""

    banker: ProCE
    happen: Callable[[pa.Table], None]

    def explain(self, rows: pa.Table, **options: Any) -> Any:
        self.happen(rows)
        return self.banker.explain(rows, **options)


@dataclass(frozen=True)
class FailingOn:
    """Fails on people whose savings, which number them here, are among some."""

    numbers: frozenset[int]

    def __call__(self, rows: pa.Table) -> None:
        if self.numbers & set(rows["savings"].to_pylist()):
            raise ModelError("row 0, a candidate with debt=1: ValueError: no such debt.")
