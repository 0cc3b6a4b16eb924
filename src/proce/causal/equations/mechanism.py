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

import torch
from torch import Tensor

from proce.arguments import brief, check_count, check_fields, is_number
from proce.errors import GraphError

Parents = Mapping[str, Tensor]
Equation = Callable[[Parents], Tensor]
Units = Literal["raw", "unit"]
_MIN_GAP = 1e-9  # of the noise of a level from where another level begins, beyond rounding
_FARTHEST = 40.0  # normal noise from the middle, or from its threshold: farther has no chance


class Mechanism(Protocol):
    """The equation of one endogenous feature; tensors may have axes ``(i,)`` or ``(i, c)``."""

    @property
    def units(self) -> Units:
        """Whether numbers come and go in raw units or on the unit range."""

    @property
    def noise_size(self) -> int:
        """How many numbers describe the noise of one row."""

    def predict(self, parents: Parents, /) -> Tensor:
        """Return the equation without its noise: a number, a rank, or logits of levels."""

    def abduct(self, parents: Parents, value: Tensor, uniforms: Tensor) -> Tensor:
        """Return the noise ``(…, noise_size)`` under which these parents give this value.

        Where many noises give it, one is drawn with the ``uniforms``, which have its shape.
        """

    def respond(self, parents: Parents, residual: Tensor) -> Tensor:
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

    def abduct(self, parents: Parents, value: Tensor, uniforms: Tensor) -> Tensor:
        """Return the value less the prediction."""
        return (value - self.predict(parents))[..., None]

    def respond(self, parents: Parents, residual: Tensor) -> Tensor:
        """Return the prediction plus the noise."""
        return (self.predict(parents) + residual[..., 0]).clamp(*self.limits)


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

    def abduct(self, parents: Parents, value: Tensor, uniforms: Tensor) -> Tensor:
        """Return the logarithm of the value over the prediction."""
        return ((value - self.origin) / (self.predict(parents) - self.origin)).log()[..., None]

    def respond(self, parents: Parents, residual: Tensor) -> Tensor:
        """Return the prediction times the exponential of the noise."""
        return (self.predict(parents) - self.origin) * residual[..., 0].exp() + self.origin


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

    def abduct(self, parents: Parents, value: Tensor, uniforms: Tensor) -> Tensor:
        """Return the rank less the prediction."""
        return (value - self.predict(parents))[..., None]

    def respond(self, parents: Parents, residual: Tensor) -> Tensor:
        """Return the rank of the level."""
        rank = self.predict(parents) + residual[..., 0]
        return rank.round().clamp(0, self.n_levels - 1)


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
    thresholds: Tensor
    units: Units = "raw"
    noise: Literal["drawn", "median"] = "drawn"
    noise_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _check(self, self.units)
        ends = self.thresholds
        if ends.dim() != 1 or not ends.is_floating_point() or not bool((ends.diff() >= 0).all()):
            raise GraphError(
                f"thresholds is {brief(ends)}; expected a tensor of numbers that rise, one between"
                " each level and the next."
            )
        if self.noise not in ("drawn", "median"):
            raise GraphError(f"noise is {self.noise!r}; expected 'drawn' or 'median'.")

    @property
    def n_levels(self) -> int:
        """One more than the thresholds."""
        return len(self.thresholds) + 1

    def chance(self, parents: Parents, rank: Tensor) -> Tensor:
        """Return the chance ``(…)`` of the level with some rank."""
        low, high = self._ends(parents, rank)
        upper = low > 0  # there both shares are close to 1: take what is beyond instead
        start = _share_below(torch.where(upper, -high, low))
        stop = _share_below(torch.where(upper, -low, high))
        return stop - start

    def predict(self, parents: Parents) -> Tensor:
        """Return the mean rank, over the chances of the levels."""
        score = self.score(parents)[..., None]
        above = _share_below(score - self.thresholds.to(score))
        return above.sum(-1)

    def abduct(self, parents: Parents, value: Tensor, uniforms: Tensor) -> Tensor:
        """Return normal noise from its posterior, given that this level came about."""
        low, high = self._ends(parents, value)
        upper = low > 0  # there both shares are close to 1: draw from the other side
        start = _share_below(torch.where(upper, -high, low))
        stop = _share_below(torch.where(upper, -low, high))
        share = uniforms[..., 0] if self.noise == "drawn" else torch.full_like(low, 0.5)
        share = torch.where(upper, 1 - share, share)
        drawn = torch.special.ndtri(start + (stop - start) * share)
        gap = ((high - low) / 4).clamp(max=_MIN_GAP)
        noise = torch.where(upper, -drawn, drawn)
        return torch.maximum(torch.minimum(noise, high - gap), low + gap)[..., None]

    def respond(self, parents: Parents, residual: Tensor) -> Tensor:
        """Return the rank of the level."""
        latent = self.score(parents) + residual[..., 0]
        return torch.bucketize(latent, self.thresholds.to(latent)).to(latent)

    def _ends(self, parents: Parents, rank: Tensor) -> tuple[Tensor, Tensor]:
        """Return the least and the most noise under which a level comes about."""
        score = self.score(parents)
        ends, rank = self.thresholds.to(score), rank.long()
        high = ends[rank.clamp(max=len(ends) - 1)] - score
        low = ends[(rank - 1).clamp(min=0)] - score
        farthest_high, farthest_low = low.clamp(min=0) + _FARTHEST, high.clamp(max=0) - _FARTHEST
        high = torch.where(rank < len(ends), high, farthest_high)
        return torch.where(rank > 0, low, farthest_low), high


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

    def abduct(self, parents: Parents, value: Tensor, uniforms: Tensor) -> Tensor:
        """Draw Gumbel noise from its posterior, given that this level was chosen.

        The highest of the noisy logits is Gumbel around their log-sum-exp, whichever level
        has it; the others are Gumbel around their own logit, cut off below the highest
        (Maddison, Tarlow, Minka 2014).
        """
        logits = self.predict(parents)  # (…, l)
        exponential = -uniforms.log()
        chosen = value.long()[..., None]
        highest = logits.logsumexp(-1, keepdim=True) - exponential.gather(-1, chosen).log()
        others = -((logits - highest).exp() + exponential.clamp(min=_MIN_GAP)).log()
        return others.scatter(-1, chosen, highest - logits.gather(-1, chosen))

    def respond(self, parents: Parents, residual: Tensor) -> Tensor:
        """Return the code of the chosen level."""
        return (self.predict(parents) + residual).argmax(-1).double()


def _share_below(values: Tensor) -> Tensor:
    """Return the share of standard normal numbers below values, also where it is next to none.

    The one of PyTorch is 0 below -8.3.
    """
    beyond: Tensor = torch.special.erfc(-values * math.sqrt(0.5))
    return beyond / 2


def _check(mechanism: object, units: str) -> None:
    """Refuse a mechanism with a part of another kind than is declared."""
    check_fields(mechanism, GraphError)
    if units not in ("raw", "unit"):
        raise GraphError(f"units is {units!r}; expected 'raw' or 'unit'.")
