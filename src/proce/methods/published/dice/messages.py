"""What DiCE's process and its caller send each other."""

from dataclasses import dataclass
from typing import Any, TypeVar

from proce.arrays import Array, Floats
from proce.classifier.classifier import deciding_chance

Scores = TypeVar("Scores", bound=Any)


@dataclass(frozen=True, eq=False)
class DiceQuery:
    """One row for DiCE to explain."""

    values: dict[str, Any]  # by feature, none of them missing
    own: Array  # (f,), the same row in our entries, with missing cells
    target: int
    n: int
    vary: list[str]  # the features that may change
    ranges: dict[str, list[Any]]  # where to, by name: [low, high], or the permitted levels
    seed: int  # of everything random
    max_evaluations: int  # rows that DiCE may ask its network about


@dataclass(frozen=True, eq=False)
class DiceAnswer:
    """What DiCE found for one row."""

    rows: Floats  # (n, f), the counterfactuals in DiCE's values
    note: str = ""  # what DiCE raised, in words
    evaluations: int = 0  # rows it asked its own copy of a network about


def score_of(wanted: Scores, rival: Scores, target: int, threshold: float | None) -> Scores:
    """Return how far on the target's side rows are, above one half where they are decided for it.

    DiCE knows two classes between which one half decides, and its losses descend on that
    probability: this is it where one half decides, and rises with it everywhere else, too.

    Shapes: wanted, rival ``(n,)``.
    """
    if threshold is None:
        return wanted / (wanted + rival)
    needed = deciding_chance(target, threshold)
    return (wanted.clip(max=needed) / needed + (wanted - needed).clip(min=0) / (1 - needed)) / 2
