"""What a method that collects its counterfactuals one by one has found so far."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.methods.published.task import Task


@dataclass(frozen=True, eq=False)
class Found:
    """Up to n different rows for each row of a task, in the order in which they were found.

    Attributes
    ----------
    rows, flags
        ``(i, n, f)`` and ``(i, n)``, which of them are there.
    """

    rows: Tensor
    flags: Tensor

    @classmethod
    def nothing(cls, task: Task) -> "Found":
        """Return room for as many as the task asks for."""
        rows = task.factual[:, None].repeat(1, task.n, 1)
        return cls(rows, torch.zeros(rows.shape[:2], dtype=torch.bool))

    @property
    def counts(self) -> Tensor:
        """How many each row has, ``(i,)``."""
        return self.flags.sum(1)

    @property
    def lacking(self) -> Tensor:
        """Which rows have fewer than were asked for, ``(i,)``."""
        return ~self.flags.all(1)

    def add(self, among: Tensor, rows: Tensor) -> None:
        """Append a row ``(a, f)`` to each of the lacking rows at ``among``, unless it is there."""
        same = ~differ(self.rows[among], rows[:, None]).any(-1) & self.flags[among]
        new = ~same.any(1)
        at = among[new]
        places = self.counts[at]
        self.rows[at, places] = rows[new]
        self.flags[at, places] = True


def differ(rows: Tensor, others: Tensor) -> Tensor:
    """Return which cells differ; two that are missing do not."""
    return (rows != others) & ~(rows.isnan() & others.isnan())
