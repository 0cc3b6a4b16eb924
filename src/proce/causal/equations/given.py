"""Equations that a person gave as functions: what they answer is checked each time."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from proce.arguments import brief
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Equation,
    Mechanism,
    Multiplicative,
    Ordered,
    Parents,
    Ranked,
)
from proce.errors import GraphError

_PARTS = ("units", "noise_size", "predict", "abduct", "respond")  # of a mechanism


@dataclass(frozen=True)
class GivenEquation:
    """A function from parents to predictions that belongs to somebody else.

    Attributes
    ----------
    name
        The effect.
    function
        The function.
    n_levels
        How many logits it gives for each row, for a categorical effect; otherwise ``None``.
    """

    name: str
    function: Equation
    n_levels: int | None = None

    def __call__(self, parents: Parents) -> Tensor:
        """Return the predictions, or say what is wrong with them."""
        try:
            answer = self.function(parents)
        except GraphError:
            raise
        except Exception as error:
            raise GraphError(
                f"the equation of {self.name!r} raised {type(error).__name__}: {error}. It is"
                f" called with its causes by name ({', '.join(parents)}), as tensors."
            ) from error
        return self._of_shape(self._tensor(answer), parents)

    def _tensor(self, answer: Any) -> Tensor:
        if isinstance(answer, Real | np.ndarray):
            numbers = np.asarray(answer)
            if numbers.dtype.kind in "biuf":
                answer = torch.as_tensor(numbers.astype(float))
        if not isinstance(answer, Tensor) or answer.is_complex():
            raise GraphError(
                f"the equation of {self.name!r} returned {brief(answer)}; expected a tensor of real"
                " numbers, one for each row."
            )
        return answer

    def _of_shape(self, answer: Tensor, parents: Parents) -> Tensor:
        expected = np.broadcast_shapes(*(tuple(column.shape) for column in parents.values()))
        if self.n_levels is not None:
            expected = (*expected, self.n_levels)
        if answer.shape == expected:
            return answer
        try:
            return answer.broadcast_to(expected)
        except RuntimeError:
            raise GraphError(
                f"the equation of {self.name!r} returned {_times(answer.shape)} numbers for"
                f" {_times(expected)}; expected one for each row"
                + (", and level." if self.n_levels else ".")
            ) from None


def checked_mechanism(name: str, mechanism: Any) -> Mechanism:
    """Return a mechanism whose equation is checked where it is somebody else's function.

    Parameters
    ----------
    name
        The effect.
    mechanism
        What was given as its mechanism.
    """
    if isinstance(mechanism, type) or not all(hasattr(mechanism, part) for part in _PARTS):
        raise GraphError(
            f"the mechanism of {name!r} is {brief(mechanism)}; expected one such as"
            " proce.causal.Additive(function). StructuralCausalModel.fit takes plain functions."
        )
    if isinstance(mechanism, Ordered) and not _is_ours(mechanism.score):
        return replace(mechanism, score=GivenEquation(name, mechanism.score))
    if isinstance(mechanism, Additive | Multiplicative | Ranked | Choice):
        n_levels = mechanism.n_levels if isinstance(mechanism, Choice) else None
        if not _is_ours(mechanism.predict):
            return replace(mechanism, predict=GivenEquation(name, mechanism.predict, n_levels))
    return cast(Mechanism, mechanism)


def _is_ours(equation: Equation) -> bool:
    """Whether an equation is of this package, which answers as it should."""
    home = equation if hasattr(equation, "__qualname__") else type(equation)
    return str(getattr(home, "__module__", "")).startswith("proce.")


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "1"
