"""Features, what a person may do about them, and frame to tensor and back."""

from proce.schema.action import Action
from proce.schema.cells import MISSING_LEVEL
from proce.schema.codec import Codec
from proce.schema.feature import Categorical, Continuous, Feature, Ordinal
from proce.schema.layout import Layout
from proce.schema.levels import Level
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
    "Ordinal",
    "Rule",
    "Schema",
]
