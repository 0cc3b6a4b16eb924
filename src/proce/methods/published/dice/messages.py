"""What DiCE's process and its caller send each other."""

from dataclasses import dataclass
from typing import Any, TypeVar

from proce.arrays import Array, Floats
from proce.classifier.classifier import deciding_chance

Scores = TypeVar("Scores", bound=Any)


@dataclass(frozen=True, eq=False)
class DiceQuery:
    """One row for DiCE to explain.

    Attributes
    ----------
    values
        The row's values by feature, none of them missing.
    own
        The same row in our entries ``(f,)``, with missing cells.
    target
        The wanted class.
    n
        How many counterfactuals are wanted.
    vary
        The names of the features that may change.
    ranges
        Where to, by name: ``[low, high]``, or the permitted levels.
    seed
        The seed of everything random.
    max_evaluations
        How many rows DiCE may ask its network about.
    """

    values: dict[str, Any]
    own: Array
    target: int
    n: int
    vary: list[str]
    ranges: dict[str, list[Any]]
    seed: int
    max_evaluations: int


@dataclass(frozen=True, eq=False)
class ScoreRequest:
    """What DiCE asks the caller: how far are these rows ``(n, f)`` on the wanted side, 0 to 1?

    ``None`` stands for the training rows, whose classes the caller knows.
    """

    rows: Floats | None


@dataclass(frozen=True, eq=False)
class DiceAnswer:
    """What DiCE found for one row.

    Attributes
    ----------
    rows
        ``(n, f)``, the counterfactuals in DiCE's values.
    note
        What DiCE raised, in words; empty where it raised nothing.
    evaluations
        How many rows it asked its own copy of a network about.
    """

    rows: Floats
    note: str = ""
    evaluations: int = 0


def score_of(wanted: Scores, rival: Scores, target: int, threshold: float | None) -> Scores:
    """Return how far on the target's side rows are, above one half where they are decided for it.

    DiCE knows two classes between which one half decides, and its losses descend on that
    probability: this is it where one half decides, and rises with it everywhere else, too.

    Parameters
    ----------
    wanted, rival
        ``(n,)``, the probabilities of the target and of the likeliest other class, as arrays of
        NumPy or as tensors.
    target, threshold
        The wanted class, and the decision threshold of the model, if it has one.
    """
    if threshold is None:
        return wanted / (wanted + rival)
    needed = deciding_chance(target, threshold)
    return (wanted.clip(max=needed) / needed + (wanted - needed).clip(min=0) / (1 - needed)) / 2
