"""What a person gets, and how it is told."""

from proce.explanation.receipts.receipt import Receipt
from proce.explanation.receipts.verdict import Verdict, verify
from proce.explanation.record.context import Context
from proce.explanation.record.diagnosis import Blocker, Diagnosis
from proce.explanation.record.provenance import Provenance
from proce.explanation.result.explanation import OBJECTIVES, Change, Explanation, Front, Outcome
from proce.explanation.result.explanations import Explanations

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
