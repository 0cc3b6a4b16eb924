"""From the candidates of a published method to what its call records."""

from typing import Any

import numpy as np

from proce.arrays import Array, cells_differ
from proce.classifier import predict_shown
from proce.compiled.copies import distinct, rounded
from proce.explanation import Counterfactuals, Outcome, changes_of
from proce.losses import Loss, loss_of_chance
from proce.methods.calls.call import (
    Call,
    LastCheck,
    as_shown,
    call_context,
    first_passed,
    last_check,
)
from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import Options
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.objective import CallLimits
from proce.schema import Codec, MixedDistance


def open_call(
    common: CommonFit, options: Options, X: Any, progress: ProgressCallback | None
) -> Call:
    """Return a call of a method that knows no causes and keeps no margin."""
    limits = CallLimits.read(common.codec, options.vary, options.ranges)
    requirement = options.requirement(common.classifier, margin=0.0)
    context = call_context(
        common.codec, common.classifier, options, limits, requirement, common.class_labels
    )
    return Call(context, common.classifier, requirement, options, limits, X, progress)


def record_candidates(task: Task, chunk: Array, candidates: Candidates) -> None:
    """Check the candidates of the rows at some positions, and record those that hold."""
    record = task.call.record
    owner, places = np.nonzero(candidates.found)
    rows = candidates.rows[owner, places]
    check = _check(task, chunk, owner, rows)
    passed, probabilities, rows = check.passed, check.probabilities, check.shown.told()
    told = _without_copies(owner, rows, passed)
    kept, failed = (told[lines] for lines in first_passed(owner[told], passed[told], task.n))
    found = np.zeros(len(task), dtype=np.bool_)
    found[owner[kept]] = True
    without = np.flatnonzero(~found)
    out_of_time = candidates.unfinished[without]
    record.finish(chunk[without[out_of_time]], Outcome.OUT_OF_TIME)
    record.finish(chunk[without[~out_of_time]], Outcome.NOT_FOUND)
    record.count_dropped(chunk, np.bincount(owner[failed], minlength=len(task)))
    task.call.note_cut_short(chunk[candidates.unfinished])
    for instance, note in candidates.notes.items():
        record.note(chunk[instance : instance + 1], note)
    if not len(kept):
        return
    steps = []
    if candidates.steps:
        pairs = zip(owner[kept].tolist(), places[kept].tolist(), strict=True)
        steps = [candidates.steps[instance][place] for instance, place in pairs]
    acted_on = cells_differ(rows[kept], task.factual[owner[kept]])  # nothing merely follows
    record.add(
        Counterfactuals.of(
            chunk[owner[kept]],
            rows[kept],
            changes_of(acted_on, acted_on),
            probabilities[kept],
            losses_by_gower(
                task.common.codec, rows[kept], task.factual[owner[kept]], probabilities[kept]
            ),
            steps=steps,
        )
    )


def _check(task: Task, chunk: Array, owner: Array, rows: Array) -> LastCheck:
    """Ask the model again at the values shown."""
    common, call = task.common, task.call
    factual = task.factual[owner]
    shown = as_shown(common.codec, rows, factual, call.raw[chunk[owner]], call.layout)
    return last_check(
        shown,
        predict_shown(common.classifier, shown.read),
        task.allowed(shown.rows[:, None], owner).squeeze(1),
        factual=factual,
        target=task.target[owner],
        requirement=call.requirement,
        rules=common.rules,
    )


def _without_copies(owner: Array, rows: Array, passed: Array) -> Array:
    """Return the positions of rows ``(n, f)`` but for those that passed as another of its owner."""
    kept, passing = ~passed, np.flatnonzero(passed)
    kept[passing[distinct(np.column_stack([owner, rounded(rows)])[passing])]] = True
    return np.flatnonzero(kept)


def losses_by_gower(codec: Codec, rows: Array, factual: Array, chances: Array) -> Array:
    """Return the losses ``(n, 3)`` of rows whose distance to a prototype nobody measures.

    Shapes: rows, factual ``(n, f)``, chances ``(n,)``.
    """
    losses = np.full((len(rows), len(Loss)), np.nan, dtype=np.float64)
    losses[:, Loss.PREDICTION] = loss_of_chance(chances)
    losses[:, Loss.DISTANCE] = MixedDistance.gower(codec).mean(rows, factual)
    return losses
