"""What stands in the way of a row for which nothing was found, as tables."""

from dataclasses import dataclass

from proce.explanation.html.blocks import Column, Table
from proce.explanation.record.diagnosis import Blocker, Diagnosis
from proce.explanation.words.values import MISSING, name_text

_LIMIT_TEXTS = {
    "vary": "what may vary, by this request",
    "max_changes": "the number of changes",
    "min_probability": "the probability asked for",
    "fixed": "held fixed by the schema",
    "indirect": "never acted on, by the schema",
    "increase": "may only rise, by the schema",
    "decrease": "may only fall, by the schema",
    "search": "a setting of the search",
}


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What a diagnosis says.

    Attributes
    ----------
    blockers
        The limits without which there is a way; ``None`` where no limit was found.
    closest_miss
        The values of the candidate that came nearest; ``None`` where there is none.
    """

    blockers: Table | None
    closest_miss: Table | None


def obstacles_of(diagnosis: Diagnosis) -> Obstacles:
    """Return a diagnosis as tables."""
    blockers, closest_miss = None, None
    if diagnosis.blockers:
        blockers = Table(
            "What stands in the way, the smallest step first",
            (Column("limit"), Column("of"), Column("there is a way")),
            [_blocker_row(blocker) for blocker in diagnosis.blockers],
        )
    if diagnosis.closest_miss:
        closest_miss = Table(
            "The candidate that came nearest",
            (Column("feature"), Column("value", numeric=True)),
            [(name_text(name), _text(value)) for name, value in diagnosis.closest_miss.items()],
        )
    return Obstacles(blockers, closest_miss)


def _blocker_row(blocker: Blocker) -> tuple[str, str, str]:
    name = blocker.name if blocker.kind == "rule" else name_text(blocker.name)
    return _LIMIT_TEXTS.get(blocker.kind, blocker.kind), name, blocker.relaxation


def _text(value: object) -> str:
    """Return a plain value as text."""
    if value is None:
        return MISSING
    if isinstance(value, int | float) and value is not True:
        return f"{value:,.6g}"
    return str(value)
