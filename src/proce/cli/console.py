"""What the commands show: text on stdout, bars on a terminal's stderr and nowhere else."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proce.methods import Progress
    from proce.training import Epoch


class Bars:
    """A bar for each stage of some work; a callback for ``progress=``."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def __call__(self, progress: "Progress") -> None:
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
    """Draw bars while the context is open, if a person is looking."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        yield Bars(bars)


def written(path: Path, text: str) -> None:
    """Write a file under a temporary name and move it into place, so no half file is left."""
    draft = path.with_name(f".{path.name}.part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
