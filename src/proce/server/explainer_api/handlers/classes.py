"""The classes of the model as values and words."""

from collections.abc import Mapping, Sequence
from typing import Any

from proce.explanation.words.values import class_words
from proce.schema import Level
from proce.schema.features.levels import find_level
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.names import brief, listed, near


def class_at(value: Any, classes: Sequence[Level], field: str) -> int:
    """Return the position of a class that is given as its value."""
    position = find_level(classes, value)
    if position is None:
        raise _unknown(value, classes, field)
    return position


def class_named(value: Any, classes: Sequence[Level], field: str) -> int:
    """Return the position of a class that is given as its value, or as it is written in text."""
    position = find_level(classes, value)
    if position is None and isinstance(value, str):
        written = [text_of(label) for label in classes]
        position = written.index(value) if value in written else None
    if position is None:
        raise _unknown(value, classes, field)
    return position


def wanted_class(target: Any, classes: Sequence[Level]) -> Level | None:
    """Return the class that people want, which is given as for :func:`class_named`."""
    return None if target is None else classes[class_named(target, classes, "the wanted class")]


def text_of(label: Level) -> str:
    """Return a class or a level as it is written in text: ``true``, ``1``, ``approved``."""
    if isinstance(label, bool):
        return str(label).lower()
    return label if isinstance(label, str) else f"{label:.12g}"


def class_choices(classes: Sequence[Level], labels: Mapping[Level, str]) -> list[dict[str, Any]]:
    """Return the classes, each with its words."""
    return [{"value": label, "label": class_words(label, labels)} for label in classes]


def _unknown(value: Any, classes: Sequence[Level], field: str) -> RequestError:
    return RequestError(
        field,
        f"{brief(value)} is no class of the model; the classes are {listed(classes)}."
        + near(value, classes),
    )
