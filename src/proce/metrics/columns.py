"""The counterfactuals of a result as columns of arrays, whatever method found them."""

from dataclasses import dataclass, replace

import numpy as np

from proce.arrays import Array, cells_differ
from proce.explanation import Change, Explanations, Outcome, done_by_hand
from proce.schema import Codec


@dataclass(frozen=True, eq=False)
class CounterfactualColumns:
    """Every counterfactual of a result, in the order of the result.

    Rows that have the target class already needed no counterfactual and are not here.

    Attributes
    ----------
    searched
        ``(i,)``, the positions in their frame of the rows that needed a counterfactual.
    owner
        ``(c,)``, the row that each counterfactual belongs to, as a position in ``searched``.
    rank
        ``(c,)``, the rank of each counterfactual of its row; 1 is the recommended one.
    factual, rows
        ``(c, f)``, the rows before and after.
    changes
        ``(c, f)``, a ``Change`` for each cell.
    by_hand
        ``(c, f)``, what the person does: actions, holds, and changes that carry no mark.
    losses
        ``(c, 3)``; see :class:`proce.losses.Loss`.
    predicted, target
        ``(c,)``, the class that the model gives the row, and the wanted one, as positions.
    """

    searched: Array
    owner: Array
    rank: Array
    factual: Array
    rows: Array
    changes: Array
    by_hand: Array
    losses: Array
    predicted: Array
    target: Array

    @classmethod
    def of(cls, result: Explanations) -> "CounterfactualColumns":
        """Return the columns of a result."""
        record = result.rows
        searched = np.flatnonzero(record.outcomes != Outcome.ALREADY_TARGET.code)
        ways = record.counterfactuals.owned_by(searched)
        owner = searched[ways.owner]
        factual = record.factual[owner]
        changed = cells_differ(ways.rows, factual)
        unmarked = (ways.changes == Change.NONE) & changed
        return cls(
            searched=record.positions[searched],
            owner=ways.owner,
            rank=ways.ranks(),
            factual=factual,
            rows=ways.rows,
            changes=ways.changes,
            by_hand=done_by_hand(ways.changes) | unmarked,
            losses=ways.losses,
            predicted=record.predicted[owner],
            target=record.target[owner],
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def counts(self) -> Array:
        """How many counterfactuals each searched row has, ``(i,)``."""
        return np.bincount(self.owner, minlength=len(self.searched))

    @property
    def frame_row(self) -> Array:
        """The position in its frame of each counterfactual's row, ``(c,)``."""
        return self.searched[self.owner]

    def on_range(self, codec: Codec) -> "CounterfactualColumns":
        """Return the same with the rows in the entries of ``codec.by_range``."""
        factual, rows = codec.on_range(self.factual), codec.on_range(self.rows)
        return replace(self, factual=factual, rows=rows)

    def take(self, which: Array) -> "CounterfactualColumns":
        """Return some of the counterfactuals, by flags or positions; ``searched`` stays whole."""
        return replace(
            self,
            owner=self.owner[which],
            rank=self.rank[which],
            factual=self.factual[which],
            rows=self.rows[which],
            changes=self.changes[which],
            by_hand=self.by_hand[which],
            losses=self.losses[which],
            predicted=self.predicted[which],
            target=self.target[which],
        )
