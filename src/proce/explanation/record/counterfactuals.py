"""The counterfactuals of many rows as columns: one line a counterfactual."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from proce.explanation.record.lines import lines_of
from proce.losses import Loss

UNKNOWN_COUNT = -1
UNKNOWN_CHANGE = -1
NO_RULE = -1


OPEN_BELOW = 1
OPEN_ABOVE = 2
OPEN_END_WORDS = ("none", "low", "high", "both")


@dataclass(frozen=True, eq=False)
class Intervals:
    """Where numbers that are acted on may end so that the advice still holds; all ``(n, f)``.

    Attributes
    ----------
    low, high
        The ends in raw units; NaN where they were not tried.
    open_ends
        Whether an end is that of the search itself: the sum of ``OPEN_BELOW`` and ``OPEN_ABOVE``.
    """

    low: Tensor
    high: Tensor
    open_ends: Tensor


@dataclass(frozen=True, eq=False, kw_only=True)
class Counterfactuals:
    """Counterfactuals ``(n, …)``, those of one row together, the recommended one first.

    Attributes
    ----------
    owner
        ``(n,)``, the index of the explained row that each belongs to; ascending.
    rows
        ``(n, f)``, the counterfactuals in the entries of a codec.
    changes
        ``(n, f)``, a ``Change`` for each cell.
    probabilities
        ``(n,)``, the probability of the target.
    losses
        ``(n, 3)``; see :class:`proce.losses.Loss`.
    expected
        ``(n, f)``, where each feature would be if it were neither acted on nor held; NaN where
        that is not known. Only the cells that are acted on or held are read.
    contributions
        ``(n, f)``, by how much the probability of the target falls when one action is taken back,
        with all that follows; 0 for all other cells. NaN where the model was not asked.
    support
        ``(n,)``, in how many of the bootstrap graphs each comes about; -1 without such graphs.
    refits
        ``(n,)``, in how many refits of the equations the actions still reach the target; -1
        without refits.
    confidence
        ``(n,)``, the chance that the actions reach the target in the true equations, as the refits
        say; NaN without refits, and where a missing cell leaves open what follows.
    robustness
        ``(n,)``, in how many of the other models of the call the target is reached; -1 without
        such models.
    holds_from, holds_to
        ``(n, f)``, for numbers that are acted on, the interval of values in raw units at which the
        decision, the rules and the limits still hold, all else done as advised; NaN where that was
        not tried.
    open_ends
        ``(n, f)``, whether an interval ends only where the search does: the sum of ``OPEN_BELOW``
        and ``OPEN_ABOVE``.
    asked_by
        ``(n, f)``, which of the rules of the context an action is there for alone: without the
        action the decision and the limits would hold, but not the rule. -1 for all other cells.
    steps
        The path to each counterfactual ``(s, f)``, the counterfactual last, or ``(0, f)`` where a
        row has no paths; the tuple is empty for methods that give none.
    """

    owner: Tensor
    rows: Tensor
    changes: Tensor
    probabilities: Tensor
    losses: Tensor
    expected: Tensor
    contributions: Tensor
    support: Tensor
    refits: Tensor
    confidence: Tensor
    robustness: Tensor
    holds_from: Tensor
    holds_to: Tensor
    open_ends: Tensor
    asked_by: Tensor
    steps: tuple[Tensor, ...] = ()

    @classmethod
    def of(
        cls,
        owner: Tensor,
        rows: Tensor,
        changes: Tensor,
        probabilities: Tensor,
        losses: Tensor,
        *,
        expected: Tensor | None = None,
        contributions: Tensor | None = None,
        support: Tensor | None = None,
        refits: Tensor | None = None,
        confidence: Tensor | None = None,
        robustness: Tensor | None = None,
        intervals: "Intervals | None" = None,
        asked_by: Tensor | None = None,
        steps: Sequence[Tensor] = (),
    ) -> "Counterfactuals":
        """Return columns in which what was not measured is marked as unknown."""
        unknown = torch.full_like(rows, torch.nan)
        uncounted = torch.full_like(owner, UNKNOWN_COUNT)
        if intervals is None:
            intervals = Intervals(unknown, unknown, torch.zeros_like(changes))
        if asked_by is None:
            asked_by = torch.full(rows.shape, NO_RULE, dtype=torch.long)
        return cls(
            owner=owner,
            rows=rows,
            changes=changes,
            probabilities=probabilities.double(),
            losses=losses.double(),
            expected=unknown if expected is None else expected,
            contributions=unknown if contributions is None else contributions,
            support=uncounted if support is None else support,
            refits=uncounted if refits is None else refits,
            confidence=unknown[:, 0] if confidence is None else confidence,
            robustness=uncounted if robustness is None else robustness,
            holds_from=intervals.low,
            holds_to=intervals.high,
            open_ends=intervals.open_ends,
            asked_by=asked_by,
            steps=tuple(steps),
        )

    @classmethod
    def empty(cls, n_features: int) -> "Counterfactuals":
        """Return no counterfactuals of rows with so many features."""
        rows = torch.zeros(0, n_features, dtype=torch.float64)
        owner = torch.zeros(0, dtype=torch.long)
        losses = torch.zeros(0, len(Loss), dtype=torch.float64)
        return cls.of(owner, rows, rows.to(torch.int8), rows.new_zeros(0), losses)

    @classmethod
    def concatenate(cls, parts: Sequence["Counterfactuals"]) -> "Counterfactuals":
        """Return all lines of some parts, ordered by their owners."""
        order = torch.cat([part.owner for part in parts]).argsort(stable=True)
        columns = {
            name: torch.cat([getattr(part, name) for part in parts])[order] for name in _COLUMNS
        }
        steps = [step for part in parts for step in part._steps_of_all()]
        some_have_steps = any(part.steps for part in parts)
        in_order = tuple(steps[line] for line in order.tolist()) if some_have_steps else ()
        return cls(**columns, steps=in_order)

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, lines: Tensor) -> "Counterfactuals":
        """Return some of the lines, given by position."""
        columns = {name: getattr(self, name)[lines] for name in _COLUMNS}
        steps = tuple(self.steps[line] for line in lines.tolist()) if self.steps else ()
        return replace(self, **columns, steps=steps)

    def between(self, first: int, last: int) -> "Counterfactuals":
        """Return the lines from one position up to another; nothing is copied."""
        columns = {name: getattr(self, name)[first:last] for name in _COLUMNS}
        return replace(self, **columns, steps=self.steps[first:last])

    def owned_by(self, rows: Tensor) -> "Counterfactuals":
        """Return the lines of some explained rows, renumbered to the order given."""
        lines, owner = lines_of(self.owner, rows)
        return replace(self.take(lines), owner=owner)

    def counts(self, n_rows: int) -> Tensor:
        """Return how many counterfactuals each of the explained rows has, ``(i,)``."""
        return self.owner.bincount(minlength=n_rows)

    def is_counted(self, name: str) -> Tensor:
        """Return which lines ``(n,)`` have a count, as all other lines of their row have."""
        return ~torch.isin(self.owner, self.owner[getattr(self, name) < 0])

    def ranks(self) -> Tensor:
        """Return the rank of each line among those of its row, from 1, ``(n,)``."""
        return torch.arange(len(self)) - torch.searchsorted(self.owner, self.owner) + 1

    def _steps_of_all(self) -> tuple[Tensor, ...]:
        return self.steps or (self.rows[:0],) * len(self)


@dataclass(frozen=True, eq=False)
class Fronts:
    """The whole Pareto sets of the rows for which they were kept.

    Attributes
    ----------
    owner
        ``(p,)``, the index of the explained row that each member belongs to; ascending.
    rows
        ``(p, f)``, the members in the entries of a codec.
    losses
        ``(p, 3)``; see :class:`proce.losses.Loss`.
    changes
        ``(p, f)``, a ``Change`` for each cell; -1 where that is not known.
    """

    owner: Tensor
    rows: Tensor
    losses: Tensor
    changes: Tensor = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if vars(self)["changes"] is None:
            unknown = torch.full_like(self.rows, UNKNOWN_CHANGE, dtype=torch.int8)
            object.__setattr__(self, "changes", unknown)

    @classmethod
    def empty(cls, n_features: int) -> "Fronts":
        """Return no fronts of rows with so many features."""
        rows = torch.zeros(0, n_features, dtype=torch.float64)
        losses = torch.zeros(0, len(Loss), dtype=torch.float64)
        return cls(torch.zeros(0, dtype=torch.long), rows, losses)

    @classmethod
    def concatenate(cls, parts: Sequence["Fronts"]) -> "Fronts":
        """Return all members of some fronts, ordered by their owners."""
        order = torch.cat([part.owner for part in parts]).argsort(stable=True)
        columns = [
            torch.cat([getattr(part, name) for part in parts])[order] for name in _FRONT_COLUMNS
        ]
        return cls(*columns)

    def of(self, row: int) -> "Front | None":
        """Return the front of one explained row, or ``None`` where it was not kept."""
        first, last = torch.searchsorted(self.owner, torch.tensor([row, row + 1])).tolist()
        if last == first:
            return None
        return Front(self.rows[first:last], self.losses[first:last], self.changes[first:last])

    def owned_by(self, rows: Tensor) -> "Fronts":
        """Return the fronts of some explained rows, renumbered to the order given."""
        lines, owner = lines_of(self.owner, rows)
        return Fronts(owner, self.rows[lines], self.losses[lines], self.changes[lines])

    def renumbered(self, rows: Tensor, kept: Tensor) -> "Fronts":
        """Return the fronts of the rows flagged in ``kept (i,)``, row k numbered ``rows[k]``."""
        own = kept[self.owner]
        owner = rows[self.owner[own]]
        return Fronts(owner, self.rows[own], self.losses[own], self.changes[own])


@dataclass(frozen=True, eq=False)
class Front:
    """The Pareto set of one row: valid, rule-abiding, none better than another in every loss.

    Attributes
    ----------
    rows
        ``(p, f)``, the members in the entries of a codec.
    losses
        ``(p, 3)``; see :class:`proce.losses.Loss`.
    changes
        ``(p, f)``, a ``Change`` for each cell, -1 where that is not known; ``None`` for none.
    """

    rows: Tensor
    losses: Tensor
    changes: Tensor | None = None

    def __len__(self) -> int:
        return len(self.rows)


_COLUMNS = tuple(name for name in Counterfactuals.__dataclass_fields__ if name != "steps")
_FRONT_COLUMNS = tuple(Fronts.__dataclass_fields__)
