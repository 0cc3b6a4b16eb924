"""What the model says of the frame that is returned, sent to it as a whole."""

from dataclasses import replace

import numpy as np

from proce.classifier import Classifier, predict_read_frame
from proce.explanation import ExplainedRows, Outcome
from proce.losses import target_probability
from proce.objective import Requirement
from proce.schema import Layout
from proce.schema.shown import ReadFrame


def ask_about_all(
    rows: ExplainedRows, layout: Layout, classifier: Classifier, requirement: Requirement
) -> ExplainedRows:
    """Return explained rows with the probabilities that the model gives the returned frame.

    A model whose answer depends on what else is in the batch may take back what it said of a
    counterfactual in the last check. One that no longer has its target, or the probability that was
    asked for, is dropped; one that has lost the margin alone is told without it.

    Parameters
    ----------
    rows
        The explained rows.
    layout
        How the frame looks that was explained.
    classifier
        The model.
    requirement
        What counts as reaching the target.
    """
    ways = rows.counterfactuals
    if not len(ways):
        return rows
    codec, owner = rows.context.codec, ways.owner
    raw = codec.raw_of_changes(ways.rows, rows.factual[owner], rows.raw[owner])
    layout = layout.take(rows.positions[owner].tolist())
    answers = predict_read_frame(classifier, ReadFrame.holding(codec, raw, layout))
    target = rows.target[owner]
    told = replace(ways, probabilities=target_probability(answers, target).astype(np.float64))
    kept, with_margin = (
        wanted.is_reached(answers[:, None], target)[:, 0]
        for wanted in (requirement.without_margin(), requirement)
    )
    margin_met = rows.margin_met.copy()
    margin_met[owner[kept & ~with_margin]] = False
    rows = replace(rows, margin_met=margin_met)
    if bool(kept.all()):
        return replace(rows, counterfactuals=told)
    told = told.take(np.flatnonzero(kept))
    outcomes = rows.outcomes.copy()
    lost = (rows.counts > 0) & (told.counts(len(rows)) == 0)
    outcomes[lost] = Outcome.NOT_FOUND.code
    dropped = rows.dropped + np.bincount(owner[~kept], minlength=len(rows))
    return replace(rows, counterfactuals=told, outcomes=outcomes, dropped=dropped)
