"""Structural causal models as plain values and arrays, and back.

Equations that were learned are saved by their weights. Equations that a person gave as functions
are saved by the name of their effect alone, and must be handed over again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proce.arrays import Array
from proce.causal.equations.fitting import MechanismRecord, given_mechanism
from proce.causal.equations.mechanism import Equation, Mechanism
from proce.causal.equations.polynomial import polynomial_of
from proce.causal.equations.saved_mechanism import SavedMechanism, equation_of
from proce.causal.graph import CausalGraph
from proce.causal.models.scm import StructuralCausalModel
from proce.errors import GraphError
from proce.schema import Codec, Schema


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
    """A structural causal model, its parts named by their positions.

    Attributes
    ----------
    graph
        The position of its graph in ``SavedCauses.graphs``.
    mechanisms
        By name of the effect, the position in ``SavedCauses.mechanisms``.
    records
        By name, how each mechanism was chosen.
    """

    graph: int
    mechanisms: dict[str, int]
    records: dict[str, SavedRecord]


@dataclass(frozen=True)
class SavedCauses:
    """Causal models as plain values; what several of them share is kept once.

    Attributes
    ----------
    graphs
        Each graph as JSON text.
    mechanisms, models
        The mechanisms without their weights, and the models.
    weights, estimators
        By the position of a mechanism, the weights of its equation or its boosted trees.
    """

    graphs: list[str] = field(default_factory=list)
    mechanisms: list[SavedMechanism] = field(default_factory=list)
    models: list[SavedModel] = field(default_factory=list)
    weights: dict[int, Array] = field(default_factory=dict)
    estimators: dict[int, Any] = field(default_factory=dict)
    _kept: dict[int, tuple[int, object]] = field(default_factory=dict)  # by id: position, object

    def add(self, scm: StructuralCausalModel) -> int:
        """Keep a model; return its position."""
        if id(scm) not in self._kept:
            saved = SavedModel(
                graph=self._graph(scm.graph),
                mechanisms={
                    name: self._mechanism(name, mechanism, scm)
                    for name, mechanism in scm.mechanisms.items()
                },
                records={name: SavedRecord.of(record) for name, record in scm.records.items()},
            )
            self._keep(scm, self.models, saved)
        return self._kept[id(scm)][0]

    def _graph(self, graph: CausalGraph) -> int:
        if id(graph) not in self._kept:
            self._keep(graph, self.graphs, graph.to_json())
        return self._kept[id(graph)][0]

    def _mechanism(self, name: str, mechanism: Mechanism, scm: StructuralCausalModel) -> int:
        if id(mechanism) not in self._kept:
            position = len(self.mechanisms)
            saved = SavedMechanism.of(name, mechanism, scm.codec.schema)
            self._keep(mechanism, self.mechanisms, saved)
            equation: Any = equation_of(mechanism)
            if saved.noise != "given" and saved.form == "boosted":
                self.estimators[position] = equation.model
            elif saved.noise != "given":
                self.weights[position] = polynomial_of(equation).weights
        return self._kept[id(mechanism)][0]

    def _keep(self, original: object, shelf: list[Any], saved: object) -> None:
        # The original is kept too, since its id could otherwise be given to another object.
        self._kept[id(original)] = len(shelf), original
        shelf.append(saved)

    def load(
        self, codec: Codec, equations: Mapping[str, Mechanism | Equation]
    ) -> list[StructuralCausalModel]:
        """Return the models, with these equations where a person gave them."""
        graphs = [CausalGraph.from_json(text) for text in self.graphs]
        mechanisms = [
            self._loaded(position, codec.schema, equations)
            for position in range(len(self.mechanisms))
        ]
        self._check_parents(graphs)
        return [
            StructuralCausalModel(
                _part(graphs, model.graph),
                {name: _part(mechanisms, position) for name, position in model.mechanisms.items()},
                codec,
                {name: record.record for name, record in model.records.items()},
            )
            for model in self.models
        ]

    def _check_parents(self, graphs: Sequence[CausalGraph]) -> None:
        for model in self.models:
            graph: CausalGraph = _part(graphs, model.graph)
            for name, position in model.mechanisms.items():
                saved: SavedMechanism = _part(self.mechanisms, position)
                if saved.effect != name or not {*saved.parents} <= {*graph.parents(name)}:
                    raise GraphError(f"the equation of {name!r} is of other features.")

    def _loaded(
        self, position: int, schema: Schema, equations: Mapping[str, Mechanism | Equation]
    ) -> Mechanism:
        saved = self.mechanisms[position]
        if saved.noise != "given":
            learned = self.estimators if saved.form == "boosted" else self.weights
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
