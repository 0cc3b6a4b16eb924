"""What stands in the way of a row for which nothing was found, as tables."""

from dataclasses import dataclass
from typing import Any

from proce.explanation.html.blocks import Column, Table
from proce.explanation.record.context import Context
from proce.explanation.record.diagnosis import Blocker, Diagnosis
from proce.explanation.words.values import name_text, plain_value_text
from proce.schema import Level
from proce.schema.features.naming import spoken_name

_LIMIT_TEXTS = {
    "vary": "what may vary, by this request",
    "max_changes": "the number of changes",
    "min_probability": "the probability asked for",
    "robust": "holding under other models, as asked for",
    "fixed": "held fixed by the schema",
    "indirect": "never acted on, by the schema",
    "increase": "may only rise, by the schema",
    "decrease": "may only fall, by the schema",
    "protected": "protected by the schema",
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


def obstacles_of(diagnosis: Diagnosis, context: Context) -> Obstacles:
    """Return a diagnosis as tables."""
    blockers, closest_miss = None, None
    if diagnosis.blockers:
        blockers = Table(
            "What stands in the way, the smallest step first",
            (Column("limit"), Column("of"), Column("there is a way")),
            [_blocker_row(blocker, context) for blocker in diagnosis.blockers],
        )
    if diagnosis.closest_miss:
        closest_miss = Table(
            "The candidate that came nearest",
            (Column("feature"), Column("value", numeric=True)),
            [_cell(name, value, context) for name, value in diagnosis.closest_miss.items()],
        )
    return Obstacles(blockers, closest_miss)


def _cell(name: str, value: Any, context: Context) -> tuple[str, str]:
    """Return a feature and its value; what a text from elsewhere calls so is shown as it is."""
    known = name in context.codec.schema and (value is None or isinstance(value, Level))
    if not known:
        return spoken_name(name), str(value)
    return name_text(context.codec.schema[name]), plain_value_text(context, name, value)


def _blocker_row(blocker: Blocker, context: Context) -> tuple[str, str, str]:
    schema, name = context.codec.schema, blocker.name
    if name in schema:
        name = name_text(schema[name])
    elif blocker.kind != "rule":
        name = spoken_name(name)
    return _LIMIT_TEXTS.get(blocker.kind, blocker.kind), name, blocker.relaxation
