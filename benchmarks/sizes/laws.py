"""Laws of growth: a fixed part, a part that grows with a size, and one that grows with its square.

None of the parts is negative, and relative errors count, so that the largest point does not decide
alone. A law is judged by the points that it was not fitted on: each is left out in turn, and
foretold by the law of the others. Of a constant, a line and a parabola the simplest is taken that
foretells them about as well as any.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

_ABOUT_AS_WELL = 1.2  # times the mean error of the best law
_ROUNDING = 1e-9
_LEAST = 1e-3  # of a value, where nothing is foretold


@dataclass(frozen=True)
class Law:
    """A quantity as ``fixed + linear * n + square * n**2``.

    Attributes
    ----------
    fixed, linear, square
        The constants.
    left_out
        By which share the value of each point is foretold too high by the law of the others.
    """

    fixed: float
    linear: float
    square: float
    left_out: tuple[float, ...] = ()

    @classmethod
    def fit(cls, sizes: Sequence[float], values: Sequence[float]) -> "Law":
        """Fit the law of points, and foretell each by the others."""
        n, y = np.asarray(sizes, float), np.asarray(values, float)
        laws = [cls._with_parts(n, y, n_parts) for n_parts in (1, 2, 3)]
        misses = [law.miss for law in laws]
        return next(
            law
            for law, miss in zip(laws, misses, strict=True)
            if miss <= _ABOUT_AS_WELL * min(misses) + _ROUNDING
        )

    @classmethod
    def _with_parts(cls, n: "NDArray[np.float64]", y: "NDArray[np.float64]", n_parts: int) -> "Law":
        """Return the law of the first parts alone."""
        left_out = []
        for place in range(len(n)):
            others = np.arange(len(n)) != place
            foretold = cls(*_constants(n[others], y[others], n_parts))(n[place])
            left_out.append(float(foretold / y[place] - 1))
        return cls(*_constants(n, y, n_parts), tuple(left_out))

    def __call__(self, size: "float | NDArray[np.float64]") -> "NDArray[np.float64]":
        """Return the value at a size."""
        n = np.asarray(size, float)
        return np.asarray(self.fixed + self.linear * n + self.square * n**2)

    @property
    def miss(self) -> float:
        """By how much points that were left out are missed, as the mean of logarithms."""
        times = np.maximum(1 + np.array(self.left_out), _LEAST)
        return float(np.abs(np.log(times)).mean())

    def formula(self, letter: str) -> str:
        """Return the law as a reader would write it, without the parts that are nothing."""
        parts = [(self.fixed, ""), (self.linear, f" · {letter}"), (self.square, f" · {letter}²")]
        shown = [f"{_number(constant)}{power}" for constant, power in parts if constant > 0]
        return " + ".join(shown) or "0"

    @property
    def judgement(self) -> str:
        """How well points that were left out are foretold: the median of the errors, and all."""
        errors = np.round(self.left_out, 2) + 0.0  # no zero has a sign
        middle = np.median(np.abs(self.left_out))
        return f"{middle:.0%} ({errors.min():+.0%} to {errors.max():+.0%})"


def _constants(
    n: "NDArray[np.float64]", y: "NDArray[np.float64]", n_parts: int
) -> tuple[float, float, float]:
    scale = max(1.0, float(n.max()))  # or the square would outweigh all else in the solver
    terms = np.stack([(n / scale) ** power for power in range(n_parts)], axis=1)
    found = nnls(terms / y[:, None], np.ones(len(y)))[0]
    fixed, linear, square = [*found, 0.0, 0.0][:3]
    return float(fixed), float(linear / scale), float(square / scale**2)


def _number(value: float) -> str:
    """Return two digits that count, without an exponent."""
    digits = max(0, 1 - int(np.floor(np.log10(value))))
    return f"{round(value, digits):,.{digits}f}"
