"""Equations over rows that are cut into columns: what a causal model is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from proce.arguments import check_fields
from proce.arrays import Array
from proce.causal.equations.consistency import check_consistency
from proce.causal.equations.fitting import MechanismRecord
from proce.causal.equations.given import checked_mechanism, is_given, refuse_endless
from proce.causal.equations.mechanism import Mechanism, OfLevels
from proce.causal.graph import CausalGraph
from proce.causal.models.actions import Tolerances
from proce.causal.models.assembly import assemble
from proce.causal.models.units import in_units, to_unit
from proce.causal.programs.program import Program
from proce.errors import GraphError
from proce.schema import Codec, Continuous


@dataclass(frozen=True, eq=False)
class ColumnEquations:
    """A graph with its equations, by position and column, as searches and measures ask for them.

    Nothing is checked here but the parts themselves; :class:`proce.StructuralCausalModel`, which
    people hold, adds the verbs.

    Parameters
    ----------
    graph, mechanisms, codec, records
        As for :class:`proce.StructuralCausalModel`.
    """

    graph: CausalGraph
    mechanisms: Mapping[str, Mechanism] = field(repr=False)
    codec: Codec = field(repr=False)
    records: Mapping[str, MechanismRecord] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, GraphError)
        own = {name: checked_mechanism(name, given) for name, given in self.mechanisms.items()}
        object.__setattr__(self, "mechanisms", own)
        check_consistency(self.graph, own, self.codec.schema)

    @cached_property
    def residual_size(self) -> int:
        """How many numbers describe the noise of one row."""
        return sum(self.mechanisms[name].noise_size for name in self.graph.endogenous)

    @cached_property
    def effects(self) -> tuple[int, ...]:
        """The positions of the features that follow from others, causes before effects."""
        return tuple(self._positions[name] for name in self.graph.order if name in self._propagated)

    @cached_property
    def tolerances(self) -> Tolerances:
        """Which differences count when actions are separated from consequences."""
        return Tolerances.of(self.codec)

    @cached_property
    def program(self) -> Program:
        """The equations as kernels take them."""
        return self.program_of((self.mechanisms,))

    def program_of(self, models: Sequence[Mapping[str, Mechanism]]) -> Program:
        """Return the program of several models' mechanisms over the same graph and rows."""
        tolerances = self.tolerances.table(self.codec)
        return assemble(models, self.graph, self.codec, self._propagated, self._noise, tolerances)

    def lacks(self, rows: Array) -> Array:
        """Return flags ``(i, e)`` of the effects of rows ``(i, f)`` whose noise cannot be known.

        There the effect itself or one of its causes is missing.
        """
        missing = self.codec.missing(rows)
        flags = np.zeros((len(rows), len(self.graph.endogenous)), np.bool_)
        if missing.any():
            for place, name in enumerate(self.graph.endogenous):
                used = [self._positions[used] for used in (name, *self.graph.parents(name))]
                flags[:, place] = missing[:, used].any(-1)
        return flags

    def noise_of(self, position: int, rows: Array, lacks: Array, uniforms: Array) -> Array:
        """Return the noise ``(i, …)`` of one effect, NaN where flags ``(i,)`` say that it lacks.

        Levels are drawn with ``uniforms (i, w)``.
        """
        name, columns = self.codec.schema.names[position], np.moveaxis(rows, -1, 0)
        parents, mechanism = self._parents(name, columns), self.mechanisms[name]
        value = in_units(self.codec, position, columns[position], mechanism.units)
        noise = mechanism.abduct(parents, value, uniforms[:, self._noise[name]])
        if is_given(mechanism) and not bool((np.isfinite(noise).all(-1) | lacks).all()):
            present = {cause: column[~lacks] for cause, column in parents.items()}
            refuse_endless(name, mechanism, present)
        return np.where(lacks[:, None], np.nan, noise)

    def check_given(self, rows: Array) -> None:
        """Raise a GraphError where an equation that was given fails on training rows ``(i, f)``."""
        for name, lacks in zip(self.graph.endogenous, self.lacks(rows).T, strict=True):
            if is_given(self.mechanisms[name]):
                present = rows[~lacks]
                if len(present):
                    parents = self._parents(name, np.moveaxis(present, -1, 0))
                    refuse_endless(name, self.mechanisms[name], parents, "training rows")

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # equations can lead anywhere
    def outcome(self, position: int, columns: Array, residual: Array) -> Array:
        """Return the value that its causes give an effect.

        Where a given equation gives NaN the value is infinite, which is beyond all limits; NaN
        would be a missing cell, which is within them.

        Parameters
        ----------
        position
            Of the feature in the schema.
        columns
            The rows, one array for each feature.
        residual
            Noise that broadcasts to the columns, ``(…, w)``.
        """
        name = self.codec.schema.names[position]
        mechanism, noise = self.mechanisms[name], residual[..., self._noise[name]]
        value = mechanism.respond(self._parents(name, columns), noise)
        value = to_unit(self.codec, position, value, mechanism.units)
        if isinstance(self.codec.schema.features[position], Continuous) and is_given(mechanism):
            value = np.where(np.isnan(value), np.inf, value)
        return value

    def is_known(self, position: int, residual: Array) -> Array:
        """Return flags ``(…)`` of the noise ``(…, w)`` under which causes decide an effect."""
        return ~np.isnan(residual[..., self._noise[self.codec.schema.names[position]].start])

    def kept_chances(self, position: int, factual: Array, rows: Array) -> Array:
        """Return the chances of a person's own level before and in rows ``(i, c, f)``.

        Two arrays that broadcast to ``(i, c)``; none where the feature's levels have no chances.
        """
        name = self.codec.schema.names[position]
        mechanism, level = self.mechanisms[name], factual[:, None, position]
        if not isinstance(mechanism, OfLevels):
            return np.empty((0, 1, 1))
        now, then = (np.moveaxis(part, -1, 0) for part in (factual[:, None], rows))
        each = [mechanism.chance(self._parents(name, part), level) for part in (now, then)]
        return np.stack(np.broadcast_arrays(*each))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: self.codec.schema.position(name) for name in self.graph.nodes}

    @cached_property
    def _noise(self) -> dict[str, slice]:
        """Where the noise of each endogenous feature stands in a residual."""
        sizes = (self.mechanisms[name].noise_size for name in self.graph.endogenous)
        places = [slice(*ends) for ends in pairwise(accumulate(sizes, initial=0))]
        return dict(zip(self.graph.endogenous, places, strict=True))

    @cached_property
    def _propagated(self) -> frozenset[str]:
        cut = {feature.name for feature in self.codec.schema if feature.action.has_no_causes}
        return frozenset(self.graph.endogenous) - cut

    def _parents(self, name: str, columns: Array) -> dict[str, Array]:
        """Return the causes of a feature, in the units of its mechanism."""
        units = self.mechanisms[name].units
        causes = {cause: self._positions[cause] for cause in self.graph.parents(name)}
        return {
            cause: in_units(self.codec, position, columns[position], units)
            for cause, position in causes.items()
        }
