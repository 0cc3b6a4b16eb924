"""Our rows as DiCE sees them, and back; the worker beside this file has its names."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from proce.errors import SchemaError
from proce.methods.published.dice.worker import Question, Values
from proce.methods.published.task import Learnt, Task
from proce.schema import Codec, Continuous

_LARGEST = 2**31 - 1  # DiCE holds whole numbers in 32 bits
_POINTS = 3  # a number without a step is rounded to a thousandth of its range
_MOST_DECIMALS = 6


@dataclass(frozen=True, eq=False)
class DiceView:
    """Training rows in raw units, without those that miss a cell, and what follows from them.

    Attributes
    ----------
    codec
        The features.
    complete
        ``(n,)``, which training rows DiCE is given.
    raw
        Those rows ``(m, f)``, levels as codes.
    whole
        Which features are whole numbers.
    decimals
        To which numbers are rounded; 0 for levels.
    seen
        The codes of each feature with levels; nothing for numbers.
    """

    codec: Codec
    complete: Tensor
    raw: Values
    whole: tuple[bool, ...]
    decimals: tuple[int, ...]
    seen: list[list[int]]

    @classmethod
    def of(cls, learnt: Learnt) -> "DiceView":
        """Return the view of the training rows."""
        codec = learnt.codec
        complete = ~codec.missing(learnt.rows).any(-1)
        if not bool(complete.any()):
            raise SchemaError(
                "every training row misses a cell, and DiCE takes complete rows only. Fill in what"
                " is missing, or drop the features concerned."
            )
        raw = codec.to_raw(learnt.rows[complete]).numpy()
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
        return [f"x{at:03d}" for at in range(len(self.codec.schema))]

    @property
    def numbers(self) -> list[str]:
        """Those that are numbers."""
        features = zip(self.names, self.codec.schema, strict=True)
        return [name for name, feature in features if isinstance(feature, Continuous)]

    def data(self, outcome: Tensor) -> Any:
        """Return DiCE's own record of the training rows, given the class of each."""
        import dice_ml

        columns = {
            name: [self._cell(at, value) for value in self.raw[:, at]]
            for at, name in enumerate(self.names)
        }
        return dice_ml.Data(
            dataframe=pd.DataFrame(columns).assign(outcome=outcome[self.complete].numpy()),
            continuous_features=self.numbers,
            continuous_features_precision={
                name: places
                for name, places in zip(self.names, self.decimals, strict=True)
                if name in self.numbers
            },
            outcome_name="outcome",
        )

    def varied(self, task: Task, at: int) -> Tensor:
        """Return which features of a row DiCE may change, ``(f,)``.

        Not those that have one permitted value, nor a level that it has not seen.
        """
        genome = task.genome.take(torch.tensor([at]))
        own = genome.anchor[0]
        known = [not codes or int(own[k]) in codes for k, codes in enumerate(self.seen)]
        return (genome.movable & (genome.lower < genome.upper))[0] & torch.tensor(known)

    def question(self, task: Task, at: int, varied: Tensor) -> Question:
        """Return what DiCE is asked about one row of a task."""
        own = task.genome.anchor[at]
        raw, usual = self.codec.to_raw(own).numpy(), np.median(self.raw, axis=0)
        gone = self.codec.missing(own).numpy()
        for k, codes in enumerate(self.seen):
            if codes and (gone[k] or int(raw[k]) not in codes):
                raw[k] = codes[0]
            elif gone[k]:
                raw[k] = round(usual[k]) if self.whole[k] else usual[k]
        return Question(
            query={name: self._cell(k, raw[k]) for k, name in enumerate(self.names)},
            own=own,
            target=int(task.target[at]),
            n=task.n,
            vary=[name for name, moves in zip(self.names, varied.tolist(), strict=True) if moves],
            ranges=self._ranges(task, at, varied),
            seed=int(task.streams.states[at]) & _LARGEST,
            evaluations=int(task.left[at]),
        )

    def rows(self, values: Values, task: Task, at: int, varied: Tensor) -> Tensor:
        """Return values of DiCE's ``(c, f)`` as rows on permitted values ``(1, c, f)``."""
        rows = self.codec.to_unit(torch.from_numpy(values))
        held = torch.where(varied, rows, task.genome.anchor[at])
        return task.repair(held[None], torch.tensor([at]))

    def _ranges(self, task: Task, at: int, varied: Tensor) -> dict[str, list[Any]]:
        ends = torch.stack([task.genome.lower[at], task.genome.upper[at]])
        lower, upper = self.codec.to_raw(ends).numpy()
        lower = np.where(varied, lower, self.raw.min(0))
        upper = np.where(varied, upper, self.raw.max(0))
        ranges: dict[str, list[Any]] = {}
        for k, name in enumerate(self.names):
            if self.seen[k]:
                codes = [code for code in self.seen[k] if lower[k] <= code <= upper[k]]
                ranges[name] = [self._cell(k, code) for code in codes]
            elif self.decimals[k]:
                ranges[name] = [float(lower[k]), float(upper[k])]
            else:
                ranges[name] = [math.ceil(lower[k] - 1e-6), math.floor(upper[k] + 1e-6)]
        return ranges

    def _cell(self, at: int, value: float) -> Any:
        if self.seen[at]:
            return f"{int(value):03d}"
        return int(value) if self.whole[at] and float(value).is_integer() else float(value)


def _is_whole(feature: Any, column: Values) -> bool:
    if not isinstance(feature, Continuous) or feature.step is None:
        return False
    integral = float(feature.step).is_integer() and bool((column == np.round(column)).all())
    return integral and float(np.abs(column).max()) <= _LARGEST


def _decimals(feature: Any, span: float) -> int:
    if not isinstance(feature, Continuous):
        return 0
    if feature.step is None:
        return max(0, math.ceil(_POINTS - math.log10(span or 1.0)))
    step = Fraction(repr(feature.step))
    exact = [n for n in range(_MOST_DECIMALS) if (step * 10**n).denominator == 1]
    return exact[0] if exact else _MOST_DECIMALS
