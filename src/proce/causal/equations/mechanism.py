"""How an effect comes from its causes and a person's own noise.

The parents of a mechanism arrive by name: levels as codes, numbers in raw units, or on the
unit range where the mechanism's ``units`` say so. ``predict`` is the paper's g, ``abduct``
finds the noise that explains an observed value, ``respond`` gives the value that this noise
leads to under other parents.
"""

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, cast

import numpy as np

from proce.arguments import brief, check_count, check_fields, is_number
from proce.arrays import Array, Floats
from proce.causal.equations.terms import (
    Equation,
    EquationTables,
    Parents,
    UnitMap,
    rescaled_equation,
)
from proce.causal.graph import CausalGraph
from proce.causal.programs import links
from proce.causal.programs.program import EFFECT, Link, Record
from proce.errors import GraphError
from proce.schema import Schema
from proce.schema.codec import on_step

Units = Literal["raw", "unit"]
NO_THRESHOLDS = np.empty(0)


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


def link_record(link: Link, n_outputs: int, fields: Mapping[str, float]) -> Record:
    """Return a record `EFFECT` of no place, with the fields of a link."""
    record = np.zeros((), EFFECT)
    record["link"], record["n_outputs"] = link, n_outputs
    record["lowest"], record["highest"] = -math.inf, math.inf
    for name, number in fields.items():
        record[name] = number
    return record[()]


class Linked:
    """A mechanism whose noise enters as a kernel says, by its link."""

    link: ClassVar[Link]
    units: Units
    predict: Any

    @property
    def equation(self) -> Equation:
        """What gives a number, a score, or logits ``(…, l)`` before the noise."""
        return cast(Equation, self.predict)

    @property
    def noise_size(self) -> int:
        """How many numbers describe the noise of one row."""
        return 1

    @property
    def ends(self) -> Floats:
        """The thresholds between ordered levels; none of others."""
        return NO_THRESHOLDS

    @cached_property
    def record(self) -> Record:
        """What the kernels of the link are told, as a record `EFFECT` of no place."""
        return link_record(self.link, self.noise_size, self._link_fields())

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Return the noise ``(…, noise_size)`` under which these parents give this value."""
        # Where many noises give a level, one is drawn with the `uniforms`, which have its shape.
        predicted = self._predicted(parents)
        return links.explanations(self.record, self.ends, predicted, value, uniforms)

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the value under these parents, with noise ``(…, noise_size)``."""
        return links.responses(self.record, self.ends, self._predicted(parents), residual)

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> Mechanism:
        """Return the mechanism with causes, by name, and the effect on other unit ranges."""
        return replace(self, predict=rescaled_equation(self.predict, maps))  # type: ignore[type-var]

    def saved(self) -> dict[str, Any]:
        """Return the fields of ``SavedMechanism`` that belong to the noise."""
        return {}

    @classmethod
    def load(cls, equation: Any, n_levels: int, saved: Any) -> Mechanism:
        """Return the mechanism of a ``SavedMechanism``, from its equation."""
        return cls(equation, n_levels, saved.units)  # type: ignore[call-arg]

    def write(self, tables: EquationTables, record: Record, positions: Mapping[str, int]) -> None:
        """Add a mechanism with a flat equation to tables, and write where it is."""
        equation: Any = self.equation
        equation.write(tables, record, positions)
        record["thresholds"] = tables.put(self.ends)

    def _predicted(self, parents: Parents) -> Array:
        """Return what the equation gives, as lines ``(o, …)``."""
        predicted = self.equation(parents)
        return np.moveaxis(predicted, -1, 0) if self.link == Link.CHOICE else predicted[None]

    def _link_fields(self) -> Mapping[str, float]:
        """Return what belongs to the link, by the names of `EFFECT`."""
        return {}


class OfLevels(Linked):
    """A mechanism of a level, which has a chance."""

    def chance(self, parents: Parents, level: Array) -> Array:
        """Return the chance ``(…)`` of a level, by rank or code."""
        return links.chances_of_levels(self.record, self.ends, self._predicted(parents), level)


@dataclass(frozen=True)
class Additive(Linked):
    """``x = predict(parents) + u``."""

    predict: Equation  # from parents to the predicted value
    # lowest and highest value that exist at all, such as no years below zero
    limits: tuple[float, float] = (-math.inf, math.inf)
    units: Units = "raw"  # of numbers
    link: ClassVar[Link] = Link.ADDITIVE

    def __post_init__(self) -> None:
        _check(self, self.units)
        given: Any = self.limits
        if isinstance(given, Set) or len(given) != 2 or not all(map(is_number, given)):
            raise GraphError(f"limits is {brief(given)}; expected (lowest, highest).")
        if not self.limits[0] <= self.limits[1]:
            raise GraphError(f"limits is {self.limits}; write the lower limit first.")

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> Mechanism:
        """Return the mechanism with its causes and its effect on other unit ranges."""
        low, high = ((limit - own[1]) / own[0] for limit in self.limits)
        return replace(self, predict=rescaled_equation(self.predict, maps, own), limits=(low, high))

    def saved(self) -> dict[str, Any]:
        """Return the limits; ``None`` where there is none."""
        low, high = (limit if math.isfinite(limit) else None for limit in self.limits)
        return {"limits": (low, high)}

    @classmethod
    def load(cls, equation: Any, n_levels: int, saved: Any) -> Mechanism:
        """Return the mechanism of a ``SavedMechanism``, from its equation."""
        low, high = saved.limits
        limits = -math.inf if low is None else low, math.inf if high is None else high
        return cls(equation, limits, saved.units)

    def _link_fields(self) -> Mapping[str, float]:
        return {"lowest": self.limits[0], "highest": self.limits[1]}


@dataclass(frozen=True)
class Multiplicative(Linked):
    """``x = predict(parents) · exp(u)``, for amounts that are never negative.

    A person with none of the amount has none under other parents too: the value stays at the
    origin.
    """

    predict: Equation  # from parents to the predicted value, which must be above the origin
    # the value that counts as none: 0 in raw units, elsewhere on the unit range
    origin: float = 0.0
    units: Units = "raw"  # of numbers
    link: ClassVar[Link] = Link.MULTIPLICATIVE

    def __post_init__(self) -> None:
        _check(self, self.units)
        if not math.isfinite(self.origin):
            raise GraphError(f"origin is {self.origin}; expected a finite number.")

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> Mechanism:
        """Return the mechanism with its causes and its effect on other unit ranges."""
        origin = (self.origin - own[1]) / own[0]
        return replace(self, predict=rescaled_equation(self.predict, maps, own), origin=origin)

    def saved(self) -> dict[str, Any]:
        """Return the origin."""
        return {"origin": self.origin}

    @classmethod
    def load(cls, equation: Any, n_levels: int, saved: Any) -> Mechanism:
        """Return the mechanism of a ``SavedMechanism``, from its equation."""
        return cls(equation, saved.origin, saved.units)

    def _link_fields(self) -> Mapping[str, float]:
        return {"noise_origin": self.origin}


@dataclass(frozen=True)
class Ranked(Linked):
    """The level of an ordinal feature: ``x = round(predict(parents) + u)``, by rank."""

    predict: Equation  # from parents to the predicted rank
    n_levels: int  # the result lies between 0 and n_levels - 1
    units: Units = "raw"  # the units of numbers among the parents
    link: ClassVar[Link] = Link.RANKED

    def __post_init__(self) -> None:
        _check(self, self.units)
        check_count("n_levels", self.n_levels, GraphError)

    def _link_fields(self) -> Mapping[str, float]:
        return {"n_levels": self.n_levels}


@dataclass(frozen=True, eq=False)
class Ordered(OfLevels):
    """The level of an ordinal feature: how many thresholds ``score(parents) + u`` is above.

    The noise u is standard normal, so the chance of a level is that of a normal number between
    its two thresholds (ordered probit). A level leaves the noise open between them.
    """

    score: Equation  # from parents to the latent number
    thresholds: Array  # (n_levels - 1,) float64, rising
    units: Units = "raw"  # the units of numbers among the parents
    # which of the noises that explain a level is taken: one that is drawn, or their median, under
    # which the likely consequences come about
    noise: Literal["drawn", "median"] = "drawn"
    link: ClassVar[Link] = Link.ORDERED

    def __post_init__(self) -> None:
        _check(self, self.units)
        if not are_thresholds(self.thresholds):
            raise GraphError(
                f"thresholds is {brief(self.thresholds)}; expected an array of numbers that rise,"
                " one between each level and the next."
            )
        if self.noise not in ("drawn", "median"):
            raise GraphError(f"noise is {self.noise!r}; expected 'drawn' or 'median'.")

    @property
    def equation(self) -> Equation:
        """What gives the latent number."""
        return self.score

    @property
    def ends(self) -> Floats:
        """The thresholds."""
        return np.ascontiguousarray(self.thresholds, np.float64)

    @property
    def n_levels(self) -> int:
        """One more than the thresholds."""
        return len(self.thresholds) + 1

    def predict(self, parents: Parents) -> Array:
        """Return the mean rank, over the chances of the levels."""
        return mean_rank(self.chances(parents))

    def chances(self, parents: Parents) -> Array:
        """Return the chances ``(…, l)`` of all levels."""
        score, levels = self.score(parents)[..., None], np.arange(self.n_levels)
        return links.chances_of_levels(self.record, self.ends, score[None], levels)

    def rescaled(self, maps: Mapping[str, UnitMap], own: UnitMap) -> Mechanism:
        """Return the mechanism with its causes on other unit ranges."""
        return replace(self, score=rescaled_equation(self.score, maps))

    def saved(self) -> dict[str, Any]:
        """Return the thresholds, and which noise is taken."""
        ends = np.asarray(self.thresholds, np.float64)
        return {"thresholds": tuple(ends.tolist()), "abducted": self.noise}

    @classmethod
    def load(cls, equation: Any, n_levels: int, saved: Any) -> Mechanism:
        """Return the mechanism of a ``SavedMechanism``, from its equation."""
        ends = np.array(saved.thresholds, dtype=np.float64)
        if not are_thresholds(ends):
            what = f"the thresholds of the equation of {saved.effect!r} do not fit."
            raise GraphError(what)
        return cls(equation, ends, saved.units, saved.abducted)

    def _link_fields(self) -> Mapping[str, float]:
        return {"n_levels": self.n_levels, "is_median": self.noise == "median"}


@dataclass(frozen=True)
class Choice(OfLevels):
    """The level of a categorical feature: ``x = argmax(predict(parents) + u)``, u Gumbel noise.

    The chances of the levels are then the softmax of the predicted logits ``(…, n_levels)``.
    """

    predict: Equation
    n_levels: int
    units: Units = "raw"
    link: ClassVar[Link] = Link.CHOICE

    def __post_init__(self) -> None:
        _check(self, self.units)
        check_count("n_levels", self.n_levels, GraphError)

    @property
    def noise_size(self) -> int:
        """One Gumbel number per level."""
        return self.n_levels

    def _link_fields(self) -> Mapping[str, float]:
        return {"n_levels": self.n_levels}


def are_thresholds(numbers: Array) -> bool:
    """Return whether numbers ``(n,)``, at least one, are finite and rise."""
    # A level between equal ones would have no chance.
    is_line = numbers.ndim == 1 and numbers.size > 0 and np.issubdtype(numbers.dtype, np.floating)
    return is_line and bool(np.isfinite(numbers).all() and (np.diff(numbers) > 0).all())


def mean_rank(chances: Array) -> Array:
    """Return the mean rank ``(…)`` of ordered levels, from the chances ``(…, l)`` of all."""
    ranks: Array = (chances * np.arange(chances.shape[-1])).sum(-1)
    return ranks


def _check(mechanism: object, units: str) -> None:
    """Refuse a mechanism with a part of another kind than is declared."""
    check_fields(mechanism, GraphError)
    if units not in ("raw", "unit"):
        raise GraphError(f"units is {units!r}; expected 'raw' or 'unit'.")


def generate(
    graph: CausalGraph,
    mechanisms: Mapping[str, Mechanism],
    schema: Schema,
    roots: Parents,
    noise: Mapping[str, Array],
) -> dict[str, Array]:
    """Return all features in raw units, from those of the roots and the noise of the others.

    Numbers are rounded to their step as they arise, so effects follow from what is shown. Rows on
    the unit range, which a causal model follows, come later: their scale is that of what is drawn.
    """
    values: dict[str, Array] = {}
    for name in graph.order:
        if name in mechanisms:
            parents = {cause: values[cause] for cause in graph.parents(name)}
            value = mechanisms[name].respond(parents, noise[name])
        else:
            value = roots[name]
        values[name] = on_step(schema[name], value)
    return values
