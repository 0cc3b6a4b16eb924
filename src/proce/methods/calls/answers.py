"""What the model says of the frame that is returned, sent to it as a whole."""

from dataclasses import replace

import torch

from proce.classifier import Classifier, ask_read_frame, decide
from proce.explanation import ExplainedRows, Outcome
from proce.objective import target_probability
from proce.schema import Layout
from proce.schema.shown import ReadFrame


def ask_about_all(rows: ExplainedRows, layout: Layout, classifier: Classifier) -> ExplainedRows:
    """Return explained rows with the probabilities that the model gives the returned frame.

    A model whose answer depends on what else is in the batch may take back what it said of a
    counterfactual in the last check; such a counterfactual is dropped.

    Parameters
    ----------
    rows
        The explained rows.
    layout
        How the frame looks that was explained.
    classifier
        The model.
    """
    ways = rows.counterfactuals
    if not len(ways):
        return rows
    codec, owner = rows.context.codec, ways.owner
    raw = codec.raw_of_changes(ways.rows, rows.factual[owner], rows.raw[owner])
    layout = layout.take(rows.positions[owner].tolist())
    answers = ask_read_frame(classifier, ReadFrame.holding(codec, raw, layout))
    target = rows.target[owner]
    told = replace(ways, probabilities=target_probability(answers, target).double())
    kept = decide(answers, classifier.threshold) == target
    if bool(kept.all()):
        return replace(rows, counterfactuals=told)
    told = told.take(torch.nonzero(kept).flatten())
    outcomes = rows.outcomes.clone()
    lost = (rows.counts > 0) & (told.counts(len(rows)) == 0)
    outcomes[lost] = Outcome.NOT_FOUND.code
    dropped = rows.dropped + owner[~kept].bincount(minlength=len(rows))
    return replace(rows, counterfactuals=told, outcomes=outcomes, dropped=dropped)
