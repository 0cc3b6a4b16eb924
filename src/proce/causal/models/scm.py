"""Structural causal models: abduction, action, prediction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from proce.causal.equations.consistency import (
    check_consistency,
    check_same_features,
    require_equation,
)
from proce.causal.equations.fitting import Kind, MechanismRecord, fit_mechanisms
from proce.causal.equations.mechanism import Equation, Mechanism, Ordered
from proce.causal.equations.rescaling import on_scale_of
from proce.causal.graph import CausalGraph
from proce.causal.models import compiled
from proce.causal.models.actions import Actions, Tolerances, propagate, separate
from proce.causal.models.units import draw_uniforms, in_units, to_unit
from proce.causal.programs.assembly import assemble
from proce.causal.programs.program import Program
from proce.schema import Codec, Level


@dataclass(frozen=True, eq=False)
class StructuralCausalModel:
    """A causal graph with an equation for every endogenous feature.

    Parameters
    ----------
    graph
        Over features of the codec's schema; a feature it does not name has no cause and
        no effect.
    mechanisms
        By name of the endogenous feature.
    codec
        How rows and raw units correspond. Fixed features of its schema are never
        propagated: the edges into them are cut.
    records
        By name, how each mechanism was chosen; empty where the equations were given.
    """

    graph: CausalGraph
    mechanisms: Mapping[str, Mechanism] = field(repr=False)
    codec: Codec = field(repr=False)
    records: Mapping[str, MechanismRecord] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanisms", dict(self.mechanisms))
        check_consistency(self.graph, self.mechanisms, self.codec.schema)

    @classmethod
    def fit(
        cls,
        graph: CausalGraph,
        rows: Tensor,
        codec: Codec,
        *,
        mechanism: Kind = "auto",
        equations: Mapping[str, Mechanism | Equation] | None = None,
        seed: int = 0,
    ) -> "StructuralCausalModel":
        """Fit an equation for every endogenous feature.

        Parameters
        ----------
        graph
            The causes.
        rows
            Training rows ``(i, f)``; a row counts where the feature and its parents are present.
        codec
            Whose rows they are.
        mechanism
            ``linear`` (the paper's), ``quadratic``, ``spline``, one of these with ``log-`` before
            it, ``boosting``, or ``auto``: the best of the smooth ones by cross-validation, with
            thresholds for ordered levels. Categorical effects are always logistic.
        equations
            Equations that are known, by name: a mechanism, or a function from the parents in
            raw units (level codes for levels) to a tensor of predictions.
        seed
            Of folds and trees.
        """
        fitted = fit_mechanisms(graph, rows, codec, mechanism, equations or {}, seed)
        mechanisms = {name: fit for name, (fit, _) in fitted.items()}
        return cls(graph, mechanisms, codec, {name: record for name, (_, record) in fitted.items()})

    @property
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

    def predict(self, name: str, rows: Tensor) -> Tensor:
        """Return g of an endogenous feature for rows ``(…, f)``: its equation without the noise.

        A number on the unit range, the mean rank of an ordinal level, or the logits ``(…, l)`` of a
        categorical one.
        """
        require_equation(name, self.graph)
        mechanism = self.mechanisms[name]
        predicted = mechanism.predict(self._parents(name, rows.unbind(-1)))
        return to_unit(self.codec, self._positions[name], predicted, mechanism.units)

    def chance(self, name: str, rows: Tensor, codes: Tensor) -> Tensor:
        """Return the chance ``(…)`` that causes in rows ``(…, f)`` give an effect these levels."""
        mechanism = self.mechanisms[name]
        if isinstance(mechanism, Ordered):
            return mechanism.chance(self._parents(name, rows.unbind(-1)), codes)
        chances = self.predict(name, rows).softmax(-1)
        return chances.gather(-1, codes.long()[..., None]).squeeze(-1)

    def abduct(self, rows: Tensor, *, seed: int = 0, keys: Tensor | None = None) -> Tensor:
        """Return the noise ``(i, w)`` that explains rows ``(i, f)``.

        Where many noises explain a level, one is drawn from the row's own random stream,
        which depends on the seed and the row's key alone.

        Parameters
        ----------
        rows
            Factual rows. Noise that cannot be known, because the feature or one of its
            parents is missing, is NaN.
        seed
            Of the random streams.
        keys
            An integer ``(i,)`` for each row; by default its position.
        """
        uniforms = draw_uniforms(rows, (seed,), keys, self.residual_size)
        if compiled.can_run(rows):
            return compiled.abduct(self.program, (self.noise_of,), rows, uniforms)[0]
        positions = (self._positions[name] for name in self.graph.endogenous)
        parts = (self.noise_of(position, rows, uniforms[0]) for position in positions)
        return torch.cat([rows.new_zeros(len(rows), 0), *parts], dim=-1)

    def noise_of(self, position: int, rows: Tensor, uniforms: Tensor) -> Tensor:
        """Return the noise ``(i, …)`` of one effect; ``uniforms (i, w)`` draw it for levels."""
        name, columns = self.codec.schema.names[position], rows.unbind(-1)
        parents, mechanism = self._parents(name, columns), self.mechanisms[name]
        value = in_units(self.codec, position, columns[position], mechanism.units)
        noise = mechanism.abduct(parents, value, uniforms[:, self._noise[name]])
        used = [position, *(self._positions[cause] for cause in parents)]
        return noise.masked_fill(self.codec.missing(rows)[:, used].any(-1)[:, None], torch.nan)

    def propagate(self, rows: Tensor, residual: Tensor, acted_on: Tensor) -> Tensor:
        """Return rows in which every effect follows from its causes.

        Features acted on keep their value, and so do roots, fixed features and features whose noise
        is unknown (NaN); all others are computed in causal order, whatever stands in the rows. What
        is computed and differs from what stands in the row by no more than rounding (1e-12 of the
        range) keeps the value of the row: trees could take a cause that is off by the last bit for
        another value. Numbers are neither rounded to their step nor cut to the training range.

        Parameters
        ----------
        rows
            ``(i, f)`` or ``(i, c, f)``.
        residual
            From ``abduct``, ``(i, w)``.
        acted_on
            Flags that broadcast to the rows' shape.
        """
        acted_on = acted_on.to(rows.device).broadcast_to(rows.shape)
        if residual.ndim == 2 and compiled.can_run(rows, residual):
            return compiled.propagate(self.program, self.outcome, rows, residual[None], acted_on)[0]
        residual = residual if rows.ndim == residual.ndim else residual[:, None, :]
        return propagate(self, rows, residual, acted_on)

    def outcome(
        self, position: int, columns: Sequence[Tensor], residual: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the value that its causes give a feature, and flags where they decide it.

        They do not where it has no cause or is fixed, or where the noise of the row is unknown.

        Parameters
        ----------
        position
            Of the feature in the schema.
        columns
            The rows, one tensor for each feature.
        residual
            Noise that broadcasts to the columns, ``(…, w)``.
        """
        name, own = self.codec.schema.features[position].name, columns[position]
        if name not in self._propagated:
            return own, torch.zeros_like(own, dtype=torch.bool)
        noise = residual[..., self._noise[name]]
        mechanism = self.mechanisms[name]
        value = mechanism.respond(self._parents(name, columns), noise)
        value = to_unit(self.codec, position, value, mechanism.units)
        return value.to(own.dtype), ~noise[..., 0].isnan()

    def counterfactual(
        self,
        factual: Tensor,
        actions: Mapping[str, Level | Tensor],
        *,
        seed: int = 0,
        keys: Tensor | None = None,
    ) -> Tensor:
        """Return what rows ``(i, f)`` would have been under do(actions).

        Parameters
        ----------
        factual
            The rows as they are.
        actions
            By feature, a number in raw units or a level for all rows, or a tensor ``(i,)``
            of raw numbers or level codes. What does not descend from a feature acted on
            is the factual value, bit for bit.
        seed, keys
            As for ``abduct``.
        """
        residual = self.abduct(factual, seed=seed, keys=keys)
        acted_on = torch.zeros(factual.shape[-1], dtype=torch.bool, device=factual.device)
        touched = acted_on.clone()
        columns = list(factual.unbind(-1))
        for name, value in actions.items():
            position = self.codec.schema.position(name)
            entries = torch.as_tensor(self.codec.encode_value(name, value), dtype=torch.float64)
            columns[position] = entries.to(factual).broadcast_to(factual.shape[:-1])
            acted_on[position] = True
            effects = self.graph.descendants(name) if name in self.graph.nodes else ()
            touched[[position, *(self._positions[effect] for effect in effects)]] = True
        rows = self.propagate(torch.stack(columns, dim=-1), residual, acted_on)
        return torch.where(touched, rows, factual)

    def actions(
        self,
        factual: Tensor,
        rows: Tensor,
        residual: Tensor | None = None,
        acting: Tensor | None = None,
    ) -> Actions:
        """Split candidates ``(i, c, f)`` of factual rows into actions, holds and consequences.

        ``residual`` is the rows' noise, abducted where it is not given. Where flags ``acting`` of
        the rows' shape are given, all other endogenous features follow.
        """
        given = factual, rows, self.abduct(factual) if residual is None else residual
        if compiled.can_run(*given) or compiled.can_run_on_device(self.program, *given):
            return compiled.separate(self.program, self.outcome, *given, acting)
        return separate(self, factual, rows, given[2][:, None, :], acting)

    def with_codec(self, codec: Codec) -> "StructuralCausalModel":
        """Return the same equations over the rows of another codec.

        Its schema must have the graph's features with the same types and levels. Equations that
        were fitted on a unit range are carried over where it is of the same training rows.
        """
        check_same_features(self.graph, self.codec.schema, codec.schema)
        mechanisms = on_scale_of(codec, self.graph, self.mechanisms, self.codec)
        return replace(self, codec=codec, mechanisms=mechanisms)

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

    def _parents(self, name: str, columns: Sequence[Tensor]) -> dict[str, Tensor]:
        """Return the causes of a feature, in the units of its mechanism."""
        units = self.mechanisms[name].units
        causes = {cause: self._positions[cause] for cause in self.graph.parents(name)}
        return {
            cause: in_units(self.codec, position, columns[position], units)
            for cause, position in causes.items()
        }
