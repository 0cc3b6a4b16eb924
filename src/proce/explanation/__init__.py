"""Explanations: the record, its words, tables, pictures and files."""

from proce.explanation.receipts import (
    ReceiptCheck,
    Standing,
    Verdict,
    check_receipts,
    receipt_files,
)
from proce.explanation.record.context import Context, Provenance
from proce.explanation.record.counterfactuals import (
    Blocker,
    Change,
    Counterfactuals,
    Diagnosis,
    Fronts,
    Outcome,
    changes_of,
    done_by_hand,
    has_moved,
)
from proce.explanation.record.rows import ExplainedRows
from proce.explanation.result.explanations import Explanation, Explanations, Receipt, verify
from proce.explanation.result.unanswered import unanswered

__all__ = [
    "Blocker",
    "Change",
    "Context",
    "Counterfactuals",
    "Diagnosis",
    "ExplainedRows",
    "Explanation",
    "Explanations",
    "Fronts",
    "Outcome",
    "Provenance",
    "Receipt",
    "ReceiptCheck",
    "Standing",
    "Verdict",
    "changes_of",
    "check_receipts",
    "done_by_hand",
    "has_moved",
    "receipt_files",
    "unanswered",
    "verify",
]
