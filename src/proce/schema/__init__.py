"""Features, what a person may do about them, and frame to array and back."""

from proce.schema.codec import Codec
from proce.schema.features.feature import Action, Categorical, Continuous, Feature, Ordinal
from proce.schema.features.levels import Level
from proce.schema.frames.cells import MISSING_LEVEL
from proce.schema.frames.layout import Layout
from proce.schema.mixed import MixedDistance
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
    "Rule",
    "Schema",
]
