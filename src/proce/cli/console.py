"""What the commands show: results on stdout, notes and bars on stderr, bars for a terminal only."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

import typer

if TYPE_CHECKING:
    from proce.training import Epoch


class Step(Protocol):
    """How far some work has come; every kind of progress here is one."""

    @property
    def stage(self) -> str:
        """What is being done."""

    @property
    def done(self) -> int:
        """How much of it."""

    @property
    def total(self) -> int:
        """Of how much."""


class Bars:
    """A bar for each stage of some work; a callback for ``progress=``."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def __call__(self, progress: Step) -> None:
        """Move the bar of a stage."""
        self._move(progress.stage, progress.done, progress.total)

    def training(self, epoch: "Epoch") -> None:
        """Move the bar of a network that learns."""
        self._move("model", epoch.number, epoch.n_epochs)

    def _move(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total)
        self._bars.update(self._tasks[stage], completed=done, total=total)


@contextmanager
def progress_bars() -> Iterator[Bars]:
    """Draw bars with the time left while the context is open, if a person is looking."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        yield Bars(bars)


def note(text: str) -> None:
    """Tell a person something on stderr, on a line of its own."""
    typer.echo(" ".join(text.split()), err=True)


def print_table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table on stdout that fits the width of the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    Console(markup=False, highlight=False).print(table)


def one_thread() -> None:
    """Let torch use one thread: its tensors are small here, and threads would only wait."""
    import torch

    torch.set_num_threads(1)


class Patience:
    """Remembers Ctrl-C: a search that is interrupted returns what it has, and says nothing."""

    def __init__(self) -> None:
        self.over = False

    def end(self, _signal: int, _frame: FrameType | None) -> None:
        """Be the handler of the signal."""
        self.over = True
        raise KeyboardInterrupt

    def require(self) -> None:
        """End here if Ctrl-C was pressed meanwhile."""
        if self.over:
            raise KeyboardInterrupt


@contextmanager
def patience() -> Iterator[Patience]:
    """Watch for Ctrl-C while the context is open."""
    import logging

    watch = Patience()
    before = signal.signal(signal.SIGINT, watch.end)
    log = logging.getLogger("proce.methods")
    level = log.level
    log.setLevel(logging.ERROR)  # what it would say of a chunk is said of the whole file
    try:
        yield watch
    finally:
        log.setLevel(level)
        signal.signal(signal.SIGINT, before)


def is_terminal() -> bool:
    """Whether results are read by a person."""
    try:
        return os.isatty(1)
    except OSError:
        return False
