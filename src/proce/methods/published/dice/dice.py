"""DiCE (Mothilal, Sharma and Tan 2020, arXiv:1905.07697) behind the interface of every method.

This is an adapter to the package of its authors, whose ``gradient`` method minimises the paper's
Eq. 4. The package runs in a process of its own: it raises where it finds nothing, and some of its
loops have no end. What that process does is in ``worker.py``, which also says what DiCE calls the
features.
"""

import atexit
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from proce.arguments import check_fields
from proce.arrays import Array, Floats, inwards
from proce.classifier.classifier import likeliest_other
from proce.compiled.copies import distinct, rounded
from proce.errors import MissingExtraError, SchemaError, SearchError
from proce.losses import target_probability
from proce.methods.calls.method import ProgressCallback
from proce.methods.published.dice.worker import (
    DiceAnswer,
    DiceNetwork,
    DiceQuery,
    DiceSetup,
    DiceWorker,
    load,
    modules_of,
    score_of,
    silence,
)
from proce.methods.published.published import Published
from proce.methods.published.task import (
    EVALUATIONS_SPENT,
    NOTHING_MOVES,
    Candidates,
    CommonFit,
    Task,
)
from proce.processes.fork_server import ForkServer
from proce.processes.pool import PoolSettings, WorkerPool
from proce.processes.spawn_server import SpawnServer
from proce.processes.task import Task as ProcessTask
from proce.processes.task import TaskCancelled, TaskTimedOut, WorkerDied
from proce.processes.worker import pickled
from proce.schema import Codec, Continuous, MixedDistance

DiceMethod = Literal["random", "genetic", "gradient"]
TOOK_TOO_LONG = "DiCE took longer than"  # how the note of such a row begins
_BELOW_HALF = 0.5 - 1e-6
_MIN_ITERATIONS = 500  # of the gradient method, unless max_iterations is smaller
_POLL_SECONDS = 0.2  # between two looks at whether the caller still wants an answer
_OPEN_SECONDS = 300.0  # for the imports of DiCE's process, on a machine that is very busy
_MAX_INTEGER = 2**31 - 1  # DiCE holds whole numbers in 32 bits
_RANGE_DIGITS = 3  # a number without a step is rounded to a thousandth of its range
_MAX_DECIMALS = 6
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


@dataclass(frozen=True, eq=False)
class DiceView:
    """The complete training rows in raw units, and what DiCE is told of their features."""

    codec: Codec  # the features
    complete: Array  # (n,), which training rows DiCE is given
    raw: Floats  # (m, f), those rows, with levels as codes
    is_whole: tuple[bool, ...]  # which features are whole numbers
    decimals: tuple[int, ...]  # how many decimals each number is rounded to; 0 for levels
    # the codes in these rows of each feature with levels; an empty list for numbers
    seen_codes: list[list[int]]

    @classmethod
    def of(cls, common: CommonFit) -> "DiceView":
        """Return the view of the training rows."""
        codec = common.codec
        complete = np.logical_not(codec.missing(common.rows).any(-1))
        if not bool(complete.any()):
            raise SchemaError(
                "every training row misses a cell, and DiCE takes complete rows only. Fill in what"
                " is missing, or drop the features concerned."
            )
        raw = codec.to_raw(common.rows[complete])
        columns = list(zip(codec.schema, raw.T, strict=True))
        return cls(
            codec,
            complete,
            raw,
            tuple(_is_whole(feature, column) for feature, column in columns),
            tuple(_decimals(feature, float(np.ptp(column))) for feature, column in columns),
            [
                [] if isinstance(feature, Continuous) else np.unique(column).astype(int).tolist()
                for feature, column in columns
            ],
        )

    @property
    def names(self) -> list[str]:
        """The features, as DiCE knows them."""
        return [f"x{position:03d}" for position in range(len(self.codec.schema))]

    @property
    def numbers(self) -> list[str]:
        """The features that are numbers, as DiCE knows them."""
        return [self.names[position] for position in np.flatnonzero(self.codec.is_number)]

    def data(self, predicted: Array) -> Any:
        """Return DiCE's own record of the training rows, given the predicted class of each."""
        import dice_ml

        columns = {
            name: [self._cell(feature, value) for value in self.raw[:, feature]]
            for feature, name in enumerate(self.names)
        }
        return dice_ml.Data(
            dataframe=pd.DataFrame(columns).assign(outcome=predicted[self.complete]),
            continuous_features=self.numbers,
            continuous_features_precision={
                name: places
                for name, places in zip(self.names, self.decimals, strict=True)
                if name in self.numbers
            },
            outcome_name="outcome",
        )

    def varied(self, task: Task, position: int) -> Array:
        """Return which features of a row DiCE may change, ``(f,)``."""
        # Features that have one permitted value do not vary, nor does a level that DiCE has not
        # seen.
        genome = task.genome.take(np.array([position]))
        own = genome.anchor[0]
        known = [
            not codes or int(own[feature]) in codes for feature, codes in enumerate(self.seen_codes)
        ]
        return (genome.movable & (genome.lower < genome.upper))[0] & np.array(known)

    def query(self, task: Task, position: int, varied: Array) -> DiceQuery:
        """Return what DiCE is asked about one row of a task."""
        # DiCE knows neither missing cells nor unseen levels: the first seen level and the median
        # stand in for them, and they do not vary.
        own = task.genome.anchor[position]
        raw, median = self.codec.to_raw(own), np.median(self.raw, axis=0)
        missing = self.codec.missing(own)
        for feature, codes in enumerate(self.seen_codes):
            if codes and (missing[feature] or int(raw[feature]) not in codes):
                raw[feature] = codes[0]
            elif missing[feature]:
                whole = self.is_whole[feature]
                raw[feature] = round(median[feature]) if whole else median[feature]
        return DiceQuery(
            values={
                name: self._cell(feature, raw[feature]) for feature, name in enumerate(self.names)
            },
            own=own,
            target=int(task.target[position]),
            n=task.n,
            vary=[name for name, moves in zip(self.names, varied.tolist(), strict=True) if moves],
            ranges=self._ranges(task, position, varied),
            seed=int(task.streams.states[position]) & _MAX_INTEGER,
            max_evaluations=int(task.evaluations_left[position]),
        )

    def rows(self, values: Floats, task: Task, position: int, varied: Array) -> Array:
        """Return values of DiCE's ``(c, f)`` as rows on permitted values ``(1, c, f)``."""
        rows = self.codec.to_unit(values)
        held = np.where(varied, rows, task.genome.anchor[position])
        return task.repair(held[None], np.array([position]))

    def _ranges(self, task: Task, position: int, varied: Array) -> dict[str, list[Any]]:
        """Return where each feature of a row may go, by name."""
        ends = np.stack([task.genome.lower[position], task.genome.upper[position]])
        lower, upper = self.codec.to_raw(ends)
        lower = np.where(varied, lower, self.raw.min(0))
        upper = np.where(varied, upper, self.raw.max(0))
        return {
            name: self._range(feature, float(lower[feature]), float(upper[feature]))
            for feature, name in enumerate(self.names)
        }

    def _range(self, feature: int, lower: float, upper: float) -> list[Any]:
        """Return the permitted levels of a feature, or the ends of its range."""
        if self.seen_codes[feature]:
            codes = [code for code in self.seen_codes[feature] if lower <= code <= upper]
            return [self._cell(feature, code) for code in codes]
        if self.decimals[feature]:
            return [lower, upper]
        return [int(end) for end in inwards(lower, upper, 0.0, 1.0)]

    def _cell(self, feature: int, value: float) -> Any:
        """Return one value as DiCE takes it."""
        if self.seen_codes[feature]:
            return f"{int(value):03d}"
        whole = self.is_whole[feature] and float(value).is_integer()
        return int(value) if whole else float(value)


def _is_whole(feature: Any, column: Floats) -> bool:
    """Return whether a feature is a whole number in the schema and in all training rows."""
    if not isinstance(feature, Continuous) or feature.step is None:
        return False
    integral = float(feature.step).is_integer() and bool((column == np.round(column)).all())
    return integral and float(np.abs(column).max()) <= _MAX_INTEGER


def _decimals(feature: Any, span: float) -> int:
    """Return how many decimals show the steps of a feature, or a thousandth of its range."""
    if not isinstance(feature, Continuous):
        return 0
    if feature.step is None:
        return max(0, math.ceil(_RANGE_DIGITS - math.log10(span or 1.0)))
    step = Fraction(repr(feature.step))
    exact = [n for n in range(_MAX_DECIMALS) if (step * 10**n).denominator == 1]
    return exact[0] if exact else _MAX_DECIMALS


@dataclass(eq=False)
class DiceProcess:
    """A process that answers one query after the other; use it in a ``with`` block."""

    # The model stays in the caller's process (but for a network whose gradient is needed), so it
    # may be anything.
    setup: DiceSetup
    start_method: str | None = None  # fork (from a clean process) or spawn, if not the first it has
    _pool: WorkerPool | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.close()

    def ask(
        self,
        query: DiceQuery,
        score: Callable[[Floats | None], Floats | None],
        max_seconds: float,
        is_over: Callable[[], bool],
    ) -> DiceAnswer | None:
        """Return DiCE's answer, or None where it takes too long or the whole call must end."""
        if self._pool is None:
            work = pickled(partial(DiceWorker, self.setup))
            settings = PoolSettings(1, grace_seconds=0.0, open_seconds=_OPEN_SECONDS)
            self._pool = WorkerPool(work, _server(self.setup.method, self.start_method), settings)
        questions: SimpleQueue[Any] = SimpleQueue()
        task = ProcessTask(
            "answer",
            {"query": query},
            reports=True,
            on_question=questions.put,
            seconds=max_seconds,
            n_tries=1,  # what it has asked is spent
        )
        task.future.add_done_callback(questions.put)
        self._pool.submit(task)
        while not task.future.done():
            if is_over():
                task.cancel()
            try:
                question = questions.get(timeout=_POLL_SECONDS)
            except Empty:
                continue
            if question is not task.future:
                task.answer(score(question))
        try:
            answer: DiceAnswer = task.future.result()
        except (TaskCancelled, TaskTimedOut):
            return None
        return answer


@cache
def _server(method: str, start_method: str | None) -> ForkServer | SpawnServer:
    """Return what starts processes of DiCE, one for the whole program: its imports take seconds."""
    if start_method == "spawn" or not hasattr(os, "fork"):
        return SpawnServer()
    server = ForkServer(modules_of(method))
    atexit.register(server.close)
    return server


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_server.cache_clear)


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
            low, high = view.raw.min(0), view.raw.max(0)
            network = DiceNetwork.of(common.classifier, common.codec, low, high, view.seen_codes)
        try:
            with silence():
                load(settings.method)
        except ImportError as error:
            raise MissingExtraError(
                "Dice needs dice-ml, which is not installed; install it with"
                " pip install 'proce[bench]'."
            ) from error
        with silence():
            data = view.data(common.predicted)
        return view, DiceSetup(data, settings.method, settings.options(), network)

    def _find(self, task: Task) -> Candidates:
        view, setup = self.prepared_
        candidates = Candidates.none(task)
        with DiceProcess(setup, self.start_method) as process:
            for position in range(len(task)):
                task.report(0)
                if task.over:
                    candidates.unfinished[position:] = True
                    break
                search = _RowSearch(task, position, view, view.varied(task, position))
                best, note = search.run(process, self.settings_.seconds_per_row)
                candidates.fill(position, best)
                candidates.unfinished[position] = task.over
                if note:
                    candidates.notes[position] = note
        return candidates


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
            return nothing, NOTHING_MOVES
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
            nearest = self._nearest(np.concatenate([nothing, *self.reached]))
            return nearest, "" if len(nearest) else EVALUATIONS_SPENT
        return self._nearest(self._rows(answer.rows)[0]), answer.note

    def score(self, values: Floats | None) -> Floats | None:
        """Return how far on the target's side rows are, above one half where they may be taken."""
        # ``None`` asks about the training rows, whose classes are known. The answer is None where
        # the row has no evaluations left.
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
