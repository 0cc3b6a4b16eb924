"""What stands in the way of a row for which nothing was found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proce.explanation.html.blocks import Facts
from proce.explanation.record.outcome import Blocker, ways_text
from proce.explanation.record.rows import ExplainedRow
from proce.explanation.words.cells import plain_value
from proce.explanation.words.values import name_text, plain_value_text
from proce.schema import Level
from proce.schema.features.naming import spoken_name

_LIMIT_TEXTS = {
    "vary": "what may vary, by this request",
    "max_changes": "the number of changes",
    "min_probability": "the probability asked for",
    "robust": "holding under other models, as asked for",
    "rule": "the rule",
    "range": "the range",
    "fixed": "held fixed by the schema",
    "indirect": "never acted on, by the schema",
    "increase": "may only rise, by the schema",
    "decrease": "may only fall, by the schema",
    "waits": "moved by time alone, by the schema",
    "protected": "protected by the schema",
    "search": "a setting of the search",
}


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A limit without which there is a way.

    Attributes
    ----------
    way
        In words, under which condition there is one.
    limit
        What the limit is, and of what.
    """

    way: str
    limit: str


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What a diagnosis says.

    Attributes
    ----------
    reason
        Why nothing was found.
    blockers
        The limits without which there is a way, the smallest step first.
    closest_miss
        What is different in the candidate that came nearest; empty where there is none.
    """

    reason: str
    blockers: Sequence[Obstacle]
    closest_miss: Facts


def obstacles_of(explanation: ExplainedRow) -> Obstacles | None:
    """Return why nothing was found for a row; ``None`` where that is not known.

    What would open a way is listed, and so taken out of the sentence that ends with it.
    """
    diagnosis = explanation.diagnosis
    if diagnosis is None or len(explanation):
        return None
    return Obstacles(
        diagnosis.reason.removesuffix(ways_text(diagnosis.blockers)),
        [_obstacle(explanation, blocker) for blocker in diagnosis.blockers],
        _differences(explanation, diagnosis.closest_miss or {}),
    )


def _differences(explanation: ExplainedRow, candidate: Any) -> list[tuple[str, str]]:
    schema = explanation.context.codec.schema
    values = zip(schema, explanation.raw.tolist(), strict=True)
    own = {feature.name: plain_value(feature, value) for feature, value in values}
    return [
        _fact(explanation, name, value)
        for name, value in candidate.items()
        if name not in own or own[name] != value
    ]


def _fact(explanation: ExplainedRow, name: str, value: Any) -> tuple[str, str]:
    """Return a feature and its value; what a text from elsewhere calls so is shown as it is."""
    context = explanation.context
    known = name in context.codec.schema and (value is None or isinstance(value, Level))
    if not known:
        return spoken_name(name), str(value)
    return name_text(context.codec.schema[name]), plain_value_text(context, name, value)


def _obstacle(explanation: ExplainedRow, blocker: Blocker) -> Obstacle:
    schema, name = explanation.context.codec.schema, blocker.name
    if name in schema:
        name = name_text(schema[name])
    elif blocker.kind != "rule":
        name = spoken_name(name)
    limit = _LIMIT_TEXTS.get(blocker.kind, blocker.kind)
    way = f"{blocker.relaxation[:1].upper()}{blocker.relaxation[1:]}"
    return Obstacle(way, f"{limit}: {name}" if name else limit)
