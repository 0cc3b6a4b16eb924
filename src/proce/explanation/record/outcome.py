"""How the search for a row ended, what became of each cell, and why nothing was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np

from proce.arrays import Array, Ints
from proce.schema import Level


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
CHANGE_LETTERS = ".ahc"  # one for each kind of change, in a text


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
