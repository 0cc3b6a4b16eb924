"""A progress bar for notebooks and terminals."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from proce.methods.calls.method import Progress, ProgressCallback


def progress_bar() -> "ProgressBar":
    """Return a callback for ``progress=`` that draws a bar; the bar ends with the call."""
    return ProgressBar()


class ProgressBar:
    """Draws the progress of a call: a bar for each stage of the work."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> None:
        """Draw how far the work has come."""
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bars

            columns = ("{task.description}", BarColumn(), "{task.completed}/{task.total}")
            texts = (TextColumn("{task.fields[now]}"), TextColumn("{task.fields[rate]}"))
            # A notebook shows what goes to stdout; elsewhere stdout is for results.
            console = Console(stderr=not Console().is_jupyter)
            shown = console.is_terminal or console.is_jupyter
            self._bar = Bars(
                *columns, *texts, TimeRemainingColumn(), console=console, disable=not shown
            )
            self._bar.start()
        if progress.stage not in self._tasks:
            self._tasks[progress.stage] = self._bar.add_task(progress.stage, now="", rate="")
        now = f"generation {progress.generation}" if progress.generation else ""
        task = self._tasks[progress.stage]
        speed = self._bar.tasks[self._bar.task_ids.index(task)].speed
        rate = "" if speed is None else f"{speed:,.1f}/s"
        self._bar.update(task, completed=progress.done, total=progress.total, now=now, rate=rate)
        if progress.done >= progress.total:
            self.close()

    def close(self) -> None:
        """End the bar, however far it came; the next report starts another."""
        if self._bar is not None:
            self._bar.stop()
        self._bar, self._tasks = None, {}


@contextmanager
def closing(progress: ProgressCallback | None) -> Iterator[None]:
    """End a progress bar with the work in this context, also where that stops early or fails."""
    try:
        yield
    finally:
        if isinstance(progress, ProgressBar):
            progress.close()
