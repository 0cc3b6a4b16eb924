"""How an effect comes from its causes and a person's own noise.

The parents of a mechanism arrive by name: levels as codes, numbers in raw units, or on the
unit range where the mechanism's ``units`` say so. ``predict`` is the paper's g, ``abduct``
finds the noise that explains an observed value, ``respond`` gives the value that this noise
leads to under other parents.
"""

import math
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from proce.arguments import brief, check_count, check_fields, is_number
from proce.arrays import Array, scatter
from proce.compiled.elementary import exponentials, logarithms, quantiles, shares_below
from proce.errors import GraphError

Parents = Mapping[str, Array]
Equation = Callable[[Parents], Array]
Units = Literal["raw", "unit"]
_MIN_GAP = 1e-9  # of the noise of a level from where another level begins, beyond rounding
_FARTHEST = 40.0  # normal noise from the middle, or from its threshold: farther has no chance


class Mechanism(Protocol):
    """The equation of one endogenous feature; arrays may have axes ``(i,)`` or ``(i, c)``."""

    @property
    def units(self) -> Units:
        """Whether numbers come and go in raw units or on the unit range."""

    @property
    def noise_size(self) -> int:
        """How many numbers describe the noise of one row."""

    def predict(self, parents: Parents, /) -> Array:
        """Return the equation without its noise: a number, a rank, or logits of levels."""

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Return the noise ``(…, noise_size)`` under which these parents give this value.

        Where many noises give it, one is drawn with the ``uniforms``, which have its shape.
        """

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the value under these parents, with noise ``(…, noise_size)``."""


@dataclass(frozen=True)
class Additive:
    """``x = predict(parents) + u``.

    Parameters
    ----------
    predict
        From parents to the predicted value.
    limits
        Lowest and highest value that exist at all, such as no years below zero.
    units
        Of numbers.
    """

    predict: Equation
    limits: tuple[float, float] = (-math.inf, math.inf)
    units: Units = "raw"
    noise_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check(self, self.units)
        given: Any = self.limits
        if isinstance(given, Set) or len(given) != 2 or not all(map(is_number, given)):
            raise GraphError(f"limits is {brief(given)}; expected (lowest, highest).")
        if not self.limits[0] <= self.limits[1]:
            raise GraphError(f"limits is {self.limits}; write the lower limit first.")

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Return the value less the prediction."""
        return (value - self.predict(parents))[..., None]

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the prediction plus the noise."""
        return np.clip(self.predict(parents) + residual[..., 0], *self.limits)


@dataclass(frozen=True)
class Multiplicative:
    """``x = predict(parents) · exp(u)``, for amounts that are never negative.

    A person with none of the amount has none under other parents too: the value stays at the
    origin.

    Parameters
    ----------
    predict
        From parents to the predicted value, which must be above the origin.
    origin
        The value that counts as none: 0 in raw units, elsewhere on the unit range.
    units
        Of numbers.
    """

    predict: Equation
    origin: float = 0.0
    units: Units = "raw"
    noise_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check(self, self.units)
        if not math.isfinite(self.origin):
            raise GraphError(f"origin is {self.origin}; expected a finite number.")

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Return the logarithm of the value over the prediction."""
        predicted = self.predict(parents) - self.origin
        with np.errstate(divide="ignore", invalid="ignore"):  # of nothing the noise is not finite
            ratio = (value - self.origin) / predicted
        return logarithms(ratio)[..., None]

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the prediction times the exponential of the noise."""
        predicted, factor = self.predict(parents) - self.origin, exponentials(residual[..., 0])
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond all limits stays so
            return predicted * factor + self.origin


@dataclass(frozen=True)
class Ranked:
    """The level of an ordinal feature: ``x = round(predict(parents) + u)``, by rank.

    Parameters
    ----------
    predict
        From parents to the predicted rank.
    n_levels
        The result lies between 0 and ``n_levels - 1``.
    units
        The units of numbers among the parents.
    """

    predict: Equation
    n_levels: int
    units: Units = "raw"
    noise_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check(self, self.units)
        check_count("n_levels", self.n_levels, GraphError)

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Return the rank less the prediction."""
        return (value - self.predict(parents))[..., None]

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the rank of the level."""
        rank = self.predict(parents) + residual[..., 0]
        return np.clip(np.rint(rank), 0, self.n_levels - 1)


@dataclass(frozen=True, eq=False)
class Ordered:
    """The level of an ordinal feature: how many thresholds ``score(parents) + u`` is above.

    The noise u is standard normal, so the chance of a level is that of a normal number between
    its two thresholds (ordered probit). A level leaves the noise open between them.

    Parameters
    ----------
    score
        From parents to the latent number.
    thresholds
        ``(n_levels - 1,)`` float64, rising.
    units
        The units of numbers among the parents.
    noise
        Which of the noises that explain a level is taken: one that is drawn, or their median,
        under which the likely consequences come about.
    """

    score: Equation
    thresholds: Array
    units: Units = "raw"
    noise: Literal["drawn", "median"] = "drawn"
    noise_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check(self, self.units)
        ends = self.thresholds
        if (
            ends.ndim != 1
            or not np.issubdtype(ends.dtype, np.floating)
            or not bool((np.diff(ends) >= 0).all())
        ):
            raise GraphError(
                f"thresholds is {brief(ends)}; expected an array of numbers that rise, one between"
                " each level and the next."
            )
        if self.noise not in ("drawn", "median"):
            raise GraphError(f"noise is {self.noise!r}; expected 'drawn' or 'median'.")

    @property
    def n_levels(self) -> int:
        """One more than the thresholds."""
        return len(self.thresholds) + 1

    def chance(self, parents: Parents, rank: Array) -> Array:
        """Return the chance ``(…)`` of the level with some rank."""
        low, high = self._ends(parents, rank)
        upper = low > 0  # there both shares are close to 1: take what is beyond instead
        start = shares_below(np.where(upper, -high, low))
        stop = shares_below(np.where(upper, -low, high))
        return stop - start

    def predict(self, parents: Parents) -> Array:
        """Return the mean rank, over the chances of the levels."""
        score = self.score(parents)[..., None]
        above = shares_below(score - self.thresholds)
        return above.sum(-1)

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Return normal noise from its posterior, given that this level came about."""
        low, high = self._ends(parents, value)
        upper = low > 0  # there both shares are close to 1: draw from the other side
        start = shares_below(np.where(upper, -high, low))
        stop = shares_below(np.where(upper, -low, high))
        share = uniforms[..., 0] if self.noise == "drawn" else np.full_like(low, 0.5)
        share = np.where(upper, 1 - share, share)
        drawn = quantiles(start + (stop - start) * share)
        gap = np.minimum(((high - low) / 4), _MIN_GAP)
        noise = np.where(upper, -drawn, drawn)
        return np.maximum(np.minimum(noise, high - gap), low + gap)[..., None]

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the rank of the level."""
        latent = self.score(parents) + residual[..., 0]
        return np.searchsorted(self.thresholds, latent).astype(np.float64)

    def _ends(self, parents: Parents, rank: Array) -> tuple[Array, Array]:
        """Return the least and the most noise under which a level comes about."""
        score = self.score(parents)
        ends, rank = self.thresholds, rank.astype(np.int64)
        high = ends[np.minimum(rank, len(ends) - 1)] - score
        low = ends[np.maximum((rank - 1), 0)] - score
        farthest_high, farthest_low = (
            np.maximum(low, 0) + _FARTHEST,
            np.minimum(high, 0) - _FARTHEST,
        )
        high = np.where(rank < len(ends), high, farthest_high)
        return np.where(rank > 0, low, farthest_low), high


@dataclass(frozen=True)
class Choice:
    """The level of a categorical feature: ``x = argmax(predict(parents) + u)``, u Gumbel noise.

    The chances of the levels are then the softmax of the predicted logits ``(…, n_levels)``.
    """

    predict: Equation
    n_levels: int
    units: Units = "raw"

    def __post_init__(self) -> None:
        _check(self, self.units)
        check_count("n_levels", self.n_levels, GraphError)

    @property
    def noise_size(self) -> int:
        """One Gumbel number per level."""
        return self.n_levels

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Draw Gumbel noise from its posterior, given that this level was chosen.

        The highest of the noisy logits is Gumbel around their log-sum-exp, whichever level
        has it; the others are Gumbel around their own logit, cut off below the highest
        (Maddison, Tarlow, Minka 2014).
        """
        logits = self.predict(parents)  # (…, l)
        exponential = -logarithms(uniforms)
        chosen = value.astype(np.int64)[..., None]
        largest = logits.max(-1, keepdims=True)
        total = logarithms(exponentials(logits - largest).sum(-1, keepdims=True))
        own = logarithms(np.take_along_axis(exponential, chosen, -1))
        highest = largest + total - own
        others = -logarithms(exponentials(logits - highest) + np.maximum(exponential, _MIN_GAP))
        return scatter(others, -1, chosen, highest - np.take_along_axis(logits, chosen, -1))

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the code of the chosen level."""
        return (self.predict(parents) + residual).argmax(-1).astype(np.float64)


def _check(mechanism: object, units: str) -> None:
    """Refuse a mechanism with a part of another kind than is declared."""
    check_fields(mechanism, GraphError)
    if units not in ("raw", "unit"):
        raise GraphError(f"units is {units!r}; expected 'raw' or 'unit'.")
