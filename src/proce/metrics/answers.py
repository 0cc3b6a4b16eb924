"""The counterfactuals of a result as tensors, whatever method found them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.explanation import Change, Explanations, Outcome
from proce.metrics.proximity import changed


@dataclass(frozen=True, eq=False)
class Answers:
    """Every counterfactual of the rows that wanted one, in the order of the result.

    Rows that have the target class already wanted none and are not here.

    Attributes
    ----------
    asked
        ``(i,)``, the positions of the rows that wanted a counterfactual, in their frame.
    owner
        ``(c,)``, whose each counterfactual is, as a position in ``asked``.
    rank
        ``(c,)``, from 1: the recommended one.
    factual, rows
        ``(c, f)``, before and after.
    by_hand
        ``(c, f)``, what the person does: actions, holds, and changes that carry no mark.
    predicted, target
        ``(c,)``, classes as positions.
    """

    asked: Tensor
    owner: Tensor
    rank: Tensor
    factual: Tensor
    rows: Tensor
    by_hand: Tensor
    predicted: Tensor
    target: Tensor

    @classmethod
    def of(cls, result: Explanations) -> "Answers":
        """Collect them."""
        items = [item for item in result if item.outcome != Outcome.ALREADY_TARGET]
        codec = result.context.codec
        nothing = torch.empty(0, len(codec.schema), dtype=torch.float64)
        counts = torch.tensor([len(item) for item in items], dtype=torch.long)
        owner = torch.repeat_interleave(torch.arange(len(items)), counts)

        def of_owners(values: list[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.long)[owner]

        before = [item.factual.expand(len(item), -1) for item in items]
        factual = torch.cat([nothing, *before])
        rows = torch.cat([nothing, *(item.rows for item in items)])
        marks = torch.cat([nothing.to(torch.int8), *(item.changes for item in items)])
        unmarked = (marks == Change.NONE) & changed(codec, factual, rows)
        return cls(
            asked=torch.tensor([item.row for item in items], dtype=torch.long),
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
        """How many counterfactuals each row that wanted one got, ``(i,)``."""
        return self.owner.bincount(minlength=len(self.asked))

    @property
    def row(self) -> Tensor:
        """The position of each counterfactual's row in its frame, ``(c,)``."""
        return self.asked[self.owner]

    def take(self, which: Tensor) -> "Answers":
        """Return some of the counterfactuals, by flags or positions; who asked stays."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        asked = fields.pop("asked")
        return Answers(asked, **{name: each[which] for name, each in fields.items()})
