"""How sure a counterfactual is where the graph is not: it is tried in many graphs.

The paper leaves the imperfect causal model to future work. Here every graph of a bootstrap
gets its own equations, and a counterfactual is supported by those in which its actions lead
to the consequences shown.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from proce.arrays import MIN_DIFFERENCE, Array, cells_differ
from proce.causal.equations.families import Kind
from proce.causal.equations.fitting import MechanismRecord, fit_mechanism, refitting
from proce.causal.equations.mechanism import Mechanism
from proce.causal.graph import CausalGraph
from proce.causal.models import propagation
from proce.causal.models.scm import StructuralCausalModel, draw_uniforms
from proce.causal.programs.program import Program
from proce.errors import GraphError
from proce.schema import Codec, Continuous


@dataclass(frozen=True)
class Ensemble:
    """Structural causal models that differ in their graphs."""

    members: tuple[StructuralCausalModel, ...]

    @classmethod
    def fit(
        cls,
        graphs: Iterable[CausalGraph],
        rows: Array,
        codec: Codec,
        *,
        mechanism: Kind = "auto",
        seed: int = 0,
    ) -> "Ensemble":
        """Fit the equations of every graph; a feature with the same causes is fitted once."""
        graphs = tuple(graphs)
        if not graphs:
            raise GraphError("an ensemble needs at least one graph; discover with bootstrap=50.")
        fitted: dict[tuple[str, ...], tuple[Mechanism, MechanismRecord]] = {}
        members = []
        for graph in graphs:
            keys = {name: (name, *graph.parents(name)) for name in graph.endogenous}
            for name, key in keys.items():
                if key not in fitted:
                    fitted[key] = fit_mechanism(name, graph, rows, codec, mechanism, seed)
            mechanisms = {name: fitted[key][0] for name, key in keys.items()}
            records = {name: fitted[key][1] for name, key in keys.items()}
            members.append(StructuralCausalModel(graph, mechanisms, codec, records))
        return cls(tuple(members))

    @classmethod
    def refit(
        cls, scm: StructuralCausalModel, rows: Array, n_members: int, seed: int = 0
    ) -> "Ensemble":
        """Fit the equations of one graph many times, on rows drawn with replacement."""
        # Each member draws as many rows as there are, so that the members differ as much as the
        # training rows leave the equations open: they are what the true equations may be. Equations
        # that were given, and those of levels without an order, are the same in all members.
        generator = np.random.default_rng(seed)
        refits = {
            name: refitting(name, scm.graph, rows, scm.codec, record.kind, seed)
            for name, record in scm.records.items()
            if record.kind not in ("given", "logistic")
        }
        members = []
        for _ in range(n_members):
            drawn = generator.integers(len(rows), size=len(rows))
            times = np.bincount(drawn, minlength=len(rows))
            again = {name: refit(times) for name, refit in refits.items()}
            mechanisms = {**scm.mechanisms, **again}
            members.append(StructuralCausalModel(scm.graph, mechanisms, scm.codec, scm.records))
        return cls(tuple(members))

    def abduct(self, factual: Array, *, seed: int = 0, keys: Array | None = None) -> list[Array]:
        """Return the noise ``(i, w)`` that explains rows ``(i, f)`` in each member."""
        # Noise that is drawn, because many noises explain a level, is another one in each member.
        # `seed` and `keys` are those of `StructuralCausalModel.abduct`.
        seeds, first = range(seed + 1, seed + len(self.members) + 1), self.members[0]
        if self._has_one_graph:
            uniforms = draw_uniforms(factual, seeds, keys, first.residual_size)
            noise_of = [member.noise_of for member in self.members]
            is_unknown = first.unknown_noise(factual)
            return list(propagation.abduct(self._program, noise_of, factual, is_unknown, uniforms))
        return [
            member.abduct(factual, seed=own, keys=keys)
            for own, member in zip(seeds, self.members, strict=True)
        ]

    def outcomes(
        self,
        factual: Array,  # (i, f)
        rows: Array,  # (i, c, f), whose values count where something is set or held by hand
        by_hand: Array,
        noise: Iterable[Array],  # (i, w) for each member, as `abduct` returns it
    ) -> Array:
        """Return where actions in rows ``(i, c, f)`` lead to in each member, ``(m, i, c, f)``."""
        start = np.where(by_hand, rows, factual[:, None])
        if not self._has_one_graph:
            each = zip(self.members, noise, strict=True)
            return np.stack([own.propagate(start, residual, by_hand) for own, residual in each])
        residuals = noise if isinstance(noise, np.ndarray) else np.stack(list(noise))  # (m, i, w)
        return propagation.propagate(self._program, self._outcome, start, residuals, by_hand)

    def _outcome(self, position: int, columns: Array, residual: Array) -> Array:
        """Return what causes lead an effect to in each member, ``(m, …)``."""
        # As `StructuralCausalModel.outcome`, of columns `(f, m, …)` and noise `(m, …, w)`.
        first = self.members[0]
        name = first.codec.schema.names[position]
        if all(own.mechanisms[name] is first.mechanisms[name] for own in self.members):
            return first.outcome(position, columns, residual)
        each = enumerate(self.members)
        return np.stack(
            [own.outcome(position, columns[:, place], residual[place]) for place, own in each]
        )

    def first(self, n_members: int) -> "Ensemble":
        """Return the ensemble of the first members; the same one every time."""
        if n_members not in self._parts:
            self._parts[n_members] = Ensemble(self.members[:n_members])
        return self._parts[n_members]

    @cached_property
    def _parts(self) -> "dict[int, Ensemble]":
        return {}

    @cached_property
    def _has_one_graph(self) -> bool:
        """Whether rows can go through all members at once."""
        return all(member.graph is self.members[0].graph for member in self.members)

    @cached_property
    def _program(self) -> Program:
        """The equations of all members, whose graph is the same, as kernels take them."""
        assert self._has_one_graph, "a program is of one graph"
        return self.members[0].program_of([member.mechanisms for member in self.members])

    def support(
        self,
        factual: Array,  # (i, f)
        rows: Array,  # (i, c, f), counterfactuals as they are shown
        by_hand: Array,  # (i, c, f), what is set or held; all else must follow
        # how far a number may be from the one shown, on the unit range; levels must agree
        tolerance: float = 0.05,
        *,
        seed: int = 0,  # as for `abduct`
        keys: Array | None = None,
    ) -> Array:
        """Return in how many members each row comes about, ``(i, c)``."""
        tolerances = [
            tolerance if isinstance(feature, Continuous) else 0.0
            for feature in self.members[0].codec.schema
        ]
        max_gap = np.array(tolerances) + MIN_DIFFERENCE
        votes = np.zeros(rows.shape[:-1], dtype=np.int64)
        # The noise of levels is drawn as for the rows that are shown.
        noise = (member.abduct(factual, seed=seed, keys=keys) for member in self.members)
        for outcome in self.outcomes(factual, rows, by_hand, noise):
            votes += ~cells_differ(outcome, rows, max_gap).any(-1)
        return votes
