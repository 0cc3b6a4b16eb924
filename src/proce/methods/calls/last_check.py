"""The last check before a counterfactual is returned: the model is asked about what is shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proce.arrays import Array, Flags, Ints
from proce.losses import target_probability
from proce.methods.calls.rules import BoundRule, obey_rules
from proce.objective import Requirement
from proce.schema import Codec, Layout
from proce.schema.shown import ReadFrame, exact_entries

_MAX_MOVE = 1e4  # unit ranges that a cell may move


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows as a person gets them."""

    # the frame that the caller gets, with which the model is asked, and what the codec reads from
    # it
    read: ReadFrame
    rows: Array  # (n, f), what the codec reads from that frame, in its entries
    # given, factual: (n, f), the rows as they were given, and those that they started from
    given: Array
    factual: Array
    codec: Codec  # the features and their scale
    # (n,), whether no cell has moved so far that columns of whole numbers may not hold it.
    # Equations can lead anywhere; a cell that is too far stands in the frame as it was.
    is_near: Array

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def raw(self) -> Array:
        """What the codec reads from the frame, in raw units, ``(n, f)``."""
        return self.read.raw

    def told(self) -> Array:
        """Return the rows ``(n, f)`` in entries that give the values of the frame back exactly.

        They are the rows as they were given, but for numbers that the caller's dtypes cannot hold,
        such as a half in a column of whole numbers.
        """
        changed = (self.raw != self.codec.to_raw(self.given)) & ~np.isnan(self.raw)
        changed &= self.given != self.factual
        if not bool(changed.any()):
            return self.given
        return np.where(changed, exact_entries(self.codec, self.raw), self.given)


@dataclass(frozen=True, eq=False)
class LastCheck:
    """Which candidates are true of the model at the values and dtypes that are shown."""

    passed: Array  # (n,), whether a candidate has its target and obeys the rules and the limits
    # (n,), the probability of the target, as the model gives it for the frame that is shown
    probabilities: Array
    shown: ShownRows  # the candidates as the caller would get them


def as_shown(codec: Codec, rows: Array, factual: Array, raw: Array, layout: Layout) -> ShownRows:
    """Return rows ``(n, f)`` as they stand in a frame of the caller."""
    is_far = np.abs(rows - factual) > _MAX_MOVE
    near = np.where(is_far, factual, rows)
    values = codec.raw_of_changes(near, factual, raw)
    read = ReadFrame.holding(codec, values, layout.without_index())
    return ShownRows(read, codec.to_unit(read.raw), near, factual, codec, ~is_far.any(-1))


def last_check(
    shown: ShownRows,
    probabilities: Array,
    allowed: Array,
    *,
    factual: Array,
    target: Array,
    requirement: Requirement,
    rules: Sequence[BoundRule],
) -> LastCheck:
    """Check candidates against the model and the rules again, at the values that are shown.

    Shapes: probabilities ``(n, k)``, allowed ``(n,)``, factual ``(n, f)``, target ``(n,)``.
    """
    if not len(shown):
        return LastCheck(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=shown.rows.dtype), shown)
    passed = allowed & shown.is_near
    passed &= requirement.is_reached(probabilities[:, None], target)[:, 0]
    passed &= obey_rules(rules, factual, shown.rows)
    return LastCheck(passed, target_probability(probabilities, target), shown)


def first_passed(owner: Ints, passed: Flags, n: int) -> tuple[Ints, Ints]:
    """Return the lines of each owner's first ``n`` that passed, and those that failed before them.

    Owners ``(m,)`` ascend; of one with fewer that passed, all that failed are meant.
    """
    n_passed = passed.cumsum()
    so_far = n_passed - (n_passed - passed)[np.searchsorted(owner, owner)]  # of the same owner
    return np.flatnonzero(passed & (so_far <= n)), np.flatnonzero(~passed & (so_far < n))
