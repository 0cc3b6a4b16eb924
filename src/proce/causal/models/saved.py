"""Structural causal models as plain values and tensors, and back.

Equations that were learned are kept by their weights. Equations that a person gave as functions
are not: only their names are, and they must be handed over again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from proce.causal.graph import CausalGraph
from proce.causal.models.fitting import MechanismRecord, given_mechanism
from proce.causal.models.mechanism import (
    Additive,
    Choice,
    Equation,
    Mechanism,
    Multiplicative,
    Ranked,
    Units,
)
from proce.causal.models.regression import Boosted, Exponential, Polynomial, Terms
from proce.causal.models.scm import StructuralCausalModel
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Feature, Schema

Noise = Literal["additive", "multiplicative", "ranked", "choice", "given"]
_NOISES: dict[Noise, type] = {
    "additive": Additive,
    "multiplicative": Multiplicative,
    "ranked": Ranked,
    "choice": Choice,
}


@dataclass(frozen=True, kw_only=True)
class SavedMechanism:
    """A mechanism without its weights.

    Attributes
    ----------
    effect
        The feature's name.
    noise
        How it enters; ``given`` where a person gave the mechanism as code.
    units
        Of numbers.
    limits
        Of additive noise; ``None`` where there is none.
    origin
        Of multiplicative noise and of an exponential equation.
    form
        Of the equation.
    parents, degree, knots
        Of its terms.
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


@dataclass(frozen=True, kw_only=True)
class SavedRecord:
    """How a mechanism was chosen; an error that is not finite is ``None``."""

    kind: str
    errors: dict[str, float | None]
    n_rows: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, record: MechanismRecord) -> "SavedRecord":
        """Take a record apart."""
        errors = {kind: e if math.isfinite(e) else None for kind, e in record.errors.items()}
        return cls(kind=record.kind, errors=errors, n_rows=record.n_rows, notes=record.notes)

    @property
    def record(self) -> MechanismRecord:
        """The record itself."""
        errors = {kind: math.inf if e is None else e for kind, e in self.errors.items()}
        return MechanismRecord(self.kind, errors, self.n_rows, self.notes)


@dataclass(frozen=True, kw_only=True)
class SavedModel:
    """A structural causal model, its parts named by their positions.

    Attributes
    ----------
    graph
        Among the graphs.
    mechanisms
        By name of the effect, among the mechanisms.
    records
        By name, how each mechanism was chosen.
    """

    graph: int
    mechanisms: dict[str, int]
    records: dict[str, SavedRecord]


@dataclass(frozen=True)
class SavedCauses:
    """Causal models taken apart; what several share is kept once.

    Attributes
    ----------
    graphs
        As JSON text.
    mechanisms, models
        See there.
    weights, estimators
        Of the equations, by the position of their mechanism: tensors, or boosted trees.
    """

    graphs: list[str] = field(default_factory=list)
    mechanisms: list[SavedMechanism] = field(default_factory=list)
    models: list[SavedModel] = field(default_factory=list)
    weights: dict[int, Tensor] = field(default_factory=dict)
    estimators: dict[int, Any] = field(default_factory=dict)
    _places: dict[int, tuple[int, object]] = field(default_factory=dict)

    def add(self, scm: StructuralCausalModel) -> int:
        """Keep a model; return its position."""
        if id(scm) not in self._places:
            saved = SavedModel(
                graph=self._graph(scm.graph),
                mechanisms={
                    name: self._mechanism(name, each, scm) for name, each in scm.mechanisms.items()
                },
                records={name: SavedRecord.of(each) for name, each in scm.records.items()},
            )
            self._place(scm, self.models, saved)
        return self._places[id(scm)][0]

    def _graph(self, graph: CausalGraph) -> int:
        if id(graph) not in self._places:
            self._place(graph, self.graphs, graph.to_json())
        return self._places[id(graph)][0]

    def _mechanism(self, name: str, mechanism: Mechanism, scm: StructuralCausalModel) -> int:
        if id(mechanism) not in self._places:
            at = len(self.mechanisms)
            saved = _taken_apart(name, mechanism, scm.codec.schema)
            self._place(mechanism, self.mechanisms, saved)
            equation: Any = mechanism.predict
            if saved.noise != "given" and saved.form == "boosted":
                self.estimators[at] = equation.model
            elif saved.noise != "given":
                self.weights[at] = getattr(equation, "polynomial", equation).weights
        return self._places[id(mechanism)][0]

    def _place(self, thing: object, shelf: list[Any], saved: object) -> None:
        self._places[id(thing)] = len(shelf), thing  # the thing too, or its id could come again
        shelf.append(saved)

    def load(
        self, codec: Codec, equations: Mapping[str, Mechanism | Equation]
    ) -> list[StructuralCausalModel]:
        """Return the models, with these equations where a person gave them."""
        graphs = [CausalGraph.from_json(text) for text in self.graphs]
        mechanisms = [
            self._loaded(at, codec.schema, equations) for at in range(len(self.mechanisms))
        ]
        self._check_parents(graphs)
        return [
            StructuralCausalModel(
                _at(graphs, each.graph),
                {name: _at(mechanisms, at) for name, at in each.mechanisms.items()},
                codec,
                {name: record.record for name, record in each.records.items()},
            )
            for each in self.models
        ]

    def _check_parents(self, graphs: Sequence[CausalGraph]) -> None:
        for model in self.models:
            graph: CausalGraph = _at(graphs, model.graph)
            for name, at in model.mechanisms.items():
                saved: SavedMechanism = _at(self.mechanisms, at)
                if saved.effect != name or not {*saved.parents} <= {*graph.parents(name)}:
                    raise GraphError(f"the equation of {name!r} is of other features.")

    def _loaded(
        self, at: int, schema: Schema, equations: Mapping[str, Mechanism | Equation]
    ) -> Mechanism:
        saved = self.mechanisms[at]
        feature = schema[saved.effect]
        if saved.noise == "given":
            if saved.effect not in equations:
                raise GraphError(
                    f"the equation of {saved.effect!r} was given as a function, which is not saved;"
                    " hand it over with load(folder, equations={" + repr(saved.effect) + ": ...})."
                )
            return given_mechanism(feature, equations[saved.effect])
        equation = self._equation(at, schema, feature)
        if saved.noise == "additive":
            low, high = saved.limits
            ends = -math.inf if low is None else low, math.inf if high is None else high
            return Additive(equation, ends, saved.units)
        if saved.noise == "multiplicative":
            return Multiplicative(equation, saved.origin, saved.units)
        return _NOISES[saved.noise](equation, len(feature.levels), saved.units)  # type: ignore[union-attr,no-any-return]

    def _equation(self, at: int, schema: Schema, feature: Feature) -> Any:
        saved = self.mechanisms[at]
        terms = Terms(tuple(schema[each] for each in saved.parents), saved.degree, saved.knots)
        if saved.form == "boosted":
            model = self.estimators[at]
            if getattr(model, "n_features_in_", None) != terms.size - 1:
                raise GraphError(f"the trees of the equation of {feature.name!r} do not fit.")
            return Boosted(terms, model)
        wide = (len(feature.levels),) if isinstance(feature, Categorical) else ()
        bent = all(name in saved.parents and len(knots) > 2 for name, knots in saved.knots)
        weights = self.weights[at]
        if weights.shape != (terms.size, *wide) or weights.dtype != torch.float64 or not bent:
            raise GraphError(f"the weights of the equation of {feature.name!r} do not fit.")
        polynomial = Polynomial(terms, weights)
        return Exponential(polynomial, saved.origin) if saved.form == "exponential" else polynomial


def _taken_apart(name: str, mechanism: Mechanism, schema: Schema) -> SavedMechanism:
    """Return a mechanism as plain values; ``given`` where it is not of a kind that is learned."""
    noise = next((noise for noise, kind in _NOISES.items() if type(mechanism) is kind), None)
    equation: Any = mechanism.predict
    polynomial = getattr(equation, "polynomial", equation)
    if noise is None or type(equation) not in (Polynomial, Exponential, Boosted):
        return SavedMechanism(effect=name, noise="given")
    terms: Terms = polynomial.terms
    if any(each.name not in schema or schema[each.name] != each for each in terms.parents):
        return SavedMechanism(effect=name, noise="given")
    origins = {each.origin for each in (mechanism, equation) if hasattr(each, "origin")}
    if len(origins) > 1:
        return SavedMechanism(effect=name, noise="given")
    low, high = getattr(mechanism, "limits", (-math.inf, math.inf))
    return SavedMechanism(
        effect=name,
        noise=noise,
        units=mechanism.units,
        limits=(low if math.isfinite(low) else None, high if math.isfinite(high) else None),
        origin=next(iter(origins), 0.0),
        form=type(equation).__name__.lower(),  # type: ignore[arg-type]
        parents=tuple(each.name for each in terms.parents),
        degree=terms.degree,  # type: ignore[arg-type]
        knots=terms.knots,
    )


def _at(shelf: Sequence[Any], position: int) -> Any:
    if not 0 <= position < len(shelf):
        raise GraphError(f"part {position} of a causal model is not there.")
    return shelf[position]
