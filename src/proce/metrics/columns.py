"""The counterfactuals of a result as columns of tensors, whatever method found them."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.explanation import Change, Explanations, Outcome
from proce.metrics.proximity import changed


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
    by_hand
        ``(c, f)``, what the person does: actions, holds, and changes that carry no mark.
    predicted, target
        ``(c,)``, the class that the model gives the row, and the wanted one, as positions.
    """

    searched: Tensor
    owner: Tensor
    rank: Tensor
    factual: Tensor
    rows: Tensor
    by_hand: Tensor
    predicted: Tensor
    target: Tensor

    @classmethod
    def of(cls, result: Explanations) -> "CounterfactualColumns":
        """Return the columns of a result."""
        items = [item for item in result if item.outcome != Outcome.ALREADY_TARGET]
        codec = result.context.codec
        nothing = torch.empty(0, len(codec.schema), dtype=torch.float64)
        counts = torch.tensor([len(item) for item in items], dtype=torch.long)
        owner = torch.repeat_interleave(torch.arange(len(items)), counts)

        def of_owners(values: list[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.long)[owner]

        factual = torch.cat([nothing, *(item.factual.expand(len(item), -1) for item in items)])
        rows = torch.cat([nothing, *(item.rows for item in items)])
        marks = torch.cat([nothing.to(torch.int8), *(item.changes for item in items)])
        unmarked = (marks == Change.NONE) & changed(codec, factual, rows)
        return cls(
            searched=torch.tensor([item.row for item in items], dtype=torch.long),
            owner=owner,
            rank=torch.arange(len(owner)) - (counts.cumsum(0) - counts)[owner] + 1,
            factual=factual,
            rows=rows,
            by_hand=(marks == Change.ACTION) | (marks == Change.HOLD) | unmarked,
            predicted=of_owners([item.predicted for item in items]),
            target=of_owners([item.target for item in items]),
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def counts(self) -> Tensor:
        """How many counterfactuals each searched row has, ``(i,)``."""
        return self.owner.bincount(minlength=len(self.searched))

    @property
    def frame_row(self) -> Tensor:
        """The position in its frame of each counterfactual's row, ``(c,)``."""
        return self.searched[self.owner]

    def take(self, which: Tensor) -> "CounterfactualColumns":
        """Return some of the counterfactuals, by flags or positions; ``searched`` stays whole."""
        return replace(
            self,
            owner=self.owner[which],
            rank=self.rank[which],
            factual=self.factual[which],
            rows=self.rows[which],
            by_hand=self.by_hand[which],
            predicted=self.predicted[which],
            target=self.target[which],
        )
