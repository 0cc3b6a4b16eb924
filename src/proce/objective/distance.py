"""How far a counterfactual is from the person (Eqs. 7-9), feature by feature."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.causal import Actions, StructuralCausalModel
from proce.latent import AutoEncoder
from proce.schema import Categorical, Codec

ACTION_CHARGE = 0.02  # per action, so that advice is short


@dataclass(frozen=True, eq=False)
class FeatureDistance:
    """Distances of single features on the unit range.

    Attributes
    ----------
    codec
        The codec of the rows that are compared.
    tables
        For each categorical feature, by its position, a table ``(levels, levels)`` of the squared
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
                squared = (rows[:, None] - rows[None]).square().sum(-1).double().cpu()
                tables[position] = squared / squared.max().clamp(min=1e-12)
        return cls(autoencoder.codec, tables)

    def squared(self, rows: Tensor, factual: Tensor) -> Tensor:
        """Return f_dist (Eq. 7) of each feature, ``(i, c, f)``.

        For numbers and ranks this is the squared difference on the unit range, for levels the
        squared distance of their embeddings, at most 1. A number that is missing in either row
        is at no distance.
        """
        return self._with_levels(self._gap(rows, factual).square(), rows, factual)

    def absolute(self, rows: Tensor, reference: Tensor) -> Tensor:
        """Return the L1 distance of each feature ``(i, c, f)`` to rows of the same shape."""
        return self._with_levels(self._gap(rows, reference).abs(), rows, reference)

    def _gap(self, rows: Tensor, other: Tensor) -> Tensor:
        other = other if other.ndim == rows.ndim else other[:, None]
        return ((rows - other) / self.codec.reach.to(rows)).nan_to_num(nan=0.0)

    def _with_levels(self, distance: Tensor, rows: Tensor, other: Tensor) -> Tensor:
        other = (other if other.ndim == rows.ndim else other[:, None]).broadcast_to(rows.shape)
        for position, table in self.tables.items():
            ours = rows[..., position].long().clamp(min=0)
            theirs = other[..., position].long().clamp(min=0)
            distance[..., position] = table.to(distance)[theirs, ours]
        return distance


def causal_gap(rows: Tensor, residual: Tensor, scm: StructuralCausalModel) -> Tensor:
    """Return how far each endogenous feature is from what its causes lead to, ``(i, c, f)``.

    Numbers and ranks are compared on the unit range; a level that is not the expected one is at
    distance 1. The gaps of an unchanged row are zero.
    """
    columns = rows.unbind(-1)
    gaps = [torch.zeros_like(column) for column in columns]
    for name in scm.graph.endogenous:
        position = scm.codec.schema.position(name)
        value, follows = scm.outcome(position, columns, residual[:, None, :])
        if isinstance(scm.codec.schema[name], Categorical):
            gap = (columns[position] != value).to(rows.dtype)
        else:
            gap = (columns[position] - value).abs() / scm.codec.reach[position].item()
        gaps[position] = torch.where(follows, gap, 0.0)
    return torch.stack(gaps, dim=-1)


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


def action_cost(realised: Actions, distance: FeatureDistance, effort: Tensor) -> Tensor:
    """Return the cost ``(i, c)`` of what a person does: L1 by effort, and a charge per action.

    An action costs the distance to where the feature would be without it: its old value, or where
    its causes lead. A hold costs what it prevents, by the same measure, so holding a feature and
    nearly holding it cost nearly the same.
    """
    size = distance.absolute(realised.point, realised.expected) * realised.by_hand
    return (size * effort.to(size)).sum(-1) + ACTION_CHARGE * realised.count
