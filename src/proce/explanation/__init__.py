"""What a person gets, and how it is told."""

from proce.explanation.context import Context
from proce.explanation.diagnosis import Blocker, Diagnosis
from proce.explanation.explanation import OBJECTIVES, Change, Explanation, Front, Outcome
from proce.explanation.explanations import Explanations
from proce.explanation.provenance import Provenance
from proce.explanation.receipt import Receipt
from proce.explanation.verdict import Verdict, verify

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
    "Receipt",
    "Verdict",
    "verify",
]
