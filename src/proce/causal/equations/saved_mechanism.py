"""A mechanism that was learned as plain values, and back."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from proce.causal.equations.boosted import Boosted
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Linked,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
    Units,
    are_thresholds,
)
from proce.causal.equations.polynomial import Exponential, Polynomial, polynomial_of
from proce.causal.equations.terms import Terms
from proce.errors import GraphError
from proce.schema import Categorical, Continuous, Feature, Schema

Noise = Literal["additive", "multiplicative", "ranked", "ordered", "choice", "given"]
_NOISES: dict[Noise, type] = {
    "additive": Additive,
    "multiplicative": Multiplicative,
    "ranked": Ranked,
    "ordered": Ordered,
    "choice": Choice,
}


@dataclass(frozen=True, kw_only=True)
class SavedMechanism:
    """A mechanism without its weights.

    Attributes
    ----------
    effect
        The name of the feature that the mechanism gives.
    noise
        How the noise enters; ``given`` where a person gave the mechanism as code.
    units
        The units of numbers.
    limits
        The lowest and the highest value under additive noise; ``None`` where there is no limit.
    origin
        The origin of multiplicative noise and of an exponential equation.
    form
        Which kind of equation it is.
    parents, degree, knots, ends, maps
        The terms of the equation.
    output
        What the prediction of boosted trees is multiplied by, and what is added.
    thresholds, abducted
        Between ordered levels, and which of the noises that explain a level is taken.
    """

    effect: str
    noise: Noise
    units: Units = "unit"
    limits: tuple[float | None, float | None] = (None, None)
    origin: float = 0.0
    form: Literal["polynomial", "exponential", "boosted"] = "polynomial"
    parents: tuple[str, ...] = ()
    degree: Literal[1, 2] = 1
    knots: tuple[tuple[str, tuple[float, ...]], ...] = ()
    ends: tuple[tuple[str, float, float], ...] = ()
    maps: tuple[tuple[str, float, float], ...] = ()
    output: tuple[float, float] = (1.0, 0.0)
    thresholds: tuple[float, ...] = ()
    abducted: Literal["drawn", "median"] = "drawn"

    @classmethod
    def of(cls, name: str, mechanism: Mechanism, schema: Schema) -> "SavedMechanism":
        """Return a mechanism as plain values; ``given`` where it is not of a learned kind."""
        noise = next((noise for noise, kind in _NOISES.items() if type(mechanism) is kind), None)
        equation = equation_of(mechanism)
        polynomial = polynomial_of(equation)
        if noise is None or type(equation) not in (Polynomial, Exponential, Boosted):
            return cls(effect=name, noise="given")
        terms: Terms = polynomial.terms
        if any(
            parent.name not in schema or schema[parent.name] != parent for parent in terms.parents
        ):
            return cls(effect=name, noise="given")
        origins = {part.origin for part in (mechanism, equation) if hasattr(part, "origin")}
        if len(origins) > 1:
            return cls(effect=name, noise="given")
        low, high = getattr(mechanism, "limits", (-math.inf, math.inf))
        return cls(
            effect=name,
            noise=noise,
            units=mechanism.units,
            limits=(low if math.isfinite(low) else None, high if math.isfinite(high) else None),
            origin=next(iter(origins), 0.0),
            form=type(equation).__name__.lower(),  # type: ignore[arg-type]
            parents=tuple(parent.name for parent in terms.parents),
            degree=terms.degree,  # type: ignore[arg-type]
            knots=terms.knots,
            ends=terms.ends,
            maps=terms.maps,
            output=getattr(equation, "output", (1.0, 0.0)),
            thresholds=tuple(mechanism.thresholds.tolist())
            if isinstance(mechanism, Ordered)
            else (),
            abducted=mechanism.noise if isinstance(mechanism, Ordered) else "drawn",
        )

    def load(self, schema: Schema, learned: Any) -> Mechanism:
        """Return the mechanism, with the weights or the trees that its equation had learned."""
        feature = schema[self.effect]
        equation = self._equation(schema, feature, learned)
        if self.noise == "additive":
            low, high = self.limits
            limits = -math.inf if low is None else low, math.inf if high is None else high
            return Additive(equation, limits, self.units)
        if self.noise == "multiplicative":
            return Multiplicative(equation, self.origin, self.units)
        n_levels = 0 if isinstance(feature, Continuous) else len(feature.levels)
        if self.noise != "ordered":
            return _NOISES[self.noise](equation, n_levels, self.units)
        ends = np.array(self.thresholds, dtype=np.float64)
        if not are_thresholds(ends):
            raise GraphError(f"the thresholds of the equation of {feature.name!r} do not fit.")
        return Ordered(equation, ends, self.units, self.abducted)

    def _equation(self, schema: Schema, feature: Feature, learned: Any) -> Any:
        causes = tuple(schema[name] for name in self.parents)
        terms = Terms(causes, self.degree, self.knots, self.ends, self.maps)
        if self.form == "boosted":
            if getattr(learned, "n_features_in_", None) != terms.size - 1:
                raise GraphError(f"the trees of the equation of {feature.name!r} do not fit.")
            return Boosted(terms, learned, self.output)
        logits = (len(feature.levels),) if isinstance(feature, Categorical) else ()
        knots_fit = all(name in self.parents and len(knots) > 2 for name, knots in self.knots)
        shape = (terms.size, *logits)
        if learned.shape != shape or learned.dtype != np.float64 or not knots_fit:
            raise GraphError(f"the weights of the equation of {feature.name!r} do not fit.")
        polynomial = Polynomial(terms, learned)
        return Exponential(polynomial, self.origin) if self.form == "exponential" else polynomial


def equation_of(mechanism: Mechanism) -> Any:
    """Return the equation of a mechanism before its noise; ``None`` of somebody else's."""
    return mechanism.equation if isinstance(mechanism, Linked) else None
