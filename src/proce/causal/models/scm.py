"""Structural causal models: abduction, action, prediction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from proce.arguments import brief, checked
from proce.arrays import Array
from proce.causal.equations.consistency import (
    check_same_features,
    require_equation,
)
from proce.causal.equations.fitting import Kind, fit_mechanisms
from proce.causal.equations.mechanism import Equation, Mechanism, OfLevels
from proce.causal.equations.rescaling import on_scale_of
from proce.causal.graph import CausalGraph
from proce.causal.models import compiled
from proce.causal.models.actions import Actions
from proce.causal.models.columnwise import ColumnEquations
from proce.causal.models.units import draw_uniforms, to_unit
from proce.errors import GraphError
from proce.schema import Codec, Level
from proce.schema.row_arguments import check_array, check_rows, takes_rows
from proce.streams import check_seed

_WHOLE = (np.int64, np.int32, np.int16, np.int8, np.uint8)


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
        rows: Array,
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
            raw units (level codes for levels) to an array of predictions, which must be finite
            for all training rows.
        seed
            Of folds and trees.
        """
        check_seed(seed)
        check_rows("rows", rows, len(codec.schema), GraphError)
        fitted = fit_mechanisms(graph, rows, codec, mechanism, equations or {}, seed)
        mechanisms = {name: fit for name, (fit, _) in fitted.items()}
        records = {name: record for name, (_, record) in fitted.items()}
        model = cls(graph, mechanisms, codec, records)
        model.check_given(rows)
        return model

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
    def predict(self, name: str, rows: Array) -> Array:
        """Return g of an endogenous feature for rows ``(…, f)``: its equation without the noise.

        A number on the unit range, the mean rank of an ordinal level, or the logits ``(…, l)`` of a
        categorical one.
        """
        require_equation(name, self.graph)
        mechanism = self.mechanisms[name]
        predicted = mechanism.predict(self._parents(name, np.moveaxis(rows, -1, 0)))
        return to_unit(self.codec, self._positions[name], predicted, mechanism.units)

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
    def chance(self, name: str, rows: Array, codes: Array) -> Array:
        """Return the chance ``(…)`` that causes in rows ``(…, f)`` give an effect these levels."""
        require_equation(name, self.graph)
        check_array("codes", codes, GraphError)
        if codes.shape != rows.shape[:-1]:
            raise GraphError("codes must be an array with a level code for each row.")
        mechanism = self.mechanisms[name]
        if not isinstance(mechanism, OfLevels):
            raise GraphError(f"name is {name!r}, whose equation gives levels no chances.")
        return mechanism.chance(self._parents(name, np.moveaxis(rows, -1, 0)), codes)

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
    def abduct(self, rows: Array, *, seed: int = 0, keys: Array | None = None) -> Array:
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
            raise GraphError("keys must be an array with a whole number for each row.")
        uniforms = draw_uniforms(rows, (seed,), keys, self.residual_size)
        return compiled.abduct(self.program, (self.noise_of,), rows, self.lacks(rows), uniforms)[0]

    @takes_rows(GraphError, "rows")
    @checked(GraphError)
    def propagate(self, rows: Array, residual: Array, acted_on: Array) -> Array:
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
        return compiled.propagate(self.program, self.outcome, rows, residual[None], acted_on)[0]

    @takes_rows(GraphError, "factual")
    @checked(GraphError)
    def counterfactual(
        self,
        factual: Array,
        actions: Mapping[str, Level | Array],
        *,
        seed: int = 0,
        keys: Array | None = None,
    ) -> Array:
        """Return what rows ``(i, f)`` would have been under do(actions).

        Parameters
        ----------
        factual
            The rows as they are.
        actions
            By feature, a number in raw units or a level for all rows, or an array ``(i,)``
            of raw numbers or level codes. What does not descend from a feature acted on
            is the factual value, bit for bit.
        seed, keys
            As for ``abduct``.
        """
        residual = self.abduct(factual, seed=seed, keys=keys)
        acted_on = np.zeros(factual.shape[-1], dtype=np.bool_)
        touched = acted_on.copy()
        columns = list(np.moveaxis(factual, -1, 0))
        for name, value in actions.items():
            if isinstance(value, np.ndarray) and value.shape not in ((), factual.shape[:-1]):
                raise GraphError(
                    f"actions: {name!r} has {brief(value)}; expected one for each row."
                )
            position = self.codec.schema.position(name)
            entries = np.asarray(self.codec.encode_value(name, value), dtype=np.float64)
            columns[position] = np.broadcast_to(entries, factual.shape[:-1])
            acted_on[position] = True
            effects = self.graph.descendants(name) if name in self.graph.nodes else ()
            touched[[position, *(self._positions[effect] for effect in effects)]] = True
        rows = self.propagate(np.stack(columns, axis=-1), residual, acted_on)
        return np.where(touched, rows, factual)

    @takes_rows(GraphError, "factual", "rows")
    @checked(GraphError)
    def actions(
        self,
        factual: Array,
        rows: Array,
        residual: Array | None = None,
        acting: Array | None = None,
    ) -> Actions:
        """Split candidates ``(i, c, f)`` of factual rows into actions, holds and consequences.

        ``residual`` is the rows' noise, abducted where it is not given. Where flags ``acting`` of
        the rows' shape are given, all other endogenous features follow.
        """
        if rows.ndim != 3 or factual.ndim != 2 or len(rows) != len(factual):
            raise GraphError(
                f"rows and factual are arrays of {tuple(rows.shape)} and {tuple(factual.shape)};"
                " expected (i, c, f) and (i, f)."
            )
        if residual is not None:
            self._check_noise(rows, residual)
        if acting is not None:
            acting = _flags("acting", acting, rows)
        return split_actions(self, factual, rows, residual, acting)

    @checked(GraphError)
    def with_codec(self, codec: Codec) -> "StructuralCausalModel":
        """Return the same equations over the rows of another codec.

        Its schema must have the graph's features with the same types and levels. Equations that
        were fitted on a unit range are carried over where it is of the same training rows.
        """
        check_same_features(self.graph, self.codec.schema, codec.schema)
        mechanisms = on_scale_of(codec, self.graph, self.mechanisms, self.codec)
        return replace(self, codec=codec, mechanisms=mechanisms)

    def _check_noise(self, rows: Array, residual: Array) -> None:
        check_array("residual", residual, GraphError)
        size = self.residual_size
        if residual.shape != (len(rows), size):
            raise GraphError(
                f"residual is an array of {tuple(residual.shape)}; expected ({len(rows)}, {size}),"
                " as abduct(rows) gives."
            )


def _flags(name: str, flags: Array, rows: Array) -> Array:
    """Return flags in the shape of rows, or say why they are none."""
    check_array(name, flags, GraphError)
    try:
        if flags.dtype == np.bool_:
            return np.broadcast_to(flags, rows.shape)
    except ValueError:
        pass  # said below
    raise GraphError(
        f"{name} is {brief(flags)}; expected True or False for each entry of the rows."
    )


def split_actions(
    scm: StructuralCausalModel,
    factual: Array,
    rows: Array,
    residual: Array | None,
    acting: Array | None,
) -> Actions:
    """Return what ``scm.actions`` does, of arrays that are known to fit."""
    known = scm.abduct(factual) if residual is None else residual
    return compiled.separate(scm.program, scm.outcome, factual, rows, known, acting)
