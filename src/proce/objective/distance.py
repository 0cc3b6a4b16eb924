"""How far a counterfactual is from the person (Eqs. 7-9), feature by feature."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from proce.arrays import Array, Floats, Ints
from proce.causal import StructuralCausalModel
from proce.causal.models import propagation
from proce.latent import AutoEncoder
from proce.schema import Categorical, Codec

Mode = Literal["hard", "soft", "paper", "off"]

ACTION_CHARGE = 0.02  # per action, so that advice is short
_MIN_LEVEL_DISTANCE = 0.5  # of two different levels, however alike their embeddings
_ABSOLUTE, _SQUARED = range(2)


def cost_of_gap(gap: Any, form: int) -> Any:
    """Return what a gap of numbers on the unit range costs; kernels ask it of one gap."""
    return gap * gap if form == _SQUARED else gap


def _with_floor(table: Array) -> Array:
    """Return distances of levels of which two that differ are at least half a range apart.

    Without the floor, two levels that the auto-encoder hardly tells apart would be next to the
    same, and what a person sees as a whole change would cost less than a year of age.
    """
    floored: Array = _MIN_LEVEL_DISTANCE + (1 - _MIN_LEVEL_DISTANCE) * table
    np.fill_diagonal(floored, 0.0)
    return floored


class DistanceForm(NamedTuple):
    """How the gaps of features become the distance of a row."""

    code: int  # what `cost_of_gap` knows it by
    power: int  # the power of a gap that its cost grows with
    charge: float  # what an action or a hold costs beside its way
    # the distances of levels, from those of their embeddings, which are at most 1
    of_levels: Callable[[Array], Array]


DISTANCES = {
    "absolute": DistanceForm(_ABSOLUTE, 1, ACTION_CHARGE, _with_floor),
    "squared": DistanceForm(_SQUARED, 2, 0.0, np.square),  # f_dist, Eq. 7
}


@dataclass(frozen=True, eq=False)
class FeatureDistance:
    """Distances of single features on the unit range."""

    codec: Codec  # the codec of the rows that are compared
    # for each categorical feature, by its position, a table (levels, levels) of the distances of
    # its levels' embeddings, divided by the largest of them
    tables: Mapping[int, Array]
    levels: Mapping[str, "LevelDistances"]  # the distances of levels, by the name of the form

    @classmethod
    def of(cls, autoencoder: AutoEncoder) -> "FeatureDistance":
        """Measure levels by an auto-encoder's embeddings."""
        tables = {}
        for position, feature in enumerate(autoencoder.codec.schema):
            if isinstance(feature, Categorical):
                rows = autoencoder.embed(feature.name, np.arange(len(feature.levels)))
                apart = np.sqrt(np.square((rows[:, None] - rows[None]).astype(np.float64)).sum(-1))
                tables[position] = apart / np.maximum(apart.max(), 1e-6)
        return cls.of_tables(autoencoder.codec, tables)

    @classmethod
    def of_tables(cls, codec: Codec, tables: Mapping[int, Array]) -> "FeatureDistance":
        """Lay out tables of levels for every form of the distance."""
        levels = {
            name: LevelDistances.of(
                {position: form.of_levels(table) for position, table in tables.items()},
                len(codec.schema),
            )
            for name, form in DISTANCES.items()
        }
        return cls(codec, tables, levels)


class LevelDistances(NamedTuple):
    """Tables of distances of levels, one behind the other."""

    distances: Floats  # (t,), the tables, row by row
    # (f, 2), where the table of a feature begins, and how many levels it has; 0 of a number
    places: Ints

    @classmethod
    def of(cls, tables: Mapping[int, Array], n_features: int) -> "LevelDistances":
        """Return the tables of some features, given by position."""
        places, start = np.zeros((n_features, 2), np.int64), 0
        for position, table in tables.items():
            places[position] = start, len(table)
            start += table.size
        parts = [table.ravel() for table in tables.values()]
        return cls(np.concatenate([np.empty(0), *parts]), places)


def causal_gap(rows: Array, factual: Array, residual: Array, scm: StructuralCausalModel) -> Array:
    """Return how far each endogenous feature is from what its causes lead to, ``(i, c, f)``.

    See :func:`proce.causal.models.propagation.measure_gaps`.
    """
    return propagation.measure_gaps(
        scm.program, scm.outcome, scm.kept_chances, factual, rows, residual
    )


def printed_gap(rows: Array, factual: Array, scm: StructuralCausalModel) -> Array:
    """Return f_causal of each endogenous feature as printed (Eq. 8), ``(i, c, f)``.

    It is ``(g(parents of the candidate) - x_org)²``, in which the candidate's own value does not
    appear. For levels it is the squared probability of all levels but the factual one. It is zero
    where the factual value is missing.
    """
    gaps = np.zeros_like(rows)
    for name in scm.graph.endogenous:
        position = scm.codec.schema.position(name)
        own = factual[:, None, position]
        if isinstance(scm.codec.schema[name], Categorical):
            codes = np.broadcast_to(own, rows.shape[:-1])
            gaps[..., position] = np.square(1 - scm.chance(name, rows, codes))
        else:
            away = scm.predict(name, rows) - own
            gaps[..., position] = np.square(away / scm.codec.reach[position].item())
    return np.where(scm.codec.missing(factual)[:, None], 0.0, gaps)


def action_weights(
    effort: Array, movable: Array, scm: StructuralCausalModel, effect_weight: float
) -> Array:
    """Return efforts ``(i, 1, f)`` that are larger where causes could be moved instead.

    Shapes: effort ``(f,)``, movable ``(i, f)``.
    """
    schema, by_causes = scm.codec.schema, np.zeros_like(movable)
    for cause in scm.graph.nodes:
        effects = [schema.position(effect) for effect in scm.graph.descendants(cause)]
        by_causes[:, effects] |= movable[:, [schema.position(cause)]]
    return (effort * np.where(by_causes, effect_weight, 1.0))[:, None]
