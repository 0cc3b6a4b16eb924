"""What must fit: the answers of functions that a person gave; graph, equations and codec."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, cast

import numpy as np

from proce.arguments import brief
from proce.arrays import Array
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Linked,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
)
from proce.causal.equations.terms import SAME_UNITS, Equation, Parents, UnitMap
from proce.causal.graph import CausalGraph
from proce.causal.graphs.features import require_features
from proce.errors import GraphError, did_you_mean
from proce.schema import Codec, Continuous, Feature, Level, Schema
from proce.schema.scale import scale_map

_ATTRIBUTES = ("units", "noise_size", "predict", "abduct", "respond")  # of a mechanism


@dataclass(frozen=True)
class GivenEquation:
    """A function from parents to predictions that belongs to somebody else."""

    name: str
    function: Equation
    # how many logits it gives for each row, for a categorical effect; otherwise `None`
    n_levels: int | None = None
    # whether the effect is a level. There is none for NaN, which is refused then; a number that
    # is not finite lies beyond all limits.
    of_level: bool = False

    def __call__(self, parents: Parents) -> Array:
        """Return the predictions, or say what is wrong with them."""
        try:
            answer = self.function(parents)
        except GraphError:
            raise
        except Exception as error:
            raise GraphError(
                f"the equation of {self.name!r} raised {type(error).__name__}: {error}. It is"
                f" called with its causes by name ({', '.join(parents)}), as NumPy arrays."
            ) from error
        predicted = self._of_shape(self._array(answer), parents)
        if self.of_level:
            is_nan = np.isnan(predicted)
            if self.n_levels is not None:
                is_nan = is_nan.sum(-1) > 0
            refuse_where(is_nan, self.name, parents)
        return predicted

    def _array(self, answer: Any) -> Array:
        is_array = isinstance(answer, Real) or hasattr(answer, "__array__")
        try:
            numbers = np.asarray(answer) if is_array else np.empty(0, object)
        except (TypeError, ValueError, RuntimeError):  # a tensor with a gradient, or of a device
            numbers = np.empty(0, object)
        if numbers.dtype.kind not in "biuf":
            raise GraphError(
                f"the equation of {self.name!r} returned {brief(answer)}; expected an array of real"
                " numbers, one for each row."
            )
        return numbers.astype(np.float64)

    def _of_shape(self, answer: Array, parents: Parents) -> Array:
        expected = np.broadcast_shapes(*(tuple(column.shape) for column in parents.values()))
        if self.n_levels is not None:
            expected = (*expected, self.n_levels)
        if answer.shape == expected:
            return answer
        try:
            return np.broadcast_to(answer, expected)
        except ValueError:
            raise GraphError(
                f"the equation of {self.name!r} returned {_times(answer.shape)} numbers for"
                f" {_times(expected)}; expected one for each row"
                + (", and level." if self.n_levels else ".")
            ) from None


def refuse_where(
    bad: Array,  # flags of the rows where it does not
    name: str,  # the effect, and its causes in these rows
    parents: Parents,
    which: str = "rows",  # what the rows are
) -> None:
    """Raise a GraphError where an equation gives no finite number."""
    n_bad = int(bad.sum())
    if n_bad == 0:
        return
    place = int(bad.ravel().astype(np.int32).argmax())
    causes = ", ".join(
        f"{cause} = {np.broadcast_to(column, bad.shape).ravel()[place].item():.6g}"
        for cause, column in parents.items()
    )
    raise GraphError(
        f"the equation of {name!r} gives NaN or an infinite number for {n_bad} of {bad.size}"
        f" {which}, such as where {causes}; expected a finite number for each. Mend the function"
        " where it divides by zero, overflows or takes the logarithm of what is not positive, or"
        " leave it out of equations= to have one fitted."
    )


def refuse_not_finite(
    name: str, mechanism: Mechanism, parents: Parents, which: str = "rows"
) -> None:
    """Raise a GraphError where a given equation predicts no finite number for some rows."""
    predicted = mechanism.predict(parents)
    if isinstance(mechanism, Choice):  # a level may have a logit of minus infinity, but not all
        predicted = predicted.max(-1)
    refuse_where(~np.isfinite(predicted), name, parents, which)


def is_given(mechanism: Mechanism) -> bool:
    """Whether a mechanism computes by somebody else's function, or is somebody else's."""
    return not isinstance(mechanism, Linked) or isinstance(mechanism.equation, GivenEquation)


def checked_mechanism(
    name: str,
    mechanism: Any,  # what was given as its mechanism
) -> Mechanism:
    """Return a mechanism whose equation is checked where it is somebody else's function."""
    if isinstance(mechanism, type) or not all(hasattr(mechanism, part) for part in _ATTRIBUTES):
        raise GraphError(
            f"the mechanism of {name!r} is {brief(mechanism)}; expected one such as"
            " proce.causal.Additive(function). StructuralCausalModel.fit takes plain functions."
        )
    if isinstance(mechanism, Ordered) and not _is_ours(mechanism.score):
        return replace(mechanism, score=GivenEquation(name, mechanism.score, of_level=True))
    if isinstance(mechanism, Additive | Multiplicative | Ranked | Choice):
        n_levels = mechanism.n_levels if isinstance(mechanism, Choice) else None
        of_level = isinstance(mechanism, Ranked | Choice)
        if not _is_ours(mechanism.predict):
            given = GivenEquation(name, mechanism.predict, n_levels, of_level)
            return replace(mechanism, predict=given)
    return cast(Mechanism, mechanism)


def _is_ours(equation: Equation) -> bool:
    """Whether an equation is of this package, which answers as it should."""
    home = equation if hasattr(equation, "__qualname__") else type(equation)
    return str(getattr(home, "__module__", "")).startswith("proce.")


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "1"


def check_consistency(
    graph: CausalGraph, mechanisms: Mapping[str, Mechanism], schema: Schema
) -> None:
    """Raise a GraphError where names, equations or numbers of levels do not fit."""
    require_features(graph.nodes, schema)
    for name in graph.endogenous:
        if name not in mechanisms:
            raise GraphError(
                f"{name!r} has causes ({', '.join(graph.parents(name))}) but no equation;"
                " give a mechanism for it, or remove the edges into it."
            )
    for name in mechanisms:
        if name not in graph.endogenous:
            raise GraphError(
                f"there is an equation for {name!r}, which the graph gives no cause; add the edges"
                " into it, or remove the equation." + did_you_mean(name, graph.endogenous)
            )
    for name, mechanism in mechanisms.items():
        expected = len(_levels(schema[name]))
        if isinstance(mechanism, Choice | Ordered | Ranked) and mechanism.n_levels != expected:
            raise GraphError(
                f"the equation of {name!r} gives one of {mechanism.n_levels} levels; the"
                f" {schema[name].kind} feature has {expected}."
            )


def require_equation(name: str, graph: CausalGraph) -> None:
    """Raise a GraphError where a feature has no causes."""
    if name not in graph.endogenous:
        raise GraphError(
            f"{name!r} has no equation; the features with causes are {', '.join(graph.endogenous)}."
            + did_you_mean(name, graph.endogenous)
        )


def check_same_features(graph: CausalGraph, old_schema: Schema, new_schema: Schema) -> None:
    """Raise a GraphError where two schemas declare a feature of the graph differently."""
    require_features(graph.nodes, new_schema)
    for name in graph.nodes:
        old, new = old_schema[name], new_schema[name]
        if old.kind != new.kind or _levels(old) != _levels(new):
            raise GraphError(
                f"the equations know {name!r} as {old.kind} {_levels(old) or ''}; the new"
                f" schema has it as {new.kind} {_levels(new) or ''}. Declare it the same."
            )


def on_scale_of(
    codec: Codec, graph: CausalGraph, mechanisms: Mapping[str, Mechanism], old: Codec
) -> dict[str, Mechanism]:
    """Return mechanisms over the rows of one codec for the rows of another."""
    # Equations in raw units stay as they are. Those that were learned on the unit range are
    # carried over where both codecs are of the same training rows, and refused otherwise.
    rescaled = dict(mechanisms)
    learned = [name for name, mechanism in mechanisms.items() if mechanism.units == "unit"]
    if learned and _scale(graph, old.by_range) != _scale(graph, codec.by_range):
        raise GraphError(
            f"the equation of {learned[0]!r} was fitted on another unit range; fit it again with"
            " StructuralCausalModel.fit and the new codec."
        )
    maps: dict[str, UnitMap] = {}
    for name in graph.nodes:
        before, after = old.schema.position(name), codec.schema.position(name)
        ends = codec.low[after], codec.span[after], old.low[before], old.span[before]
        factor, shift = (float(part) for part in scale_map(*ends))
        if isinstance(codec.schema[name], Continuous) and (factor, shift) != SAME_UNITS:
            maps[name] = factor, shift
    for name in learned:
        mechanism = mechanisms[name]
        if maps and isinstance(mechanism, Linked):
            rescaled[name] = mechanism.rescaled(maps, maps.get(name, SAME_UNITS))
    return rescaled


def _scale(graph: CausalGraph, codec: Codec) -> list[tuple[float, float]]:
    positions = [codec.schema.position(name) for name in graph.nodes]
    return [(codec.low[position].item(), codec.span[position].item()) for position in positions]


def _levels(feature: Feature) -> tuple[Level, ...]:
    return () if isinstance(feature, Continuous) else feature.levels
