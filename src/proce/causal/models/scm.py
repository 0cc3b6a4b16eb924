"""Structural causal models: abduction, action, prediction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.arguments import brief, checked
from proce.causal.equations.consistency import (
    check_same_features,
    require_equation,
)
from proce.causal.equations.fitting import Kind, fit_mechanisms
from proce.causal.equations.mechanism import Choice, Equation, Mechanism, Ordered
from proce.causal.equations.rescaling import on_scale_of
from proce.causal.graph import CausalGraph
from proce.causal.models import compiled
from proce.causal.models.actions import Actions, propagate, separate
from proce.causal.models.columnwise import ColumnEquations
from proce.causal.models.units import draw_uniforms, to_unit
from proce.errors import GraphError
from proce.schema import Codec, Level
from proce.schema.row_arguments import check_tensor, takes_rows
from proce.streams import check_seed

_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


@dataclass(frozen=True, eq=False)
class StructuralCausalModel(ColumnEquations):
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

    @classmethod
    @checked(GraphError)
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
            raw units (level codes for levels) to a tensor of predictions, which must be finite
            for all training rows.
        seed
            Of folds and trees.
        """
        check_seed(seed)
        fitted = fit_mechanisms(graph, rows, codec, mechanism, equations or {}, seed)
        mechanisms = {name: fit for name, (fit, _) in fitted.items()}
        records = {name: record for name, (_, record) in fitted.items()}
        model = cls(graph, mechanisms, codec, records)
        model.check_given(rows)
        return model

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
    def predict(self, name: str, rows: Tensor) -> Tensor:
        """Return g of an endogenous feature for rows ``(…, f)``: its equation without the noise.

        A number on the unit range, the mean rank of an ordinal level, or the logits ``(…, l)`` of a
        categorical one.
        """
        require_equation(name, self.graph)
        mechanism = self.mechanisms[name]
        predicted = mechanism.predict(self._parents(name, rows.unbind(-1)))
        return to_unit(self.codec, self._positions[name], predicted, mechanism.units)

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
    def chance(self, name: str, rows: Tensor, codes: Tensor) -> Tensor:
        """Return the chance ``(…)`` that causes in rows ``(…, f)`` give an effect these levels."""
        require_equation(name, self.graph)
        check_tensor("codes", codes, GraphError)
        if codes.shape != rows.shape[:-1]:
            raise GraphError("codes must be a tensor with a level code for each row.")
        mechanism = self.mechanisms[name]
        if isinstance(mechanism, Ordered):
            return mechanism.chance(self._parents(name, rows.unbind(-1)), codes)
        if not isinstance(mechanism, Choice):
            raise GraphError(f"name is {name!r}, whose equation gives levels no chances.")
        chances = self.predict(name, rows).softmax(-1)
        return chances.gather(-1, codes.long()[..., None]).squeeze(-1)

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
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
        check_seed(seed)
        if keys is not None and (keys.shape != rows.shape[:1] or keys.dtype not in _WHOLE):
            raise GraphError("keys must be a tensor with a whole number for each row.")
        uniforms = draw_uniforms(rows, (seed,), keys, self.residual_size)
        if compiled.can_run(rows):
            return compiled.abduct(self.program, (self.noise_of,), rows, uniforms)[0]
        positions = (self._positions[name] for name in self.graph.endogenous)
        parts = (self.noise_of(position, rows, uniforms[0]) for position in positions)
        return torch.cat([rows.new_zeros(len(rows), 0), *parts], dim=-1)

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
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
        self._check_noise(rows, residual)
        acted_on = _flags("acted_on", acted_on, rows)
        if residual.ndim == 2 and compiled.can_run(rows, residual):
            return compiled.propagate(self.program, self.outcome, rows, residual[None], acted_on)[0]
        residual = residual if rows.ndim == residual.ndim else residual[:, None, :]
        return propagate(self, rows, residual, acted_on)

    @takes_rows(GraphError, "factual")
    @checked(GraphError)
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
            if isinstance(value, Tensor) and value.shape not in ((), factual.shape[:-1]):
                raise GraphError(
                    f"actions: {name!r} has {brief(value)}; expected one for each row."
                )
            position = self.codec.schema.position(name)
            entries = torch.as_tensor(self.codec.encode_value(name, value), dtype=torch.float64)
            columns[position] = entries.to(factual).broadcast_to(factual.shape[:-1])
            acted_on[position] = True
            effects = self.graph.descendants(name) if name in self.graph.nodes else ()
            touched[[position, *(self._positions[effect] for effect in effects)]] = True
        rows = self.propagate(torch.stack(columns, dim=-1), residual, acted_on)
        return torch.where(touched, rows, factual)

    @takes_rows(GraphError, "factual", "rows")
    @checked(GraphError)
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
        if rows.ndim != 3 or factual.ndim != 2 or len(rows) != len(factual):
            raise GraphError(
                f"rows and factual are tensors of {tuple(rows.shape)} and {tuple(factual.shape)};"
                " expected (i, c, f) and (i, f)."
            )
        if residual is not None:
            self._check_noise(rows, residual)
        if acting is not None:
            acting = _flags("acting", acting, rows)
        given = factual, rows, self.abduct(factual) if residual is None else residual
        if compiled.can_run(*given) or compiled.can_run_on_device(self.program, *given):
            return compiled.separate(self.program, self.outcome, *given, acting)
        return separate(self, factual, rows, given[2][:, None, :], acting)

    @checked(GraphError)
    def with_codec(self, codec: Codec) -> "StructuralCausalModel":
        """Return the same equations over the rows of another codec.

        Its schema must have the graph's features with the same types and levels. Equations that
        were fitted on a unit range are carried over where it is of the same training rows.
        """
        check_same_features(self.graph, self.codec.schema, codec.schema)
        mechanisms = on_scale_of(codec, self.graph, self.mechanisms, self.codec)
        return replace(self, codec=codec, mechanisms=mechanisms)

    def _check_noise(self, rows: Tensor, residual: Tensor) -> None:
        check_tensor("residual", residual, GraphError)
        size = self.residual_size
        if residual.ndim < 2 or len(residual) != len(rows) or residual.shape[-1] != size:
            raise GraphError(
                f"residual is a tensor of {tuple(residual.shape)}; expected ({len(rows)}, {size}),"
                " as abduct(rows) gives."
            )


def _flags(name: str, flags: Tensor, rows: Tensor) -> Tensor:
    """Return flags in the shape of rows, or say why they are none."""
    check_tensor(name, flags, GraphError)
    try:
        if flags.dtype is torch.bool:
            return flags.to(rows.device).broadcast_to(rows.shape)
    except RuntimeError:
        pass  # said below
    raise GraphError(
        f"{name} is {brief(flags)}; expected True or False for each entry of the rows."
    )
