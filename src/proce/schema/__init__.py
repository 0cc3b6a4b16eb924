"""Features, what a person may do about them, and frame to array and back."""

from typing import TYPE_CHECKING

from proce.lazy import loader as _loader

if TYPE_CHECKING:
    from proce.schema.codec import Codec
    from proce.schema.features.feature import Action, Categorical, Continuous, Feature, Ordinal
    from proce.schema.features.levels import Level
    from proce.schema.frames.cells import MISSING_LEVEL
    from proce.schema.frames.frame import Layout
    from proce.schema.mixed import MixedDistance
    from proce.schema.redaction import Redaction
    from proce.schema.rules.rule import Rule
    from proce.schema.schema import Schema

__all__ = [
    "MISSING_LEVEL",
    "Action",
    "Categorical",
    "Codec",
    "Continuous",
    "Feature",
    "Layout",
    "Level",
    "MixedDistance",
    "Ordinal",
    "Redaction",
    "Rule",
    "Schema",
]

_LOCATIONS = {
    "MISSING_LEVEL": "proce.schema.frames.cells",
    "Action": "proce.schema.features.feature",
    "Categorical": "proce.schema.features.feature",
    "Codec": "proce.schema.codec",
    "Continuous": "proce.schema.features.feature",
    "Feature": "proce.schema.features.feature",
    "Layout": "proce.schema.frames.frame",
    "Level": "proce.schema.features.levels",
    "MixedDistance": "proce.schema.mixed",
    "Ordinal": "proce.schema.features.feature",
    "Redaction": "proce.schema.redaction",
    "Rule": "proce.schema.rules.rule",
    "Schema": "proce.schema.schema",
}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object
    __getattr__ = _loader(__name__, _LOCATIONS)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOCATIONS})
