"""What every method offers, how it reports its progress, and of which versions and rows it was."""

import hashlib
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from proce.arguments import brief
from proce.arrays import Array
from proce.errors import SearchError
from proce.explanation import Explanations
from proce.schema import Level


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call has come; a callback that returns False stops it.

    Attributes
    ----------
    stage
        The part of the work: ``fit``, ``search`` or ``diagnose``.
    done, total
        How many rows are finished, and how many there are; in ``fit`` epochs, and in ``diagnose``
        rows without a counterfactual.
    generation
        The generation that the search of the present rows has reached.
    best_probability, best_distance
        Means over the rows being searched that have a counterfactual; NaN before there is one.
    front_size
        The mean size of the Pareto fronts of the rows being searched.
    """

    stage: str
    done: int
    total: int
    generation: int = 0
    best_probability: float = float("nan")
    best_distance: float = float("nan")
    front_size: float = 0.0


ProgressCallback = Callable[[Progress], object]


@runtime_checkable
class Method(Protocol):
    """A method that finds counterfactuals."""

    def fit(self, X: Any) -> Self:
        """Learn what is needed from the rows that the model was trained on."""

    def explain(
        self,
        X: Any,
        *,
        target: Level | None = None,
        n: int = 4,
        vary: Iterable[str] | None = None,
        ranges: Mapping[str, Any] | None = None,
        max_evaluations: int | None = None,
        budget_seconds: float | None = None,
        progress: ProgressCallback | None = None,
    ) -> Explanations:
        """Return up to ``n`` counterfactuals for each row.

        An option of ProCE that a method cannot honour raises ``UnsupportedOption``.
        """


def check_method(explainer: Any, or_else: str = "") -> None:
    """Refuse what is no method that can explain."""
    if isinstance(explainer, type) or not isinstance(explainer, Method):
        raise SearchError(
            f"explainer is {brief(explainer)}; expected a fitted explainer, such as"
            f" ProCE(model, schema).fit(frame){or_else}."
        )


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


_PACKAGES = ("proce", "torch", "numpy", "pandas", "scikit-learn", "numba")


def versions_in_use(packages: Sequence[str] = _PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of some packages: by default those that compute results."""
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def own_version() -> str:
    """Return the version of this package."""
    return _version("proce")


@cache
def _version(package: str) -> str:
    """Return the version of a package, also of one that runs from its sources; read once."""
    with suppress(PackageNotFoundError):
        if found := version(package):
            return found
    return str(getattr(sys.modules.get(package), "__version__", "not installed"))


def hash_of_rows(rows: Array) -> str:
    """Return the SHA-256 sum of rows."""
    return hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()
