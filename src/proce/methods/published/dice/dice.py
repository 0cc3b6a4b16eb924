"""DiCE (Mothilal, Sharma and Tan 2020) behind the interface of every method.

An adapter to the package of its authors, which runs in a process of its own: it raises where
it finds nothing, and some of its loops have no end.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from proce.errors import MissingExtraError, SearchError
from proce.methods.calls.method import ProgressCallback
from proce.methods.published.dice.network import DiceNetwork
from proce.methods.published.dice.process import DiceProcess
from proce.methods.published.dice.view import DiceView
from proce.methods.published.dice.worker import Kit, Values, load, silence
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, Learnt, Task
from proce.objective import MixedDistance

DiceMethod = Literal["random", "genetic", "gradient"]
_BELOW_HALF = 0.5 - 1e-6
_SHORTEST = 500  # iterations that the gradient method makes at least, unless told otherwise
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
        Samples per round, for ``random``.
    proximity_weight, diversity_weight
        Of the loss, for ``genetic`` and ``gradient``.
    max_iterations
        For ``genetic`` and ``gradient``.
    learning_rate
        For ``gradient``.
    """

    method: DiceMethod = "random"
    seconds_per_row: float = 30.0
    sample_size: int | None = None
    proximity_weight: float | None = None
    diversity_weight: float | None = None
    max_iterations: int | None = None
    learning_rate: float | None = None

    def __post_init__(self) -> None:
        if self.method not in _OPTIONS:
            names = ", ".join(map(repr, _OPTIONS))
            raise SearchError(f"method is {self.method!r}; expected one of {names}.")
        if not self.seconds_per_row > 0:
            raise SearchError(f"seconds_per_row is {self.seconds_per_row}; expected more than 0.")
        for name in sorted({each for names in _OPTIONS.values() for each in names}):
            if getattr(self, name) is not None:
                self._check(name, getattr(self, name))

    def _check(self, name: str, value: float) -> None:
        if name not in _OPTIONS[self.method]:
            known = " and ".join(repr(m) for m, names in _OPTIONS.items() if name in names)
            raise SearchError(f"{name} is for the method {known}, not {self.method!r}.")
        if name.endswith("weight") and not value >= 0:
            raise SearchError(f"{name} is {value}; expected 0 or more.")
        if not name.endswith("weight") and not value > 0:
            raise SearchError(f"{name} is {value}; expected more than 0.")

    def options(self) -> dict[str, Any]:
        """Return what DiCE is told beside the row."""
        given = {name: getattr(self, name) for name in _OPTIONS[self.method]}
        most = given.pop("max_iterations", None)
        if most is not None and self.method == "genetic":
            given["maxiterations"] = most
        elif most is not None:
            given |= {"max_iter": most, "min_iter": min(most, _SHORTEST)}
        return {name: value for name, value in given.items() if value is not None}


class Dice(Published[DiceSettings]):
    """DiCE (Mothilal, Sharma and Tan 2020), by the package of its authors.

    A row on which DiCE raises, dies or takes too long has no counterfactual, and a note says
    what happened. Needs dice-ml: the ``bench`` extra.
    """

    Settings = DiceSettings

    def _prepare(self, learnt: Learnt, progress: ProgressCallback | None) -> "tuple[DiceView, Kit]":
        view, settings, network = DiceView.of(learnt), self.settings_, None
        if settings.method == "gradient":
            low, high = (torch.from_numpy(end) for end in (view.raw.min(0), view.raw.max(0)))
            network = DiceNetwork.of(learnt.classifier, learnt.codec, low, high, view.seen)
        with silence():
            _load(settings.method)
            data = view.data(learnt.predicted)
        return view, Kit(data, settings.method, settings.options(), network)

    def _find(self, task: Task) -> Candidates:
        view, kit = self.prepared_
        rows = task.factual[:, None].repeat(1, task.n, 1)
        found = torch.zeros(len(task), task.n, dtype=torch.bool)
        unfinished = torch.zeros(len(task), dtype=torch.bool)
        notes: dict[int, str] = {}
        with DiceProcess(kit) as process:
            for at in range(len(task)):
                task.tell(0)
                if task.over:
                    unfinished[at:] = True
                    break
                asked = _Asked(task, at, view, view.varied(task, at))
                best, note = asked.put(process, self.settings_.seconds_per_row)
                rows[at, : len(best)], found[at, : len(best)] = best, True
                unfinished[at] = task.over
                if note:
                    notes[at] = note
        return Candidates(rows, found, unfinished, notes=notes)


@dataclass(eq=False)
class _Asked:
    """One row that DiCE is asked about."""

    task: Task
    at: int
    view: DiceView
    varied: Tensor  # (f,)
    spent: bool = field(default=False, init=False)
    reached: list[Tensor] = field(default_factory=list, init=False)

    def put(self, process: DiceProcess, seconds: float) -> tuple[Tensor, str]:
        """Return the counterfactuals ``(c, f)`` that DiCE finds, the nearest first, and a note."""
        task, nothing = self.task, self.task.factual[:0]
        if not bool(self.varied.any()):
            return nothing, "No feature may move."
        question = self.view.question(task, self.at, self.varied)
        answer = process.ask(question, self.respond, seconds, lambda: task.over)
        if answer is None:
            return nothing, "" if task.over else f"DiCE took longer than {seconds:g} s."
        task.left[self.at] -= answer.evaluations
        task.call.evaluations += answer.evaluations
        if self.spent:
            return self._nearest(torch.cat([nothing, *self.reached])), ""
        return self._nearest(self._rows(answer.rows)[0]), answer.note

    def respond(self, values: Values | None) -> Values | None:
        """Return how far on the target's side rows are, above one half where they reach it.

        None where the row has no evaluations left. The training rows are known.
        """
        if values is None:
            learnt = self.task.learnt
            own = learnt.predicted[self.view.complete] == self.task.target[self.at]
            return torch.where(own, 0.75, 0.25).numpy()
        rows = self._rows(values)
        flags, chances = self.task.reached(rows, torch.tensor([self.at]))
        self.spent = bool(chances.isnan().any())
        self.reached.append(rows[flags])
        if self.spent:
            return None
        score = torch.where(flags, chances.clamp(min=0.5), chances.clamp(max=_BELOW_HALF))
        return score[0].double().numpy()

    def _rows(self, values: Values) -> Tensor:
        return self.view.rows(values, self.task, self.at, self.varied)

    def _nearest(self, rows: Tensor) -> Tensor:
        rows = torch.from_numpy(np.unique(rows.numpy(), axis=0))
        distance = MixedDistance.gower(self.view.codec)(rows, self.task.factual[self.at]).mean(-1)
        return rows[distance.argsort(stable=True)[: self.task.n]]


def _load(method: str) -> None:
    try:
        load(method)
    except ImportError as error:
        raise MissingExtraError(
            "Dice needs dice-ml, which is not installed; install it with"
            " pip install 'proce[bench]'."
        ) from error
