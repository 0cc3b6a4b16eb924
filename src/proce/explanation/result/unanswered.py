"""Rows of a call that have no answer, because the model broke or the call ended before them."""

from dataclasses import replace
from typing import Any

import numpy as np

from proce.classifier import position_of
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS, Diagnosis, Outcome
from proce.explanation.record.rows import ExplainedRowsBuilder
from proce.explanation.result.explanations import Explanations
from proce.explanation.words.values import one_line
from proce.schema import Layout
from proce.schema.matching import only_features


def unanswered(like: Explanations, frame: Any, outcome: Outcome, reason: str) -> Explanations:
    """Return explanations of rows that nobody asked the model about."""
    # Their predicted class and their probability are not known, nor is their target where the call
    # names none.
    context, wanted = like.context, like.provenance.options.get("target")
    codec = context.codec
    frame = only_features(codec.schema, frame)
    raw = codec.raw_of_frame(frame)
    target = UNKNOWN_CLASS if wanted is None else position_of(wanted, context.classes)
    unknown = np.full(len(raw), UNKNOWN_CLASS)
    record = ExplainedRowsBuilder(
        context,
        codec.to_unit(raw),
        raw,
        unknown,
        np.full_like(unknown, target),
        np.full(len(raw), np.nan),
    )
    record.finish(np.arange(len(raw)), outcome)
    text = one_line(reason)
    diagnosis = Diagnosis(text[:1].upper() + text[1:], None, None, needed=None)
    for row in range(len(raw)):
        record.diagnose(row, diagnosis)
    provenance = replace(like.provenance, elapsed_seconds=0.0, generations=0, evaluations=0)
    return Explanations(record.build(), Layout.of(frame), provenance)
