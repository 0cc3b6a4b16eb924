"""The front of one row: all that is worth a look, each with what would change."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from proce.arrays import Array, cells_differ
from proce.compiled.copies import groups_of, rounded
from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.counterfactuals import UNKNOWN_CHANGE, Counterfactuals
from proce.explanation.record.outcome import Change, count_actions
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import ChangedCell, cells_of_counterfactuals
from proce.losses import Loss, chance_of_loss
from proce.server.desk.told.changes import brief_change

Plain = dict[str, Any]
AXES = [
    {"key": "distance", "label": "how much it asks of the person", "better": "low"},
    {"key": "probability", "label": "how likely the decision is", "better": "high"},
    {"key": "prototype", "label": "how unlike typical cases it is", "better": "low"},
    {"key": "n_actions", "label": "number of actions", "better": "low"},
]


def front_of(row: ExplainedRow, ranked: Sequence[Sequence[ChangedCell]]) -> list[Plain]:
    """Return the ways that are told, by rank, and the other members of the front.

    Parameters
    ----------
    row
        The explained row.
    ranked
        The changed cells of each of its ways.
    """
    n_told, counts = len(row.rows), count_actions(row.changes).tolist()
    told = [
        _member(row, rank, row.probabilities[rank - 1].item(), row.losses[rank - 1], count, cells)
        for rank, (count, cells) in enumerate(zip(counts, ranked, strict=True), 1)
    ]
    front = row.front
    if front is None or front.changes is None:
        return told
    firsts, group = groups_of(rounded(np.concatenate([row.rows, front.rows])))
    others = np.flatnonzero(firsts[group[n_told:]] >= n_told)
    rows, losses = front.rows[others], front.losses[others]
    kinds = _kinds(row, rows, front.changes[others])
    chances = chance_of_loss(losses[:, Loss.PREDICTION]).tolist()
    members = zip(
        chances, losses, count_actions(kinds).tolist(), _cells(row, rows, kinds), strict=True
    )
    return told + [_member(row, None, *member) for member in members]


def _member(
    row: ExplainedRow,
    rank: int | None,
    probability: float,
    losses: Array,
    n_actions: int,
    cells: Sequence[ChangedCell],
) -> Plain:
    return {
        "rank": rank,
        "probability": probability,
        "distance": finite_or_none(losses[Loss.DISTANCE].item()),
        "prototype": finite_or_none(losses[Loss.PROTOTYPE].item()),
        "n_actions": n_actions,
        "changes": [brief_change(cell, row.context) for cell in cells],
    }


def _kinds(row: ExplainedRow, rows: Array, changes: Array) -> Array:
    """Return a ``Change`` for each cell of members ``(p, f)`` of the front.

    In a result from before that was recorded, what a person could do is told as done, but
    for what a cause of it that changed too may have moved.
    """
    is_unknown = changes == UNKNOWN_CHANGE
    if not bool(is_unknown.any()):
        return changes
    context = row.context
    names = context.codec.schema.names
    changed = cells_differ(rows, row.factual)
    can_act = np.array(
        [
            f.can_be_acted_on and (context.vary is None or f.name in context.vary)
            for f in context.codec.schema
        ]
    )
    follows = np.zeros_like(changed)
    for cause, effect in context.edges:
        follows[:, names.index(effect)] |= changed[:, names.index(cause)]
    told = np.where(can_act & ~follows, int(Change.ACTION), int(Change.CONSEQUENCE))
    return np.where(is_unknown, told * changed, changes).astype(np.int8)


def _cells(row: ExplainedRow, rows: Array, kinds: Array) -> list[list[ChangedCell]]:
    owner = np.full(len(rows), row.index)
    unknown = np.zeros(len(rows))
    losses = np.zeros((len(rows), len(Loss)))
    ways = Counterfactuals.of(owner, rows, kinds, unknown, losses)
    return cells_of_counterfactuals(row.record, ways).by_counterfactual()
