"""What the commands show: results on stdout, notes on stderr, progress bars on a terminal only."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Protocol

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from proce.training_settings import Epoch


class StageProgress(Protocol):
    """How far one stage of some work has come; fitting, search and benchmark runs report it."""

    @property
    def stage(self) -> str:
        """The name of the stage."""

    @property
    def done(self) -> int:
        """How many steps of the stage are done."""

    @property
    def total(self) -> int:
        """How many steps the stage has."""


class ProgressBars:
    """One bar for each stage of some work; a callback for ``progress=``."""

    def __init__(self, bars: "Progress") -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, progress: StageProgress) -> None:
        """Move the bar of a stage."""
        self.move(progress.stage, progress.done, progress.total)

    def training(self, epoch: "Epoch") -> None:
        """Move the bar of a network that is being trained."""
        self.move("model", epoch.number, epoch.n_epochs)

    def move(self, stage: str, done: int, total: int) -> None:
        """Move the bar of a stage to so many steps done of a total."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage, total=total, rate="")
        task = self._tasks[stage]
        speed = self._bars.tasks[self._bars.task_ids.index(task)].speed
        rate = "" if speed is None else f"{speed:,.1f}/s"
        self._bars.update(task, completed=done, total=total, rate=rate)


@contextmanager
def progress_bars() -> Iterator[ProgressBars]:
    """Draw bars with the time left while the context is open, if stderr is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TaskProgressColumn as Percentage
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    rate, columns = (
        TextColumn("{task.fields[rate]}"),
        (BarColumn(), Percentage(), MofNCompleteColumn()),
    )
    with Progress(
        "{task.description}",
        *columns,
        rate,
        TimeLeft(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bars:
        yield ProgressBars(bars)


def note(text: str) -> None:
    """Write a message to stderr, on a line of its own."""
    typer.echo(" ".join(text.split()), err=True)


def print_table(
    header: Sequence[str], lines: Sequence[Sequence[str]], below: Sequence[str] = ()
) -> None:
    """Print a table on stdout, and sentences below it, that fit the width of the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for line in lines:
        table.add_row(*line)
    console = Console(markup=False, highlight=False)
    console.print(table, *below, sep="\n")


def learn_on_one_thread() -> None:
    """Let torch use one thread: its tensors are small here, and threads would only wait."""
    import torch

    torch.set_num_threads(1)


def ask_on_one_thread() -> None:
    """Let torch use one thread where a model is of torch, which is then loaded already."""
    if "torch" in sys.modules:
        learn_on_one_thread()


class InterruptWatch:
    """Remembers that Ctrl-C was pressed."""

    # A search that is interrupted returns what it has found so far, as if it had ended. The caller
    # asks the watch, so that such a result is not taken for a whole one.

    def __init__(self) -> None:
        self.interrupted = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        """Handle SIGINT."""
        self.interrupted = True
        raise KeyboardInterrupt

    def raise_if_interrupted(self) -> None:
        """Raise ``KeyboardInterrupt`` if Ctrl-C was pressed since the watch began."""
        if self.interrupted:
            raise KeyboardInterrupt


@contextmanager
def interrupt_watch() -> Iterator[InterruptWatch]:
    """Watch for Ctrl-C while the context is open."""
    import logging

    watch = InterruptWatch()
    previous_handler = signal.signal(signal.SIGINT, watch.handle)
    log = logging.getLogger("proce.methods")
    previous_level = log.level
    # A search warns that it was interrupted; the command says so itself, of the whole file.
    log.setLevel(logging.ERROR)
    try:
        yield watch
    finally:
        log.setLevel(previous_level)
        signal.signal(signal.SIGINT, previous_handler)


def is_terminal() -> bool:
    """Return whether stdout is a terminal, so that a person reads the results."""
    try:
        return os.isatty(1)
    except OSError:
        return False
