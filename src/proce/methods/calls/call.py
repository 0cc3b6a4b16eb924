"""One call of any method: the rows, what the model says of them, what is wanted, and the clock."""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from proce.arrays import Array
from proce.classifier import Classifier, decide, predict_read_frame
from proce.compiled.copies import groups_of, members_of
from proce.explanation import (
    Context,
    Diagnosis,
    ExplainedRows,
    Explanations,
    Outcome,
    Provenance,
)
from proce.explanation.record.rows import ExplainedRowsBuilder
from proce.explanation.words.values import class_text, joined, name_text
from proce.losses import target_probability
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import Options
from proce.methods.calls.provenance import versions_in_use
from proce.objective import CallLimits, Requirement
from proce.schema import Codec, Layout, Level
from proce.schema.matching import only_features
from proce.schema.shown import ReadFrame

_CUT_SHORT = "The search was ended early; more time may find better."
_STOPPED_EARLY = "The search was stopped early; letting it run to its end may find better."
_log = logging.getLogger(__name__)


class Call:
    """One call of ``explain``: what the caller wants, the record of the rows, and the clock.

    Shapes: factual, raw ``(i, f)``, predicted, target ``(i,)``.
    """

    def __init__(
        self,
        context: Context,
        classifier: Classifier,
        requirement: Requirement,
        options: Options,
        limits: CallLimits,
        X: Any,
        progress: ProgressCallback | None,
    ) -> None:
        self._began = time.perf_counter()
        self._progress = progress
        self._stopped = False
        codec = context.codec
        self.context, self.classifier = context, classifier
        self.requirement, self.options, self.limits = requirement, options, limits
        X = only_features(codec.schema, X)
        read = ReadFrame.of(codec, X)
        self.factual, self.raw = codec.to_unit(read.raw), read.raw
        self.layout = Layout.of(X)
        probabilities = predict_read_frame(classifier, read)
        self.predicted = decide(probabilities, classifier.threshold)
        self.target = options.targets(self.predicted, classifier)
        self.record = ExplainedRowsBuilder(
            context,
            self.factual,
            self.raw,
            self.predicted,
            self.target,
            target_probability(probabilities, self.target),
        )
        self.evaluations = 0
        self._note_missing_cells()

    def __len__(self) -> int:
        return len(self.factual)

    def rows_to_change(self) -> Array:
        """Finish the rows that have their target already; return the positions of the others."""
        reached = self.predicted == self.target
        self.record.finish(np.flatnonzero(reached), Outcome.ALREADY_TARGET)
        return np.flatnonzero(~reached)

    def note_cut_short(self, rows: Array) -> None:
        """Note for the rows at some positions that their search did not run to its end."""
        self.record.note(rows, _STOPPED_EARLY if self._stopped else _CUT_SHORT)

    def result(
        self,
        *,
        method: str,
        seed: int,
        settings: Mapping[str, Any],
        mode: str,
        graph: str | None,
        training_rows: int,
        training_hash: str,
        generations: int,
    ) -> Explanations:
        """Return the explanations once every row has its outcome.

        The parameters are those of :class:`proce.explanation.Provenance` that the call itself
        does not know.
        """
        rows = self._as_told()
        provenance = Provenance(
            versions=versions_in_use(),
            method=method,
            seed=seed,
            settings=settings,
            options=self.options.plain(),
            mode=mode,
            graph=graph,
            training_rows=training_rows,
            training_hash=training_hash,
            elapsed_seconds=time.perf_counter() - self._began,
            generations=generations,
            evaluations=self.evaluations,
        )
        return Explanations(rows, self.layout, provenance)

    def _as_told(self) -> ExplainedRows:
        """Return the finished rows with what the model says of the very frame that is returned.

        The answers of some models differ in the last bits from one batch to another, so that the
        whole frame is sent once more.
        """
        if self._stopped:
            self._tell_stopped()
        rows = self.record.build()
        try:
            return ask_about_all(rows, self.layout, self.classifier, self.requirement)
        except KeyboardInterrupt:
            self.interrupt()
            return rows

    def _tell_stopped(self) -> None:
        """Say of rows without an answer that somebody stopped the search, not that time ran out."""
        for row in self.record.rows_with(Outcome.OUT_OF_TIME).tolist():
            label = class_text(self.context, self.context.classes[int(self.target[row])])
            reason = f"The search was stopped before a change was found for {label}."
            self.record.diagnose(row, Diagnosis(reason, None, None, None))

    def interrupt(self) -> None:
        """End the call soon: the person at the keyboard wants to stop."""
        _log.warning("interrupted: %d of %d rows were finished", self.record.n_finished, len(self))
        self._stopped = True

    @property
    def is_followed(self) -> bool:
        """Whether somebody wants to know how far the call has come."""
        return self._progress is not None

    def report(self, progress: Progress) -> object:
        """Tell the caller how far the call has come; the answer False ends the call soon."""
        answer = self._progress and self._progress(progress)
        self._stopped = self._stopped or answer is False
        return answer

    def report_rows(self, generation: int = 0) -> object:
        """Tell the caller how many rows are finished."""
        return self.report(Progress("search", self.record.n_finished, len(self), generation))

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time limit, or None without one."""
        if self.options.budget_seconds is None:
            return None
        return max(0.0, self.options.budget_seconds - (time.perf_counter() - self._began))

    @property
    def over(self) -> bool:
        """Whether the call must end now."""
        left = self.seconds_left
        return self._stopped or (left is not None and left <= 0)

    def _note_missing_cells(self) -> None:
        features = self.context.codec.schema.features
        missing = self.context.codec.missing(self.factual)
        missing &= ~np.array([feature.protected for feature in features])  # told to nobody
        rows = np.flatnonzero(missing.any(1))
        if not len(rows):
            return
        for group in members_of(groups_of(missing[rows])[1]):
            cells = np.flatnonzero(missing[rows[group[0]]]).tolist()
            listed = joined([name_text(features[position]) for position in cells])
            left = "it is" if len(cells) == 1 else "they are"
            self.record.note(rows[group], f"Missing, and so left as {left}: {listed}.")


def call_context(
    codec: Codec,
    classifier: Classifier,
    options: Options,
    limits: CallLimits,
    requirement: Requirement,
    class_labels: Mapping[Level, str],
) -> Context:
    """Return what all explanations of a call share, where no causes are known."""
    return Context(
        codec,
        classifier.classes,
        requirement.probabilities(len(classifier.classes)),
        threshold=classifier.threshold,
        vary=None if options.vary is None else tuple(options.vary),
        ranges=limits.ranges,
        effort=dict(options.effort or {}),
        lead=requirement.lead(len(classifier.classes)),
        class_labels=class_labels,
    )


def ask_about_all(
    rows: ExplainedRows, layout: Layout, classifier: Classifier, requirement: Requirement
) -> ExplainedRows:
    """Return explained rows with the probabilities that the model gives the returned frame.

    A model whose answer depends on what else is in the batch may take back what it said of a
    counterfactual in the last check. One that no longer has its target, or the probability that was
    asked for, is dropped; one that has lost the margin alone is told without it.
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
