"""Features, what a person may do about them, and frame to array and back."""

from typing import TYPE_CHECKING

from proce.lazy import load_on_first_use

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
else:  # a type checker would take every misspelt name for an object
    __getattr__, __dir__ = load_on_first_use(__name__)

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
