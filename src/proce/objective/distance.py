"""How far a counterfactual is from the person (Eqs. 7-9), feature by feature."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.causal import Actions, Ordered, StructuralCausalModel
from proce.causal.models import compiled
from proce.latent import AutoEncoder
from proce.schema import Categorical, Codec

Mode = Literal["hard", "soft", "paper", "off"]

ACTION_CHARGE = 0.02  # per action, so that advice is short
_MIN_LEVEL_DISTANCE = 0.5  # of two different levels, however alike their embeddings


@dataclass(frozen=True, eq=False)
class FeatureDistance:
    """Distances of single features on the unit range.

    Attributes
    ----------
    codec
        The codec of the rows that are compared.
    tables
        For each categorical feature, by its position, a table ``(levels, levels)`` of the
        distances of its levels' embeddings, divided by the largest of them.
    """

    codec: Codec
    tables: dict[int, Tensor]

    @classmethod
    def of(cls, autoencoder: AutoEncoder) -> "FeatureDistance":
        """Measure levels by an auto-encoder's embeddings."""
        tables = {}
        for position, feature in enumerate(autoencoder.codec.schema):
            if isinstance(feature, Categorical):
                rows = autoencoder.embed(feature.name, torch.arange(len(feature.levels)))
                apart = (rows[:, None] - rows[None]).double().square().sum(-1).sqrt().cpu()
                tables[position] = apart / apart.max().clamp(min=1e-6)
        return cls(autoencoder.codec, tables)

    def squared(self, rows: Tensor, factual: Tensor) -> Tensor:
        """Return f_dist (Eq. 7) of each feature, ``(i, c, f)``.

        For numbers and ranks this is the squared difference on the unit range, for levels the
        squared distance of their embeddings, at most 1. A number that is missing in either row
        is at no distance.
        """
        gap = self._gap(rows, factual).square()
        return _with_levels(gap, rows, factual, self._squared_tables)

    def absolute(self, rows: Tensor, reference: Tensor) -> Tensor:
        """Return the L1 distance of each feature ``(i, c, f)`` to factual rows, or as many rows.

        Another level is from half to 1 away, by its embedding. Without the floor, two levels that
        the auto-encoder hardly tells apart would be next to the same, and what a person sees as
        a whole change would cost less than a year of age.
        """
        gap = self._gap(rows, reference).abs()
        return _with_levels(gap, rows, reference, self._absolute_tables)

    def _gap(self, rows: Tensor, other: Tensor) -> Tensor:
        other = other if other.ndim == rows.ndim else other[:, None]
        return ((rows - other) / self.codec.reach.to(rows)).nan_to_num(nan=0.0)

    @cached_property
    def _squared_tables(self) -> dict[int, Tensor]:
        return {position: table.square() for position, table in self.tables.items()}

    @cached_property
    def _absolute_tables(self) -> dict[int, Tensor]:
        floor = _MIN_LEVEL_DISTANCE
        return {
            position: (floor + (1 - floor) * table).fill_diagonal_(0.0)
            for position, table in self.tables.items()
        }

    @cached_property
    def flat_reach(self) -> NDArray[np.float64]:
        """How far apart two entries of each feature can be, for a kernel."""
        return self.codec.reach.numpy()

    @cached_property
    def flat_absolute(self) -> "FlatTables":
        """The tables of :meth:`absolute` for a kernel."""
        return FlatTables.of(self._absolute_tables, len(self.codec.schema))

    @cached_property
    def flat_squared(self) -> "FlatTables":
        """The tables of :meth:`squared` for a kernel."""
        return FlatTables.of(self._squared_tables, len(self.codec.schema))


class FlatTables(NamedTuple):
    """Tables of distances of levels, one behind the other.

    Attributes
    ----------
    distances
        ``(t,)``, the tables, row by row.
    places
        ``(f, 2)``, where the table of a feature begins, and how many levels it has; 0 of a number.
    """

    distances: NDArray[np.float64]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, tables: Mapping[int, Tensor], n_features: int) -> "FlatTables":
        """Return the tables of some features, given by position."""
        places, start = np.zeros((n_features, 2), np.int64), 0
        for position, table in tables.items():
            places[position] = start, len(table)
            start += table.numel()
        parts = [table.flatten().cpu().numpy() for table in tables.values()]
        return cls(np.concatenate([np.empty(0), *parts]), places)


def _with_levels(
    distance: Tensor, rows: Tensor, other: Tensor, tables: dict[int, Tensor]
) -> Tensor:
    other = (other if other.ndim == rows.ndim else other[:, None]).broadcast_to(rows.shape)
    for position, table in tables.items():
        ours = rows[..., position].long().clamp(min=0)
        theirs = other[..., position].long().clamp(min=0)
        distance[..., position] = table.to(distance)[theirs, ours]
    return distance


def causal_gap(
    rows: Tensor, factual: Tensor, residual: Tensor, scm: StructuralCausalModel
) -> Tensor:
    """Return how far each endogenous feature is from what its causes lead to, ``(i, c, f)``.

    Numbers and ranks are compared on the unit range; a level that is not the expected one is at
    distance 1. A level that is kept although the noise would change it counts by the share of its
    chance that is lost: the noise is one of many that explain the person. The gaps of an unchanged
    row are zero.
    """
    if compiled.can_run(rows, factual, residual):
        gaps = compiled.measure_gaps(scm.program, factual, rows, residual)
        left = [int(scm.program.effects["position"][0, place]) for place in scm.program.given]
    else:
        gaps, left = torch.zeros_like(rows), list(scm.effects)
    for position in left:
        gaps[..., position] = _gap(position, rows, factual, residual, scm)
    return gaps


def _gap(
    position: int, rows: Tensor, factual: Tensor, residual: Tensor, scm: StructuralCausalModel
) -> Tensor:
    """Return how far one effect is from what its causes lead to, ``(i, c)``."""
    name, own = scm.codec.schema.names[position], rows[..., position]
    value, follows = scm.outcome(position, rows.unbind(-1), residual[:, None, :])
    gap = (own - value).abs() / scm.codec.reach[position].item()
    is_categorical = isinstance(scm.codec.schema[name], Categorical)
    if is_categorical:
        gap = (gap > 0).to(gap)
    if is_categorical or isinstance(scm.mechanisms[name], Ordered):
        kept = own == factual[:, None, position]
        gap = torch.where(kept, gap * _lost_chance(name, rows, factual, scm), gap)
    return torch.where(follows, gap, 0.0)


def _lost_chance(name: str, rows: Tensor, factual: Tensor, scm: StructuralCausalModel) -> Tensor:
    """Return the share of its chance that a feature's factual level loses in rows, ``(i, c)``."""
    codes = factual[:, None, scm.codec.schema.position(name)].clamp(min=0)
    before = scm.chance(name, factual[:, None], codes)
    after = scm.chance(name, rows, codes.expand(rows.shape[:-1]))
    return (1 - after / before.clamp(min=1e-12)).clamp(min=0).to(rows)


def printed_gap(rows: Tensor, factual: Tensor, scm: StructuralCausalModel) -> Tensor:
    """Return f_causal of each endogenous feature as printed (Eq. 8), ``(i, c, f)``.

    It is ``(g(parents of the candidate) - x_org)²``, in which the candidate's own value does not
    appear. For levels it is the squared probability of all levels but the factual one. It is zero
    where the factual value is missing.
    """
    gaps = torch.zeros_like(rows)
    for name in scm.graph.endogenous:
        position = scm.codec.schema.position(name)
        predicted, own = scm.predict(name, rows), factual[:, None, position]
        if isinstance(scm.codec.schema[name], Categorical):
            chances = predicted.softmax(-1)
            codes = own.long().clamp(min=0).expand(rows.shape[:-1])[..., None]
            gaps[..., position] = (1 - chances.gather(-1, codes).squeeze(-1)).square()
        else:
            gaps[..., position] = ((predicted - own) / scm.codec.reach[position].item()).square()
    return gaps.masked_fill(scm.codec.missing(factual)[:, None], 0.0)


def printed_distance(
    rows: Tensor,
    factual: Tensor,
    distance: FeatureDistance,
    effort: Tensor,
    scm: StructuralCausalModel,
) -> Tensor:
    """Return f_final_dist as printed (Eq. 9), ``(i, c)``: roots by Eq. 7, effects by Eq. 8."""
    apart = distance.squared(rows, factual) * effort
    names, effects = scm.codec.schema.names, scm.graph.endogenous
    is_root = apart.new_tensor([name not in effects for name in names])
    # A product, not a choice of columns: the order in which those are added up would depend on
    # the size of the batch.
    return (apart * is_root).sum(-1) + printed_gap(rows, factual, scm).sum(-1)


def action_cost(realised: Actions, distance: FeatureDistance, effort: Tensor) -> Tensor:
    """Return the cost ``(i, c)`` of what a person does: L1 by effort, and a charge per action.

    An action costs the distance to where the feature would be without it: its old value, or where
    its causes lead. A hold costs what it prevents, by the same measure, so holding a feature and
    nearly holding it cost nearly the same.
    """
    size = distance.absolute(realised.point, realised.expected) * realised.by_hand
    return (size * effort.to(size)).sum(-1) + ACTION_CHARGE * realised.count.to(size)


def action_weights(
    effort: Tensor, movable: Tensor, scm: StructuralCausalModel, effect_weight: float
) -> Tensor:
    """Return efforts ``(i, 1, f)`` that are larger where causes could be moved instead.

    Parameters
    ----------
    effort
        ``(f,)``, how hard a change of each feature is.
    movable
        ``(i, f)``, which features a person may act on.
    scm
        Says which features are causes of others.
    effect_weight
        How many times an action on a feature counts that its causes could move.
    """
    schema, by_causes = scm.codec.schema, torch.zeros_like(movable)
    for cause in scm.graph.nodes:
        effects = [schema.position(effect) for effect in scm.graph.descendants(cause)]
        by_causes[:, effects] |= movable[:, [schema.position(cause)]]
    return (effort * torch.where(by_causes, effect_weight, 1.0))[:, None]
