"""From equations to flat tables."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
)
from proce.causal.equations.regression import Exponential, Polynomial, Terms
from proce.causal.equations.saved_mechanism import equation_of
from proce.causal.graph import CausalGraph
from proce.causal.programs.program import EFFECT, PARENT, Floats, Kind, Link, Program, Table
from proce.schema import Categorical, Codec, Continuous, Feature

_LINKS: dict[type, Link] = {
    Additive: Link.ADDITIVE,
    Multiplicative: Link.MULTIPLICATIVE,
    Ranked: Link.RANKED,
    Ordered: Link.ORDERED,
    Choice: Link.CHOICE,
}

_MAX_PRODUCTS = 100_000  # whose weights are looked up: with more levels, columns take less memory


def assemble(
    models: Sequence[Mapping[str, Mechanism]],
    graph: CausalGraph,
    codec: Codec,
    follows: Container[str],
    noise: Mapping[str, slice],
    tolerances: Table,
) -> Program:
    """Return the program of several models' equations.

    An effect whose equation is not of a learned kind in every model is asked for as a function.

    Parameters
    ----------
    models
        The mechanisms of each model, by name.
    graph, codec
        The causes, and how rows and raw units correspond.
    follows
        The features that their causes move.
    noise
        Where the noise of each effect stands in a residual.
    tolerances
        Which differences count.
    """
    names = [name for name in graph.order if name in graph.endogenous]
    tables = _Tables(codec)
    compiled = {
        name: all(_is_flat(name, model[name], graph.parents(name), codec) for model in models)
        for name in names
    }
    records = [
        [
            tables.effect(name, model[name] if compiled[name] else None, noise[name].start)
            for name in names
        ]
        for model in models
    ]
    effects = np.array(records, EFFECT).reshape(len(models), len(names))
    effects["is_cut"] = [name not in follows for name in names]
    return Program(
        effects,
        np.array(tables.parents, PARENT),
        np.concatenate([np.empty(0), *tables.weights]),
        tolerances,
    )


@dataclass
class _Tables:
    """The parents and weights of all equations so far."""

    codec: Codec
    parents: list[tuple[float, ...]] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    n_weights: int = 0

    def effect(self, name: str, mechanism: Any, noise: int) -> Any:
        """Return the record of an effect, whose equation is added; ``None`` leaves it out."""
        position = self.codec.schema.position(name)
        record = np.zeros((), EFFECT)
        record["position"], record["noise"], record["link"] = position, noise, Link.GIVEN
        if mechanism is None:
            return record.item()
        equation = equation_of(mechanism)
        polynomial = getattr(equation, "polynomial", equation)
        terms: Terms = polynomial.terms
        outputs = polynomial.weights.reshape(terms.size, -1).T
        blocks, bends = _split(terms, outputs)
        record["link"], record["n_outputs"] = _LINKS[type(mechanism)], len(outputs)
        record["first_parent"], record["n_parents"] = len(self.parents), len(terms.parents)
        record["n_columns"], record["has_products"] = _n_plain(terms), terms.degree > 1
        record["is_exponential"] = isinstance(equation, Exponential)
        record["weights"], record["stride"] = self._place(blocks), blocks.shape[1]
        record["n_levels"] = getattr(mechanism, "n_levels", 0)
        if isinstance(mechanism, Ordered):
            record["thresholds"] = self._place(mechanism.thresholds)
            record["is_median"] = mechanism.noise == "median"
        is_raw, codec = mechanism.units == "raw", self.codec
        record["low"] = codec.low[position].item() if is_raw else 0.0
        record["span"] = codec.span[position].item() if is_raw else 1.0
        record["lowest"], record["highest"] = getattr(mechanism, "limits", (-np.inf, np.inf))
        record["equation_origin"] = getattr(equation, "origin", 0.0)
        record["noise_origin"] = getattr(mechanism, "origin", 0.0)
        self._add_parents(terms, bends, is_raw)
        return record.item()

    def _add_parents(self, terms: Terms, bends: Mapping[str, Floats], is_raw: bool) -> None:
        maps = {name: (factor, shift) for name, factor, shift in terms.maps}
        ends = {name: (low, high) for name, low, high in terms.ends}
        knots, column = dict(terms.knots), 0
        for parent in terms.parents:
            name, kind = parent.name, _kind(parent)
            position = self.codec.schema.position(name)
            n_levels = 0 if isinstance(parent, Continuous) else len(parent.levels)
            places = knots.get(name, ())
            begin = self._place(np.array(places), bends[name]) if places else 0
            span, low = 1.0, 0.0
            if is_raw and kind == Kind.NUMBER:
                span, low = self.codec.span[position].item(), self.codec.low[position].item()
            lowest, highest = ends.get(name, (-np.inf, np.inf))
            divisor = max(1, n_levels - 1) if kind == Kind.RANK else 1
            fields = (position, kind, column, n_levels, len(places), begin)
            numbers = (span, low, *maps.get(name, (1.0, 0.0)), lowest, highest, divisor)
            self.parents.append((*fields, *numbers))
            column += n_levels if kind == Kind.LEVEL else 1

    def _place(self, *arrays: Floats) -> int:
        """Append arrays to the weights, and return where they begin."""
        begin = self.n_weights
        for array in arrays:
            self.weights.append(array.ravel())
            self.n_weights += array.size
        return begin


def _split(terms: Terms, outputs: Floats) -> tuple[Floats, dict[str, Floats]]:
    """Return the weights of columns and products, and those of the bends of each spline.

    The former ``(o, 1 + n + n²)`` are the constant, the plain columns and one without weight, and a
    matrix with the weight of each product of two of them, not below its diagonal; without products
    there is no matrix. The latter ``(o, k - 1)`` multiply what the cube of the distance from each
    knot is beyond that from the last one.
    """
    n_plain, (first, second) = _n_plain(terms), terms.products
    size = n_plain + 1
    blocks = np.zeros((len(outputs), 1 + size + (size**2 if terms.degree > 1 else 0)))
    blocks[:, :size] = outputs[:, :size]
    column = size
    for one, other in zip(first, second, strict=True):
        place = min(one, other) * size + max(one, other)
        blocks[:, 1 + size + place] += outputs[:, column]
        column += 1
    bends = {}
    for name, knots in terms.knots:
        places = np.array(knots)
        scale = (places[-1] - places[:-1]) * (places[-1] - places[0]) ** 2
        own = outputs[:, column : column + len(knots) - 2]
        bends[name] = np.hstack([own, -own.sum(1, keepdims=True)]) / scale
        column += len(knots) - 2
    return blocks, bends


def _n_plain(terms: Terms) -> int:
    """Return how many columns are a number, a rank or a level by itself."""
    return sum(len(f.levels) if isinstance(f, Categorical) else 1 for f in terms.parents)


def _is_flat(name: str, mechanism: Mechanism, causes: Sequence[str], codec: Codec) -> bool:
    """Return whether a mechanism can be written as flat tables."""
    of_levels = isinstance(mechanism, Choice | Ordered)
    if type(mechanism) not in _LINKS or (
        isinstance(codec.schema[name], Categorical) and not of_levels
    ):
        return False
    equation = equation_of(mechanism)
    polynomial = equation.polynomial if type(equation) is Exponential else equation
    if type(polynomial) is not Polynomial:
        return False
    terms, shape = polynomial.terms, [polynomial.terms.size]
    if isinstance(mechanism, Choice):
        shape.append(mechanism.n_levels)
    if terms.degree > 1 and (_n_plain(terms) + 1) ** 2 > _MAX_PRODUCTS:
        return False
    numbers = {parent.name for parent in terms.parents if isinstance(parent, Continuous)}
    scaled = {name for name, *_ in (*terms.knots, *terms.ends, *terms.maps)}
    return (
        list(polynomial.weights.shape) == shape
        and scaled <= numbers
        and {parent.name for parent in terms.parents} == set(causes)
        and all(_is_same(parent, codec.schema[parent.name]) for parent in terms.parents)
        and (not isinstance(mechanism, Ordered) or len(mechanism.thresholds) > 0)
    )


def _is_same(parent: Feature, declared: Feature) -> bool:
    """Return whether a feature of an equation has the entries that the schema's has."""
    if isinstance(parent, Continuous) or isinstance(declared, Continuous):
        return type(parent) is type(declared)
    return type(parent) is type(declared) and len(parent.levels) == len(declared.levels)


def _kind(parent: Feature) -> Kind:
    if isinstance(parent, Continuous):
        return Kind.NUMBER
    return Kind.LEVEL if isinstance(parent, Categorical) else Kind.RANK
