"""A collector of the counterfactuals of some rows, found one by one or all of a row at once."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array
from proce.compiled.copies import first_of_each, rounded
from proce.methods.published.task import Task


@dataclass(frozen=True, eq=False)
class CounterfactualCollector:
    """Collects the counterfactuals of each row of a task, in order of arrival."""

    rows: Array  # (i, n, f), the counterfactuals; an empty place holds the row itself
    filled: Array  # (i, n), whether a place holds a counterfactual

    @classmethod
    def empty(cls, task: Task, n_spare: int = 0) -> "CounterfactualCollector":
        """Return a collector with the places that the task asks for and some more, all empty."""
        rows = np.tile(task.factual[:, None], (1, task.n + n_spare, 1))
        return cls(rows, np.zeros(rows.shape[:2], dtype=np.bool_))

    @property
    def counts(self) -> Array:
        """How many counterfactuals each row has so far, ``(i,)``."""
        return self.filled.sum(1)

    @property
    def incomplete(self) -> Array:
        """Which rows have fewer counterfactuals than were asked for, ``(i,)``."""
        return np.logical_not(self.filled.all(1))

    def add(self, positions: Array, rows: Array) -> None:
        """Add one counterfactual to each of some incomplete rows, unless the row has it already.

        Shapes: positions ``(a,)``, rows ``(a, f)``.
        """
        collected = np.concatenate([self.rows[positions], rows[:, None]], axis=1)
        counts = np.insert(self.filled[positions], self.rows.shape[1], True, axis=1)
        new = first_of_each(rounded(collected), counts)[:, -1]
        receivers = positions[new]
        places = self.counts[receivers]
        self.rows[receivers, places] = rows[new]
        self.filled[receivers, places] = True

    def fill(self, position: int, rows: Array) -> None:
        """Give the places of a row to its counterfactuals ``(c, f)``, the best first.

        Those for which there is no place are left out.
        """
        kept = rows[: self.rows.shape[1]]
        self.rows[position, : len(kept)] = kept
        self.filled[position, : len(kept)] = True
