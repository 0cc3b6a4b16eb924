"""Structural causal models as plain values and arrays, and back.

Equations that were learned are saved by what they learned. Equations that a person gave as
functions are saved by the name of their effect alone, and must be handed over again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proce.arrays import Array
from proce.causal.equations.families import EQUATIONS
from proce.causal.equations.fitting import MechanismRecord, given_mechanism
from proce.causal.equations.mechanism import (
    Additive,
    Choice,
    Linked,
    Mechanism,
    Multiplicative,
    Ordered,
    Ranked,
    Units,
)
from proce.causal.equations.terms import Equation, Terms
from proce.causal.graph import CausalGraph
from proce.causal.models.scm import StructuralCausalModel
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Continuous, Schema

Noise = Literal["additive", "multiplicative", "ranked", "ordered", "choice", "given"]
_NOISES: dict[str, type[Linked]] = {
    kind.link.name.lower(): kind for kind in (Additive, Multiplicative, Ranked, Ordered, Choice)
}


@dataclass(frozen=True, kw_only=True)
class SavedMechanism:
    """A mechanism without what its equation learned."""

    effect: str
    noise: Noise  # how it enters; ``given`` where a person gave the mechanism as code
    units: Units = "unit"  # of numbers
    limits: tuple[float | None, float | None] = (None, None)  # of additive noise
    origin: float = 0.0  # of multiplicative noise and of an exponential
    form: str = "polynomial"  # of the equation: a key of `EQUATIONS`
    parents: tuple[str, ...] = ()  # and all other parts of its terms
    degree: Literal[1, 2] = 1
    knots: tuple[tuple[str, tuple[float, ...]], ...] = ()
    ends: tuple[tuple[str, float, float], ...] = ()
    maps: tuple[tuple[str, float, float], ...] = ()
    output: tuple[float, float] = (1.0, 0.0)  # what trees say times the first, plus the second
    thresholds: tuple[float, ...] = ()  # between ordered levels
    abducted: Literal["drawn", "median"] = "drawn"  # which noise explains an ordered level

    @classmethod
    def of(cls, name: str, mechanism: Mechanism, schema: Schema) -> "SavedMechanism":
        """Return a mechanism as plain values; ``given`` where it is not of a learned kind."""
        noise = next((noise for noise, kind in _NOISES.items() if type(mechanism) is kind), None)
        equation = equation_of(mechanism)
        form = getattr(equation, "form", None)
        if noise is None or not isinstance(form, str) or EQUATIONS.get(form) is not type(equation):
            return cls(effect=name, noise="given")
        terms: Terms = equation.terms
        of_noise, of_equation = mechanism.saved(), equation.saved()  # type: ignore[attr-defined]
        # Parents that are declared otherwise, or two origins, of which only one could be kept.
        if any(own.name not in schema or schema[own.name] != own for own in terms.parents) or any(
            of_noise[part] != of_equation[part] for part in of_noise.keys() & of_equation
        ):
            return cls(effect=name, noise="given")
        return cls(
            effect=name,
            noise=noise,  # type: ignore[arg-type]
            units=mechanism.units,
            form=form,
            parents=tuple(parent.name for parent in terms.parents),
            degree=terms.degree,  # type: ignore[arg-type]
            knots=terms.knots,
            ends=terms.ends,
            maps=terms.maps,
            **(of_noise | of_equation),
        )

    def load(self, schema: Schema, learned: Any) -> Mechanism:
        """Return the mechanism, with what its equation had learned."""
        feature, kind = schema[self.effect], self._kind
        causes = tuple(schema[name] for name in self.parents)
        terms = Terms(causes, self.degree, self.knots, self.ends, self.maps)
        n_levels = 0 if isinstance(feature, Continuous) else len(feature.levels)
        n_logits = n_levels if isinstance(feature, Categorical) else 0
        equation = kind.load(terms, learned, self, n_logits)
        if equation is None:
            what = "trees" if kind.is_estimator else "weights"
            raise GraphError(f"the {what} of the equation of {feature.name!r} do not fit.")
        return _NOISES[self.noise].load(equation, n_levels, self)

    @property
    def is_estimator(self) -> bool:
        """Whether an estimator was learned, which is kept in another file than arrays."""
        return self.noise != "given" and self._kind.is_estimator

    @property
    def _kind(self) -> Any:
        if self.form not in EQUATIONS:
            raise GraphError(
                f"the equation of {self.effect!r} has the form {self.form!r}; this version of proce"
                f" knows {', '.join(EQUATIONS)}. Update proce, or save the explainer again."
            )
        return EQUATIONS[self.form]


def equation_of(mechanism: Mechanism) -> Any:
    """Return the equation of a mechanism before its noise; ``None`` of somebody else's."""
    return mechanism.equation if isinstance(mechanism, Linked) else None


@dataclass(frozen=True, kw_only=True)
class SavedRecord:
    """How a mechanism was chosen; an error that is not finite is ``None``."""

    kind: str
    errors: dict[str, float | None]
    n_rows: int
    notes: tuple[str, ...]

    @classmethod
    def of(cls, record: MechanismRecord) -> "SavedRecord":
        """Return a record as plain values."""
        errors = {
            kind: error if math.isfinite(error) else None for kind, error in record.errors.items()
        }
        return cls(kind=record.kind, errors=errors, n_rows=record.n_rows, notes=record.notes)

    @property
    def record(self) -> MechanismRecord:
        """The record itself."""
        errors = {kind: math.inf if error is None else error for kind, error in self.errors.items()}
        return MechanismRecord(self.kind, errors, self.n_rows, self.notes)


@dataclass(frozen=True, kw_only=True)
class SavedModel:
    """A structural causal model, its parts named by their positions."""

    graph: int  # the position of its graph in `SavedCauses.graphs`
    mechanisms: dict[str, int]  # by name of the effect, the position in `SavedCauses.mechanisms`
    records: dict[str, SavedRecord]  # by name, how each mechanism was chosen


@dataclass(frozen=True)
class SavedCauses:
    """Causal models as plain values; what several of them share is kept once."""

    graphs: list[str] = field(default_factory=list)  # each graph as JSON text
    # the mechanisms without their weights, and the models
    mechanisms: list[SavedMechanism] = field(default_factory=list)
    models: list[SavedModel] = field(default_factory=list)
    # by the position of a mechanism, the weights of its equation or its boosted trees
    weights: dict[int, Array] = field(default_factory=dict)
    estimators: dict[int, Any] = field(default_factory=dict)
    _kept: dict[int, tuple[int, object]] = field(default_factory=dict)  # by id: position, object

    def add(self, scm: StructuralCausalModel) -> int:
        """Keep a model; return its position."""
        if id(scm) in self._kept:
            return self._kept[id(scm)][0]
        if id(scm.graph) not in self._kept:
            self._keep(scm.graph, self.graphs, scm.graph.to_json())
        saved = SavedModel(
            graph=self._kept[id(scm.graph)][0],
            mechanisms={
                name: self._mechanism(name, mechanism, scm.codec.schema)
                for name, mechanism in scm.mechanisms.items()
            },
            records={name: SavedRecord.of(record) for name, record in scm.records.items()},
        )
        return self._keep(scm, self.models, saved)

    def _mechanism(self, name: str, mechanism: Mechanism, schema: Schema) -> int:
        if id(mechanism) in self._kept:
            return self._kept[id(mechanism)][0]
        saved = SavedMechanism.of(name, mechanism, schema)
        position = self._keep(mechanism, self.mechanisms, saved)
        if saved.noise != "given":
            shelf = self.estimators if saved.is_estimator else self.weights
            shelf[position] = equation_of(mechanism).learned
        return position

    def _keep(self, original: object, shelf: list[Any], saved: object) -> int:
        # The original is kept too, since its id could otherwise be given to another object.
        self._kept[id(original)] = len(shelf), original
        shelf.append(saved)
        return len(shelf) - 1

    def load(
        self, codec: Codec, equations: Mapping[str, Mechanism | Equation]
    ) -> list[StructuralCausalModel]:
        """Return the models, with these equations where a person gave them."""
        graphs = [CausalGraph.from_json(text) for text in self.graphs]
        mechanisms = [
            self._loaded(position, codec.schema, equations)
            for position in range(len(self.mechanisms))
        ]
        for model in self.models:
            graph: CausalGraph = _part(graphs, model.graph)
            for name, position in model.mechanisms.items():
                saved: SavedMechanism = _part(self.mechanisms, position)
                if saved.effect != name or not {*saved.parents} <= {*graph.parents(name)}:
                    raise GraphError(f"the equation of {name!r} is of other features.")
        return [
            StructuralCausalModel(
                _part(graphs, model.graph),
                {name: _part(mechanisms, position) for name, position in model.mechanisms.items()},
                codec,
                {name: record.record for name, record in model.records.items()},
            )
            for model in self.models
        ]

    def _loaded(
        self, position: int, schema: Schema, equations: Mapping[str, Mechanism | Equation]
    ) -> Mechanism:
        saved = self.mechanisms[position]
        if saved.noise != "given":
            learned = self.estimators if saved.is_estimator else self.weights
            return saved.load(schema, learned[position])
        if saved.effect not in equations:
            raise GraphError(
                f"the equation of {saved.effect!r} was given as a function, which is not saved;"
                " hand it over with load(folder, equations={" + repr(saved.effect) + ": ...})."
            )
        return given_mechanism(schema[saved.effect], equations[saved.effect])


def _part(shelf: Sequence[Any], position: int) -> Any:
    if not 0 <= position < len(shelf):
        raise GraphError(f"part {position} of a causal model is not there.")
    return shelf[position]
