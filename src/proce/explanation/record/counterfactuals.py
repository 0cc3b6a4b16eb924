"""Outcomes, and the counterfactuals and notes of many rows as columns: one line each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum, StrEnum
from typing import Any, Self

import numpy as np

from proce.arrays import Array, Ints, nth_of_owner
from proce.losses import Loss
from proce.schema import Level

SURE = 0.98  # advice that works with a smaller chance in the true equations is shaky
UNKNOWN_COUNT = -1
UNKNOWN_CHANGE = -1
NO_RULE = -1
OPEN_BELOW = 1
OPEN_ABOVE = 2
OPEN_END_WORDS = ("none", "low", "high", "both")


def array_columns(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are arrays, by name."""
    columns = {column.name: getattr(record, column.name) for column in fields(record)}
    return {name: values for name, values in columns.items() if isinstance(values, np.ndarray)}


@dataclass(frozen=True, eq=False)
class OwnedLines:
    """Columns of lines that belong to explained rows, those of one row together."""

    owner: Array  # ``(n,)``, the index of the explained row that each belongs to; ascending

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, lines: Array | slice) -> Self:
        """Return some of the lines, given by position; of a slice nothing is copied."""
        columns = array_columns(self).items()
        return replace(self, **{name: values[lines] for name, values in columns})

    def owned_by(self, rows: Array) -> Self:
        """Return the lines of some explained rows, renumbered to the order given."""
        first = np.searchsorted(self.owner, rows)
        counts = np.searchsorted(self.owner, rows, side="right") - first
        owner = np.repeat(np.arange(len(rows)), counts)
        return replace(self.take(first[owner] + nth_of_owner(owner)), owner=owner)

    def lines_of(self, row: int) -> slice:
        """Return where the lines of one explained row are."""
        return slice(*np.searchsorted(self.owner, np.array([row, row + 1])).tolist())

    def shifted(self, n_rows: int) -> Self:
        """Return the same lines, owned by the rows so many places further on."""
        return replace(self, owner=self.owner + n_rows)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return all lines of one or more parts, ordered by their owners."""
        order = np.argsort(np.concatenate([part.owner for part in parts]), kind="stable")
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])[order]
            for name in array_columns(parts[0])
        }
        return replace(parts[0], **columns)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Where numbers that are acted on may end so that the advice still holds; all ``(n, f)``."""

    low: Array  # the ends in raw units; NaN where they were not tried
    high: Array
    # Whether an end is that of the search itself: the sum of ``OPEN_BELOW`` and ``OPEN_ABOVE``
    open_ends: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Counterfactuals(OwnedLines):
    """Counterfactuals ``(n, …)``, those of one row together, the recommended one first."""

    rows: Array  # ``(n, f)``, the counterfactuals in the entries of a codec
    changes: Array  # ``(n, f)``, a ``Change`` for each cell
    probabilities: Array  # ``(n,)``, the probability of the target
    losses: Array  # ``(n, 3)``; see :class:`proce.losses.Loss`
    expected: Array  # ``(n, f)``, where each feature would be if it were neither acted on nor held
    # ``(n, f)``, by how much the probability of the target falls when one action is taken back,
    # with all that follows; 0 for all other cells. NaN where the model was not asked
    contributions: Array
    support: Array  # ``(n,)``, in how many of the bootstrap graphs each comes about
    # ``(n,)``, in how many refits of the equations the actions still reach the target; -1 without
    # refits
    refits: Array
    # ``(n,)``, the chance that the actions reach the target in the true equations, as the refits
    # say; NaN without refits, and where a missing cell leaves open what follows
    confidence: Array
    robustness: Array  # ``(n,)``, in how many of the other models of the call the target is reached
    # ``(n, f)``, for numbers that are acted on, the interval of values in raw units at which the
    # decision, the rules and the limits still hold, all else done as advised; NaN where that was
    # not tried
    holds_from: Array
    holds_to: Array
    # ``(n, f)``, whether an interval ends only where the search does: the sum of ``OPEN_BELOW`` and
    # ``OPEN_ABOVE``
    open_ends: Array
    # ``(n, f)``, which of the rules of the context an action is there for alone: without the action
    # the decision and the limits would hold, but not the rule. -1 for all other cells
    asked_by: Array
    # The path to each counterfactual ``(s, f)``, the counterfactual last, or ``(0, f)`` where a row
    # has no paths; the tuple is empty for methods that give none
    steps: tuple[Array, ...] = ()

    @classmethod
    def of(
        cls,
        owner: Array,
        rows: Array,
        changes: Array,
        probabilities: Array,
        losses: Array,
        *,
        expected: Array | None = None,
        contributions: Array | None = None,
        support: Array | None = None,
        refits: Array | None = None,
        confidence: Array | None = None,
        robustness: Array | None = None,
        intervals: Intervals | None = None,
        asked_by: Array | None = None,
        steps: Sequence[Array] = (),
    ) -> Self:
        """Return columns in which what was not measured is marked as unknown."""
        unknown = np.full_like(rows, np.nan)
        uncounted = np.full_like(owner, UNKNOWN_COUNT)
        if intervals is None:
            intervals = Intervals(unknown, unknown, np.zeros_like(changes))
        if asked_by is None:
            asked_by = np.full(rows.shape, NO_RULE, dtype=np.int64)
        return cls(
            owner=owner,
            rows=rows,
            changes=changes,
            probabilities=probabilities.astype(np.float64),
            losses=losses.astype(np.float64),
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
    def empty(cls, n_features: int) -> Self:
        """Return no counterfactuals of rows with so many features."""
        rows, owner = np.zeros((0, n_features)), np.zeros(0, dtype=np.int64)
        return cls.of(owner, rows, rows.astype(np.int8), np.zeros(0), np.zeros((0, len(Loss))))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return all lines of one or more parts, ordered by their owners."""
        whole = super().concatenate(parts)
        if not any(part.steps for part in parts):
            return whole
        steps = [path for part in parts for path in part.steps or [part.rows[:0]] * len(part)]
        order = np.argsort(np.concatenate([part.owner for part in parts]), kind="stable")
        return replace(whole, steps=tuple(steps[line] for line in order.tolist()))

    def take(self, lines: Array | slice) -> Self:
        """Return some of the lines, given by position; of a slice nothing is copied."""
        taken = super().take(lines)
        if not self.steps:
            return taken
        chosen = np.arange(len(self))[lines].tolist()
        return replace(taken, steps=tuple(self.steps[line] for line in chosen))

    def counts(self, n_rows: int) -> Array:
        """Return how many counterfactuals each of the explained rows has, ``(i,)``."""
        return np.bincount(self.owner, minlength=n_rows)

    def is_counted(self, name: str) -> Array:
        """Return which lines ``(n,)`` have a count, as all other lines of their row have."""
        return ~np.isin(self.owner, self.owner[getattr(self, name) < 0])

    def ranks(self) -> Array:
        """Return the rank of each line among those of its row, from 1, ``(n,)``."""
        return nth_of_owner(self.owner) + 1


@dataclass(frozen=True, eq=False)
class Fronts(OwnedLines):
    """Whole Pareto sets: valid, rule-abiding, none better than another of its row in every loss."""

    rows: Array  # ``(p, f)``, the members in the entries of a codec
    losses: Array  # ``(p, 3)``; see :class:`proce.losses.Loss`
    changes: Array  # ``(p, f)``, a ``Change`` for each cell, -1 where that is not known

    @classmethod
    def empty(cls, n_features: int) -> Self:
        """Return no fronts of rows with so many features."""
        rows, owner = np.zeros((0, n_features)), np.zeros(0, dtype=np.int64)
        return cls(owner, rows, np.zeros((0, len(Loss))), rows.astype(np.int8))

    def renumbered(self, rows: Array, kept: Array) -> Self:
        """Return the fronts of the rows flagged in ``kept (i,)``, row k numbered ``rows[k]``."""
        own = self.take(kept[self.owner])
        return replace(own, owner=rows[own.owner])


@dataclass(frozen=True, eq=False)
class Notes(OwnedLines):
    """The notes of explained rows, such as cells that are missing and so stay as they are."""

    code: Array  # ``(n,)``, the position of each note's text
    texts: tuple[str, ...]  # every text once

    @classmethod
    def collect(cls, parts: Iterable[tuple[Array, str]]) -> "Notes":
        """Return notes that were given one after the other, each for some rows."""
        known: dict[str, int] = {}
        nothing = np.zeros(0, dtype=np.int64)
        codes = [(rows, known.setdefault(text, len(known))) for rows, text in parts]
        owner = np.concatenate([nothing, *(rows for rows, _ in codes)])
        code = np.concatenate([nothing, *(np.full_like(rows, code) for rows, code in codes)])
        order = np.argsort(owner, kind="stable")
        return cls(owner[order], code[order], tuple(known))

    @classmethod
    def of(cls, by_row: Sequence[Sequence[str]]) -> "Notes":
        """Return the notes of rows that are given as texts."""
        given = ((row, text) for row, texts in enumerate(by_row) for text in texts)
        return cls.collect((np.array([row]), text) for row, text in given)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the notes of some parts, ordered by their owners, every text once."""
        texts = dict.fromkeys(text for part in parts for text in part.texts)
        known = {text: code for code, text in enumerate(texts)}
        codes = [np.array([known[text] for text in part.texts], np.int64) for part in parts]
        recoded = [replace(p, code=own[p.code]) for p, own in zip(parts, codes, strict=True)]
        return replace(super().concatenate(recoded), texts=tuple(known))

    def texts_of(self, row: int) -> tuple[str, ...]:
        """Return the notes of one row."""
        return tuple(self.texts[code] for code in self.code[self.lines_of(row)].tolist())

    def without(self, is_withheld: Callable[[str], bool]) -> "Notes":
        """Return the notes but for those whose text is withheld."""
        kept = np.array([not is_withheld(text) for text in self.texts], dtype=np.bool_)
        own = self.take(kept[self.code])
        texts = [self.texts[code] for code in np.flatnonzero(kept).tolist()]
        return replace(own, code=(kept.cumsum(0) - 1)[own.code], texts=tuple(texts))


class Outcome(StrEnum):
    """How the search for a row ended."""

    FOUND = "found"
    NOT_FOUND = "not_found"
    ALREADY_TARGET = "already_target"
    OUT_OF_TIME = "out_of_time"
    FAILED = "failed"

    @property
    def code(self) -> int:
        """The number that stands for this outcome in a column."""
        return OUTCOMES.index(self)


OUTCOMES = tuple(Outcome)
UNKNOWN_CLASS = -1  # in a column of classes: the model was not asked, or broke
MODEL_FAILED = "The model failed on this row, so that nothing is known of it."


class Change(IntEnum):
    """What became of a feature in a counterfactual."""

    NONE = 0
    ACTION = 1
    HOLD = 2
    CONSEQUENCE = 3

    @property
    def by_hand(self) -> bool:
        """Whether a person does this, by acting on the feature or by holding it."""
        return bool(done_by_hand(self))


CHANGES = tuple(Change)


def done_by_hand(changes: Any) -> Any:
    """Return flags for the cells that a person acts on or holds; all other cells follow."""
    return (changes == Change.ACTION) | (changes == Change.HOLD)


def count_actions(changes: Array) -> Ints:
    """Return how many actions and holds counterfactuals ``(…, f)`` have, ``(…,)``."""
    return np.asarray(done_by_hand(changes).sum(-1))


def has_moved(changes: Array) -> Array:
    """Return flags for the cells that do not end where they were."""
    return (changes == Change.ACTION) | (changes == Change.CONSEQUENCE)


def changes_of(moved: Array, by_hand: Array) -> Array:
    """Return a ``Change`` for each cell, by whether it moved and whether a person sees to it."""
    done = np.where(moved, Change.ACTION, Change.HOLD)
    return np.where(by_hand, done, np.where(moved, Change.CONSEQUENCE, 0)).astype(np.int8)


_MAX_WAYS = 3  # blockers in words


@dataclass(frozen=True)
class Blocker:
    """A limit without which a row would have a counterfactual."""

    kind: str  # ``rule``, ``range``, ``vary``, ``max_changes``, ``min_probability`` or ``robust``
    name: str  # the text of the rule, or the name of the feature or the setting
    # In words, under which condition there is a counterfactual, such as ``"with savings allowed to
    # reach 53,400"``, ``"if debt may vary too"`` or ``"with 3 changes"``
    relaxation: str
    distance: float  # the distance of the counterfactual that exists without the limit
    # How far the limit would have to give way, for a program: for a limit of a feature the value
    # that it has in that counterfactual, in raw units or as a level; for ``vary`` the names that
    # would have to vary too; for ``max_changes`` the number of changes; for ``min_probability`` the
    # probability that is reached. ``None`` for all else, and in results from before this was
    # recorded
    value: Level | tuple[str, ...] | None = None


def ways_text(blockers: Sequence[Blocker]) -> str:
    """Return what would open a way, as the end of a diagnosis in words; empty without blockers."""
    # That a way exists which is too unlikely to be advised is no way; the others are then likelier.
    likely = [blocker for blocker in blockers if blocker.kind != "search"]
    ways = " or ".join(blocker.relaxation for blocker in likely[:_MAX_WAYS])
    one = "one" if len(likely) == len(blockers) else "a likelier one"
    return f" There is {one} {ways}." if ways else ""


@dataclass(frozen=True)
class Diagnosis:
    """Why a row has no counterfactual."""

    reason: str  # the diagnosis in words
    # The candidate that came nearest, by feature in raw units; ``None`` where the row was not
    # searched
    closest_miss: Mapping[str, Any] | None
    probability: float | None  # the probability of the target for the closest miss
    needed: float | None  # the probability of the target that counts as reaching it
    broken: tuple[str, ...] = ()  # the rules that the closest miss breaks
    # The limits without which a counterfactual exists, the one with the nearest counterfactual
    # first
    blockers: tuple[Blocker, ...] = ()
    searched: int = 0  # how many limits were lifted; the search for blockers is bounded

    def __str__(self) -> str:
        return self.reason
