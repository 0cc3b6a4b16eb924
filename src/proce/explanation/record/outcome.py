"""How the search for a row ended, and what became of each cell."""

from enum import IntEnum, StrEnum
from typing import Any

import numpy as np

from proce.arrays import Array, Ints


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
