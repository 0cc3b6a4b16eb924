"""Why nothing was found for a row: the closest miss, and the limits that block it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proce.schema import Level

_MAX_WAYS = 3  # blockers in words


@dataclass(frozen=True)
class Blocker:
    """A limit without which a row would have a counterfactual.

    Attributes
    ----------
    kind
        ``rule``, ``range``, ``vary``, ``max_changes``, ``min_probability`` or ``robust``; what the
        schema says of a feature: ``fixed``, ``indirect``, ``increase``, ``decrease`` or
        ``waits`` or ``protected``; ``search`` where there is a way, but it fails in too many refits
        of the equations to be advised.
    name
        The text of the rule, or the name of the feature or the setting; empty for ``vary``,
        ``max_changes``, ``min_probability`` and ``robust``.
    relaxation
        In words, under which condition there is a counterfactual, such as ``"with savings allowed
        to reach 53,400"``, ``"if debt may vary too"`` or ``"with 3 changes"``.
    distance
        The distance of the counterfactual that exists without the limit.
    value
        How far the limit would have to give way, for a program: for a limit of a feature the value
        that it has in that counterfactual, in raw units or as a level; for ``vary`` the names that
        would have to vary too; for ``max_changes`` the number of changes; for
        ``min_probability`` the probability that is reached. ``None`` for all else, and in results
        from before this was recorded.
    """

    kind: str
    name: str
    relaxation: str
    distance: float
    value: Level | tuple[str, ...] | None = None


def ways_text(blockers: Sequence[Blocker]) -> str:
    """Return what would open a way, as the end of a diagnosis in words; empty without blockers.

    That a way exists which is too unlikely to be advised is no way; the others are then likelier.
    """
    likely = [blocker for blocker in blockers if blocker.kind != "search"]
    ways = " or ".join(blocker.relaxation for blocker in likely[:_MAX_WAYS])
    one = "one" if len(likely) == len(blockers) else "a likelier one"
    return f" There is {one} {ways}." if ways else ""


@dataclass(frozen=True)
class Diagnosis:
    """Why a row has no counterfactual.

    Attributes
    ----------
    reason
        The diagnosis in words.
    closest_miss
        The candidate that came nearest, by feature in raw units; ``None`` where the row was not
        searched.
    probability
        The probability of the target for the closest miss.
    needed
        The probability of the target that counts as reaching it; of more than two classes, where
        the target must be the likeliest, what was asked for beside that, or 0. ``None`` where
        the row was not searched.
    broken
        The rules that the closest miss breaks.
    blockers
        The limits without which a counterfactual exists, the one with the nearest counterfactual
        first.
    searched
        How many limits were lifted; the search for blockers is bounded.
    """

    reason: str
    closest_miss: Mapping[str, Any] | None
    probability: float | None
    needed: float | None
    broken: tuple[str, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    searched: int = 0

    def __str__(self) -> str:
        return self.reason
