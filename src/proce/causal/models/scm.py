"""Structural causal models: abduction, action, prediction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from proce.arguments import brief, check_fields, checked
from proce.arrays import Array
from proce.causal.equations.consistency import (
    check_consistency,
    check_same_features,
    checked_mechanism,
    is_given,
    on_scale_of,
    refuse_not_finite,
    require_equation,
)
from proce.causal.equations.families import Kind
from proce.causal.equations.fitting import MechanismRecord, fit_mechanisms
from proce.causal.equations.mechanism import Linked, Mechanism, OfLevels, Units
from proce.causal.equations.terms import Equation, EquationTables, is_flat
from proce.causal.graph import CausalGraph
from proce.causal.models import propagation
from proce.causal.models.propagation import Actions, tolerances_of
from proce.causal.programs.program import EFFECT, Link, Program, program_of
from proce.compiled.streams import Purpose, RowStreams, check_seed
from proce.errors import GraphError
from proce.schema import Categorical, Codec, Continuous, Level
from proce.schema.codec import unit_numbers
from proce.schema.matching import check_array, check_rows, takes_rows

_WHOLE = (np.int64, np.int32, np.int16, np.int8, np.uint8)


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
        check_fields(self, GraphError)
        own = {name: checked_mechanism(name, given) for name, given in self.mechanisms.items()}
        object.__setattr__(self, "mechanisms", own)
        check_consistency(self.graph, own, self.codec.schema)

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
        return _to_unit(self.codec, self._positions[name], predicted, mechanism.units)

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
        is_unknown = self.unknown_noise(rows)
        return propagation.abduct(self.program, (self.noise_of,), rows, is_unknown, uniforms)[0]

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
        return propagation.propagate(self.program, self.outcome, rows, residual[None], acted_on)[0]

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

    # What searches and measures ask for, by position and column; nothing is checked here.

    @cached_property
    def residual_size(self) -> int:
        """How many numbers describe the noise of one row."""
        return sum(self.mechanisms[name].noise_size for name in self.graph.endogenous)

    @cached_property
    def effects(self) -> tuple[int, ...]:
        """The positions of the features that follow from others, causes before effects."""
        return tuple(self._positions[name] for name in self.graph.order if name in self._propagated)

    @cached_property
    def program(self) -> Program:
        """The equations as kernels take them."""
        return self.program_of((self.mechanisms,))

    def program_of(self, models: Sequence[Mapping[str, Mechanism]]) -> Program:
        """Return the program of several models' mechanisms over the same graph and rows."""
        names = [name for name in self.graph.order if name in self.graph.endogenous]
        tables, effects = EquationTables(), np.zeros((len(models), len(names)), EFFECT)
        # An effect whose equation is not flat in every model is asked for as a function.
        flat = {name for name in names if all(self._is_flat(name, own[name]) for own in models)}
        for model, mechanisms in enumerate(models):
            for place, name in enumerate(names):
                mechanism: Any = mechanisms[name]
                if name in flat:
                    effects[model, place] = mechanism.record
                    mechanism.write(tables, effects[model, place], self._positions)
                record = effects[model, place]
                record["position"], record["noise"] = self._positions[name], self._noise[name].start
                record["is_cut"] = name not in self._propagated
        return program_of(effects, tolerances_of(self.codec), tables.parents, tables.weights)

    def _is_flat(self, name: str, mechanism: Mechanism) -> bool:
        """Whether a mechanism can be run by a kernel, on rows on the unit range."""
        if not isinstance(mechanism, Linked) or mechanism.units != "unit":
            return False
        feature, schema = self.codec.schema[name], self.codec.schema
        if isinstance(feature, Categorical) and not isinstance(mechanism, OfLevels):
            return False
        n_logits = mechanism.noise_size if mechanism.link == Link.CHOICE else 0
        causes = [schema[cause] for cause in self.graph.parents(name)]
        return is_flat(mechanism.equation, n_logits, causes)

    def unknown_noise(self, rows: Array) -> Array:
        """Return flags ``(i, e)`` of the effects of rows ``(i, f)`` whose noise cannot be known."""
        # There the effect itself or one of its causes is missing.
        missing = self.codec.missing(rows)
        flags = np.zeros((len(rows), len(self.graph.endogenous)), np.bool_)
        if missing.any():
            for place, name in enumerate(self.graph.endogenous):
                used = [self._positions[used] for used in (name, *self.graph.parents(name))]
                flags[:, place] = missing[:, used].any(-1)
        return flags

    def noise_of(self, position: int, rows: Array, is_unknown: Array, uniforms: Array) -> Array:
        """Return the noise ``(i, …)`` of one effect, NaN where flags ``(i,)`` are set."""
        # Where many noises explain a level, one is drawn with `uniforms (i, w)`.
        name, columns = self.codec.schema.names[position], np.moveaxis(rows, -1, 0)
        parents, mechanism = self._parents(name, columns), self.mechanisms[name]
        value = _in_units(self.codec, position, columns[position], mechanism.units)
        noise = mechanism.abduct(parents, value, uniforms[:, self._noise[name]])
        if is_given(mechanism) and not bool((np.isfinite(noise).all(-1) | is_unknown).all()):
            present = {cause: column[~is_unknown] for cause, column in parents.items()}
            refuse_not_finite(name, mechanism, present)
        return np.where(is_unknown[:, None], np.nan, noise)

    def check_given(self, rows: Array) -> None:
        """Raise a GraphError where an equation that was given fails on training rows ``(i, f)``."""
        for name, is_unknown in zip(self.graph.endogenous, self.unknown_noise(rows).T, strict=True):
            if is_given(self.mechanisms[name]):
                present = rows[~is_unknown]
                if len(present):
                    parents = self._parents(name, np.moveaxis(present, -1, 0))
                    refuse_not_finite(name, self.mechanisms[name], parents, "training rows")

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # equations can lead anywhere
    def outcome(self, position: int, columns: Array, residual: Array) -> Array:
        """Return what causes in ``columns (f, …)`` give an effect, under noise ``(…, w)``."""
        # Where a given equation gives NaN the value is infinite, which is beyond all limits; NaN
        # would be a missing cell, which is within them.
        name = self.codec.schema.names[position]
        mechanism, noise = self.mechanisms[name], residual[..., self._noise[name]]
        value = mechanism.respond(self._parents(name, columns), noise)
        value = _to_unit(self.codec, position, value, mechanism.units)
        if isinstance(self.codec.schema.features[position], Continuous) and is_given(mechanism):
            value = np.where(np.isnan(value), np.inf, value)
        return value

    def is_known(self, position: int, residual: Array) -> Array:
        """Return flags ``(…)`` of the noise ``(…, w)`` under which causes decide an effect."""
        return ~np.isnan(residual[..., self._noise[self.codec.schema.names[position]].start])

    def kept_chances(self, position: int, factual: Array, rows: Array) -> Array:
        """Return the chances of a person's own level before and in rows ``(i, c, f)``."""
        # Two arrays that broadcast to `(i, c)`; none where the feature's levels have no chances.
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
            cause: _in_units(self.codec, position, columns[position], units)
            for cause, position in causes.items()
        }


def _in_units(codec: Codec, position: int, column: Array, units: Units) -> Array:
    """Return a column in some units; missing values as 0, which every equation can read."""
    if not isinstance(codec.schema.features[position], Continuous):
        return np.maximum(column, 0)
    column = np.nan_to_num(column, nan=0.0)
    if units == "unit":
        return column
    return codec.raw_numbers(position, np.asarray(column))


def _to_unit(codec: Codec, position: int, value: Array, units: Units) -> Array:
    """Return the value that an equation in some units gave, numbers on the unit range."""
    return value if units == "unit" else np.asarray(unit_numbers(codec, position, value))


def draw_uniforms(rows: Array, seeds: Sequence[int], keys: Array | None, size: int) -> Array:
    """Return numbers ``(s, i, size)`` between 0 and 1 of each seed, from the streams of rows."""
    # `keys (i,)` are what the streams depend on beside the seed; by default the rows' positions.
    keys = np.arange(len(rows)) if keys is None else keys
    streams = RowStreams.of_each(seeds, keys)
    return streams.uniforms(0, Purpose.NOISE, size).reshape(len(seeds), len(rows), size)


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
    return propagation.separate(scm.program, scm.outcome, factual, rows, known, acting)
