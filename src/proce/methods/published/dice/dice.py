"""DiCE (Mothilal, Sharma and Tan 2020, arXiv:1905.07697) behind the interface of every method.

This is an adapter to the package of its authors, whose ``gradient`` method minimises the paper's
Eq. 4. The package runs in a process of its own: it raises where it finds nothing, and some of its
loops have no end.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from proce.arguments import check_fields
from proce.arrays import Array, Floats
from proce.classifier.classifier import likeliest_other
from proce.compiled.copies import distinct, rounded
from proce.errors import MissingExtraError, SearchError
from proce.losses import target_probability
from proce.methods.calls.method import ProgressCallback
from proce.methods.published.collector import CounterfactualCollector
from proce.methods.published.dice.messages import score_of
from proce.methods.published.dice.process import DiceProcess
from proce.methods.published.dice.view import DiceView
from proce.methods.published.dice.worker import DiceSetup, load, silence
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.processes.task import WorkerDied
from proce.schema import MixedDistance

DiceMethod = Literal["random", "genetic", "gradient"]
TOOK_TOO_LONG = "DiCE took longer than"  # how the note of such a row begins
_BELOW_HALF = 0.5 - 1e-6
_MIN_ITERATIONS = 500  # of the gradient method, unless max_iterations is smaller
_OPTIONS = {
    "random": ("sample_size",),
    "genetic": ("proximity_weight", "diversity_weight", "max_iterations"),
    "gradient": ("proximity_weight", "diversity_weight", "max_iterations", "learning_rate"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiceSettings:
    """Settings of DiCE; ``None`` for the package's own default.

    Attributes
    ----------
    method
        ``random``: samples of features, changing one more at a time. ``genetic``: evolves from
        training rows of the target class. ``gradient``: the paper's, for networks.
    seconds_per_row
        A row that takes longer is given up.
    sample_size
        How many samples are drawn in each round, for ``random``.
    proximity_weight, diversity_weight
        The weights of these two terms of the loss, for ``genetic`` and ``gradient``.
    max_iterations
        How many iterations are made, at most, for ``genetic`` and ``gradient``.
    learning_rate
        The learning rate of ``gradient``.
    """

    method: DiceMethod = "random"
    seconds_per_row: float = 30.0
    sample_size: int | None = None
    proximity_weight: float | None = None
    diversity_weight: float | None = None
    max_iterations: int | None = None
    learning_rate: float | None = None

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        if self.method not in _OPTIONS:
            names = ", ".join(map(repr, _OPTIONS))
            raise SearchError(f"method is {self.method!r}; expected one of {names}.")
        if not self.seconds_per_row > 0:
            raise SearchError(f"seconds_per_row is {self.seconds_per_row}; expected more than 0.")
        for name in sorted({name for names in _OPTIONS.values() for name in names}):
            if getattr(self, name) is not None:
                self._check(name, getattr(self, name))

    def _check(self, name: str, value: float) -> None:
        if name not in _OPTIONS[self.method]:
            methods = [method for method, names in _OPTIONS.items() if name in names]
            known = " and ".join(repr(method) for method in methods)
            raise SearchError(f"{name} is for the method {known}, not {self.method!r}.")
        if name.endswith("weight") and not value >= 0:
            raise SearchError(f"{name} is {value}; expected 0 or more.")
        if not name.endswith("weight") and not value > 0:
            raise SearchError(f"{name} is {value}; expected more than 0.")

    def options(self) -> dict[str, Any]:
        """Return the options of DiCE's search, by the names that its package gives them."""
        given = {name: getattr(self, name) for name in _OPTIONS[self.method]}
        limit = given.pop("max_iterations", None)
        if limit is not None and self.method == "genetic":
            given["maxiterations"] = limit
        elif limit is not None:
            given |= {"max_iter": limit, "min_iter": min(limit, _MIN_ITERATIONS)}
        return {name: value for name, value in given.items() if value is not None}


class Dice(Published[DiceSettings]):
    """DiCE (Mothilal, Sharma and Tan 2020), by the package of its authors.

    A row on which DiCE raises, dies or takes too long has no counterfactual, and a note says
    what happened. Needs dice-ml: the ``bench`` extra.
    """

    Settings = DiceSettings
    start_method: str | None = None  # of DiCE's process: fork or spawn

    def _prepare(
        self, common: CommonFit, progress: ProgressCallback | None
    ) -> tuple[DiceView, DiceSetup]:
        view, settings, network = DiceView.of(common), self.settings_, None
        if settings.method == "gradient":
            from proce.methods.published.dice.network import DiceNetwork

            low, high = view.raw.min(0), view.raw.max(0)
            network = DiceNetwork.of(common.classifier, common.codec, low, high, view.seen_codes)
        with silence():
            _load(settings.method)
            data = view.data(common.predicted)
        return view, DiceSetup(data, settings.method, settings.options(), network)

    def _find(self, task: Task) -> Candidates:
        view, setup = self.prepared_
        collector = CounterfactualCollector.empty(task)
        unfinished = np.zeros(len(task), dtype=np.bool_)
        notes: dict[int, str] = {}
        with DiceProcess(setup, self.start_method) as process:
            for position in range(len(task)):
                task.report(0)
                if task.over:
                    unfinished[position:] = True
                    break
                search = _RowSearch(task, position, view, view.varied(task, position))
                best, note = search.run(process, self.settings_.seconds_per_row)
                collector.fill(position, best)
                unfinished[position] = task.over
                if note:
                    notes[position] = note
        return Candidates(collector.rows, collector.filled, unfinished, notes=notes)


@dataclass(eq=False)
class _RowSearch:
    """DiCE's search for one row of a task."""

    task: Task
    position: int
    view: DiceView
    varied: Array  # (f,), which features DiCE may change
    spent: bool = field(default=False, init=False)  # whether the evaluations ran out
    reached: list[Array] = field(default_factory=list, init=False)  # rows of the target class

    def run(self, process: DiceProcess, max_seconds: float) -> tuple[Array, str]:
        """Return the counterfactuals ``(c, f)`` that DiCE finds, the nearest first, and a note."""
        task, nothing = self.task, self.task.factual[:0]
        if not bool(self.varied.any()):
            return nothing, "No feature may move."
        query = self.view.query(task, self.position, self.varied)
        budget = int(task.evaluations_left[self.position])
        for is_last in (False, True):
            try:
                answer = process.ask(query, self.score, max_seconds, lambda: task.over)
                break
            except WorkerDied as error:
                if is_last:
                    return nothing, f"DiCE failed: {error.death}."
                # What ended it may have been chance: the row begins anew.
                task.evaluations_left[self.position] = budget
                self.spent, self.reached = False, []
        if answer is None:
            return nothing, "" if task.over else f"{TOOK_TOO_LONG} {max_seconds:g} s."
        task.evaluations_left[self.position] -= answer.evaluations
        task.call.evaluations += answer.evaluations
        if self.spent:
            return self._nearest(np.concatenate([nothing, *self.reached])), ""
        return self._nearest(self._rows(answer.rows)[0]), answer.note

    def score(self, values: Floats | None) -> Floats | None:
        """Return how far on the target's side rows are, above one half where they may be taken.

        ``None`` asks about the training rows, whose classes are known. The answer is None where
        the row has no evaluations left.
        """
        if values is None:
            predicted = self.task.common.predicted[self.view.complete]
            on_side = predicted == self.task.target[self.position]
            return np.where(on_side, 0.75, 0.25)
        rows = self._rows(values)
        target, threshold = self.task.target[self.position], self.task.common.classifier.threshold
        flags, answers = self.task.answers(rows, np.array([self.position]))
        self.spent = bool(np.isnan(answers).any())
        self.reached.append(rows[flags])
        if self.spent:
            return None
        chances, wanted = answers[0], np.full(len(rows), target)
        rival = target_probability(chances, likeliest_other(chances, wanted))
        score = score_of(target_probability(chances, wanted), rival, target, threshold)
        # A row that breaks a rule or a limit is not on that side, whatever the model says.
        return np.where(flags[0], np.maximum(score, 0.5), np.minimum(score, _BELOW_HALF))

    def _rows(self, values: Floats) -> Array:
        return self.view.rows(values, self.task, self.position, self.varied)

    def _nearest(self, rows: Array) -> Array:
        """Return the n nearest of the different rows ``(c, f)``, the nearest first."""
        rows = rows[distinct(rounded(rows))]
        gower = MixedDistance.gower(self.view.codec)
        distance = gower.mean(rows, self.task.factual[self.position])
        return rows[np.argsort(distance, axis=-1, kind="stable")[: self.task.n]]


def _load(method: str) -> None:
    try:
        load(method)
    except ImportError as error:
        raise MissingExtraError(
            "Dice needs dice-ml, which is not installed; install it with"
            " pip install 'proce[bench]'."
        ) from error
