"""What a person gets, and how it is told."""

from proce.explanation.diagnosis import Blocker, Diagnosis
from proce.explanation.explanation import (
    OBJECTIVES,
    Change,
    Context,
    Explanation,
    Explanations,
    Front,
    Outcome,
)
from proce.explanation.provenance import Provenance

__all__ = [
    "OBJECTIVES",
    "Blocker",
    "Change",
    "Context",
    "Diagnosis",
    "Explanation",
    "Explanations",
    "Front",
    "Outcome",
    "Provenance",
]
