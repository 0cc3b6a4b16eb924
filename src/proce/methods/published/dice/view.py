"""Our rows as DiCE sees them, and back; ``worker.py`` says what DiCE calls the features."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from proce.arrays import Array, Floats, inwards
from proce.errors import SchemaError
from proce.methods.published.dice.messages import DiceQuery
from proce.methods.published.task import CommonFit, Task
from proce.schema import Codec, Continuous

_MAX_INTEGER = 2**31 - 1  # DiCE holds whole numbers in 32 bits
_RANGE_DIGITS = 3  # a number without a step is rounded to a thousandth of its range
_MAX_DECIMALS = 6


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
        """Return which features of a row DiCE may change, ``(f,)``.

        Features that have one permitted value do not vary, nor does a level that DiCE has not
        seen.
        """
        genome = task.genome.take(np.array([position]))
        own = genome.anchor[0]
        known = [
            not codes or int(own[feature]) in codes for feature, codes in enumerate(self.seen_codes)
        ]
        return (genome.movable & (genome.lower < genome.upper))[0] & np.array(known)

    def query(self, task: Task, position: int, varied: Array) -> DiceQuery:
        """Return what DiCE is asked about one row of a task.

        DiCE knows neither missing cells nor unseen levels: the first seen level and the median
        stand in for them, and they do not vary.
        """
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
