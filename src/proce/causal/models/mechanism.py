"""How an effect comes from its causes and a person's own noise.

The parents of a mechanism arrive by name: levels as codes, numbers in raw units, or on the
unit range where the mechanism's ``units`` say so. ``predict`` is the paper's g, ``abduct``
finds the noise that explains an observed value, ``respond`` gives the value that this noise
leads to under other parents.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from torch import Tensor

Parents = Mapping[str, Tensor]
Equation = Callable[[Parents], Tensor]
Units = Literal["raw", "unit"]
_MIN_GAP = 1e-9  # between the highest noisy logit and the others, beyond rounding


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

    def abduct(self, parents: Parents, value: Tensor, uniforms: Tensor) -> Tensor:
        """Return the rank less the prediction."""
        return (value - self.predict(parents))[..., None]

    def respond(self, parents: Parents, residual: Tensor) -> Tensor:
        """Return the rank of the level."""
        rank = self.predict(parents) + residual[..., 0]
        return rank.round().clamp(0, self.n_levels - 1)


@dataclass(frozen=True)
class Choice:
    """The level of a categorical feature: ``x = argmax(predict(parents) + u)``, u Gumbel noise.

    The chances of the levels are then the softmax of the predicted logits ``(…, n_levels)``.
    """

    predict: Equation
    n_levels: int
    units: Units = "raw"

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
