"""Random worlds: small data sets whose equations are drawn from a seed, so that all is known.

They judge advice where nobody has tuned it: the graph, the equations, the units, what can be acted
on and what the label asks for are all drawn. There are five kinds of them, see :data:`KINDS`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from proce.arrays import Array
from proce.causal import Additive, CausalGraph, Choice, Mechanism, Ordered, StructuralCausalModel
from proce.causal.equations.mechanism import generate
from proce.causal.equations.terms import Parents
from proce.datasets.dataset import Dataset, check_choice, check_draw, generated_frame, label_column
from proce.schema import Action, Categorical, Codec, Continuous, Feature, Ordinal, Schema


@dataclass(frozen=True)
class Term:
    """One summand of an equation: a weight times a curve in one cause, or in the product of two."""

    causes: tuple[str, ...]  # the names of one or two causes
    shape: str  # ``straight``, ``square`` or ``saturating``
    weight: float  # the weight, where every cause counts in standard deviations

    def __call__(self, standard: Parents) -> Array:
        """Return the summand for standardised causes."""
        value = standard[self.causes[0]]
        for cause in self.causes[1:]:
            value = value * standard[cause]
        if self.shape == "square":
            value = (np.square(value) - 1) / 2
        elif self.shape == "saturating":
            value = 1.5 * np.tanh(value)
        return self.weight * value


@dataclass(frozen=True)
class Scale:
    """The centre and the spread of a feature, by which its values are standardised.

    For levels without an order ``scores`` holds one standardised value for each level.
    """

    centre: float
    spread: float
    scores: tuple[float, ...] = ()

    def __call__(self, values: Array) -> Array:
        """Return raw values or level codes in standard deviations."""
        if self.scores:
            return np.array(self.scores, dtype=np.float64)[values.astype(np.int64)]
        return (values.astype(np.float64) - self.centre) / self.spread


@dataclass(frozen=True)
class Response:
    """An equation: a sum of terms in standardised causes, brought to raw units."""

    terms: tuple[Term, ...]  # the summands
    scales: Mapping[str, Scale]  # the scale of each cause, by name
    centre: float = 0.0  # what the sum is multiplied by, and where 0 lies
    gain: float = 1.0
    # For an effect without an order, the slope of each level's logit in the sum; else empty
    slopes: tuple[float, ...] = ()

    def __call__(self, parents: Parents) -> Array:
        """Return the prediction for causes in raw units, or the logits of levels."""
        standard = {name: self.scales[name](values) for name, values in parents.items()}
        total = np.stack([term(standard) for term in self.terms]).sum(0)
        total = self.centre + self.gain * total
        if self.slopes:
            return total[..., None] * np.array(self.slopes, dtype=np.float64)
        return total


Kind = Literal["linear", "curved", "mixed", "opposing", "levels"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_N_FEATURES = 8
_N_ROOTS = 3
_N_ACTIONABLE = {"linear": 2, "curved": 2, "mixed": 3, "opposing": 2, "levels": 3}
_N_CALIBRATION_ROWS = 4_000  # from which the centre and the scale of each feature are learnt
_EXPLAINED = 0.85  # of the variance of an effect is due to its causes
_ACCEPTED = 0.4  # of the people have label 1
_LABEL_NOISE = 0.1  # of the spread of the score
_SHAPES = ("straight", "square", "saturating")
_UNITS = {None: (50.0, 12.0), 1.0: (120.0, 20.0), 10.0: (3_000.0, 800.0)}  # by step
_LEVELS = ("none", "low", "middle", "high", "top")
_COLOURS = ("red", "green", "blue")


def random_world(kind: Kind, world: int = 0, n: int = 6_000, seed: int = 0) -> Dataset:
    """Draw a world, and people who live in it."""
    check_choice("random world", "kind", kind, KINDS)
    check_draw("random world", n, seed)
    plan = _Plan(kind, world)
    values = plan.people(n, np.random.default_rng([seed, 1]))
    frame = generated_frame(values, plan.schema)
    noise = np.random.default_rng([seed, 2]).normal(0, _LABEL_NOISE, n)
    labels = plan.score(values) + noise > 0
    indirect = [name for name in plan.schema.names if name not in plan.actionable]
    return Dataset(
        name=f"random {kind} {world}",
        frame=frame,
        label=label_column("accepted", labels),
        class_names=("rejected", "accepted"),
        schema=plan.schema,
        recourse_schema=plan.schema.edit(indirect, action=Action.INDIRECT),
        graph=plan.graph,
        rules=(),
        truth=StructuralCausalModel(plan.graph, plan.mechanisms, Codec.fit(plan.schema, frame)),
        sampler=partial(random_world, kind, world),
    )


class _Plan:
    """A world before anybody lives in it."""

    def __init__(self, kind: Kind, world: int) -> None:
        rng = np.random.default_rng([world, KINDS.index(kind)])
        self.kind, self.rng = kind, rng
        self.schema = Schema([_feature(kind, position) for position in range(_N_FEATURES)])
        self.graph = CausalGraph(_edges(kind, self.schema.names, rng), self.schema.names)
        self.mechanisms: dict[str, Mechanism] = {}
        self._noise_spread: dict[str, float] = {}
        self._scales: dict[str, Scale] = {}
        values: dict[str, Array] = {}
        for feature in self.schema:
            values[feature.name] = self._calibrate(feature, values)
            self._scales[feature.name] = _scale(feature, values[feature.name], rng)
        self.actionable = _actionable(kind, self.schema.names, rng)
        self.score = self._label(values)

    def people(self, n: int, rng: np.random.Generator) -> dict[str, Array]:
        """Return the features of new people, in raw units and level codes."""
        roots = {name: _root(self.schema[name], n, rng) for name in self.graph.roots}
        noise = {name: self._noise(name, n, rng) for name in self.mechanisms}
        return generate(self.graph, self.mechanisms, self.schema, roots, noise)

    def _calibrate(self, feature: Feature, values: Parents) -> Array:
        """Draw the equation of a feature, and return its values for the calibration rows."""
        name, causes = feature.name, self.graph.parents(feature.name)
        if not causes:
            return _root(feature, _N_CALIBRATION_ROWS, self.rng)
        parents = {cause: values[cause] for cause in causes}
        response = self._response(_terms(self.kind, causes, self.rng), parents)
        self.mechanisms[name], self._noise_spread[name] = _mechanism(feature, response, self.rng)
        noise = {name: self._noise(name, _N_CALIBRATION_ROWS, self.rng)}
        family = CausalGraph([(cause, name) for cause in causes])
        own = {name: self.mechanisms[name]}
        return generate(family, own, self.schema, parents, noise)[name]

    def _response(self, terms: Sequence[Term], parents: Parents) -> Response:
        """Return the equation with these terms that is standardised over the parents given."""
        scales = {name: self._scales[name] for name in parents}
        total = Response(tuple(terms), scales)(parents)
        gain = 1 / float(total.std(ddof=1))
        return Response(tuple(terms), scales, -gain * float(total.mean()), gain)

    def _label(self, values: Parents) -> Response:
        response = self._response(_label_terms(self.kind, self.graph, self.rng), values)
        cut = float(np.quantile(response(values), 1 - _ACCEPTED))
        return replace(response, centre=response.centre - cut)

    def _noise(self, name: str, n: int, rng: np.random.Generator) -> Array:
        size = self.mechanisms[name].noise_size
        draw = rng.gumbel(size=(n, size)) if size > 1 else rng.normal(size=(n, 1))
        return draw * self._noise_spread[name]


def _feature(kind: Kind, position: int) -> Feature:
    """Return a feature: levels where the kind of world has them, else a number in some unit."""
    name = f"{'root' if position < _N_ROOTS else 'effect'}{position}"
    if (kind, position) in (("mixed", 1), ("levels", 5)):
        return Categorical(name, _COLOURS)
    if (kind, position) in (("mixed", 2), ("levels", 3), ("levels", 6)):
        return Ordinal(name, _LEVELS)
    stepped = kind in ("mixed", "levels")
    return Continuous(name, step=(None, 1.0, 10.0)[position % 3] if stepped else None)


def _edges(kind: Kind, names: Sequence[str], rng: np.random.Generator) -> list[tuple[str, str]]:
    """Draw one to three causes for each effect; where things oppose, the first root has one."""
    edges = []
    for position in range(_N_ROOTS, len(names)):
        n_causes = int(rng.integers(1, 4))
        causes = set(rng.choice(position, n_causes, replace=False).tolist())
        if kind == "opposing" and position == _N_ROOTS:
            causes |= {0}
        edges += [(names[cause], names[position]) for cause in sorted(causes)]
    return edges


def _terms(kind: Kind, causes: Sequence[str], rng: np.random.Generator) -> list[Term]:
    """Draw the summands of an equation: one for each cause, and products where it is curved."""
    curved = kind != "linear"
    terms = [
        Term((cause,), str(rng.choice(_SHAPES)) if curved else "straight", _weight(rng))
        for cause in causes
    ]
    if curved and len(causes) > 1 and rng.random() < 0.5:
        pair = sorted(rng.choice(len(causes), 2, replace=False).tolist())
        terms.append(Term((causes[pair[0]], causes[pair[1]]), "straight", 0.5 * _weight(rng)))
    if kind == "opposing" and causes[0] == "root0":
        terms.append(Term(("root0",), "square", 1.5))
    return terms


def _label_terms(kind: Kind, graph: CausalGraph, rng: np.random.Generator) -> list[Term]:
    """Draw what the label asks for; where things oppose, for a cause and against its effect."""
    terms = [Term((name,), "straight", _weight(rng)) for name in graph.nodes]
    if kind == "opposing":
        effect = f"effect{_N_ROOTS}"
        terms = [replace(term, weight=0.3 * term.weight) for term in terms]
        terms += [Term(("root0",), "straight", 2.0), Term((effect,), "straight", -2.0)]
    elif kind != "linear":
        pair = rng.choice(graph.nodes, 2, replace=False).tolist()
        terms.append(Term((pair[0], pair[1]), "straight", _weight(rng)))
    return terms


def _actionable(kind: Kind, names: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Draw what people can act on: a root in any case, mostly causes."""
    if kind == "opposing":
        return ("root0", "root1")
    others = rng.choice(names[1:-1], _N_ACTIONABLE[kind] - 1, replace=False).tolist()
    return (names[0], *others)


def _weight(rng: np.random.Generator) -> float:
    return float(rng.uniform(0.5, 1.5) * rng.choice([-1, 1]))


def _root(feature: Feature, n: int, rng: np.random.Generator) -> Array:
    """Draw a feature without causes: levels are equally frequent, numbers are bell-shaped."""
    if not isinstance(feature, Continuous):
        return rng.integers(0, len(feature.levels), n).astype(np.float64)
    centre, spread = _UNITS[feature.step]
    return rng.normal(centre, spread, n)


def _scale(feature: Feature, values: Array, rng: np.random.Generator) -> Scale:
    if isinstance(feature, Categorical):
        return Scale(0.0, 1.0, tuple(rng.permutation([-1.2, 0.0, 1.2]).tolist()))
    return Scale(float(values.mean()), float(values.std(ddof=1)))


def _mechanism(
    feature: Feature, response: Response, rng: np.random.Generator
) -> tuple[Mechanism, float]:
    """Return the mechanism of a feature whose standardised equation is given, and its noise."""
    explained, own = math.sqrt(_EXPLAINED), math.sqrt(1 - _EXPLAINED)
    if isinstance(feature, Categorical):
        slopes = tuple((3.0 * rng.permutation([-1.0, 0.0, 1.0])).tolist())
        return Choice(replace(response, slopes=slopes), len(feature.levels)), 1.0
    if isinstance(feature, Ordinal):
        # The noise is 1; levels are as wide as makes the causes explain their share.
        signal = explained / own
        ends = signal * (np.arange(1, len(feature.levels)) / len(feature.levels) - 0.5) * 4
        return Ordered(_in_units(response, 0.0, signal), ends), 1.0
    centre, spread = _UNITS[feature.step]
    return Additive(_in_units(response, centre, spread * explained)), spread * own


def _in_units(response: Response, centre: float, spread: float) -> Response:
    return replace(response, centre=centre + spread * response.centre, gain=spread * response.gain)
