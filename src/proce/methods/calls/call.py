"""One call of any method: the rows, what the model says of them, what is wanted, and the clock.

Rules are read, bound to equations, and checked for conflicts here. Before a counterfactual is
returned, the model is asked once more, about what is shown.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from proce.arrays import Array, Flags, Ints
from proce.causal import StructuralCausalModel
from proce.classifier import Classifier, decide, predict_read_frame
from proce.compiled.copies import groups_of, members_of
from proce.errors import RuleError
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
from proce.methods.calls.method import Progress, ProgressCallback, versions_in_use
from proce.methods.calls.options import Options
from proce.objective import CallLimits, Requirement, effect_predictors, fit_effect
from proce.schema import Codec, Layout, Level, Rule
from proce.schema.matching import only_features
from proce.schema.round_trip import ReadFrame, exact_entries
from proce.schema.rules.rule import conflict, obeyed

BoundRule = tuple[Rule, Mapping[str, Callable[[Array], Array]]]


def bind_rules(
    texts: Sequence[str],
    codec: Codec,
    rows: Array,
    scm: StructuralCausalModel | None,
    seed: int,
) -> tuple[BoundRule, ...]:
    """Read rules, and find or fit the equations of those with ``~>``."""

    def fit_on_named_causes(rule: Rule) -> StructuralCausalModel:
        causes, effect = rule.dependence or ((), "")
        if not len(rows):
            raise RuleError(
                f"rule {rule.text!r} needs an equation of {effect!r} that is not in the graph, and"
                " the explainer was saved without the training rows to fit it on. Save it with"
                " rows=True, or give the rule to ProCE before it is fitted."
            )
        return fit_effect(causes, effect, rows, codec, seed)

    rules = [Rule.parse(text, codec) for text in texts]
    return tuple((rule, effect_predictors(rule, scm, fit_on_named_causes)) for rule in rules)


def refuse_contradiction(rules: Sequence[BoundRule], factual: Array) -> None:
    """Raise an error that names the rules which no counterfactual of rows ``(i, f)`` can obey."""
    clashing = conflict([rule for rule, _ in rules], factual)
    if len(clashing) == 1:
        raise RuleError(
            f"no row can obey the rule '{clashing[0]}', whatever changes. Drop it, or change it."
        )
    if clashing:
        texts = [f"'{rule}'" for rule in clashing]
        raise RuleError(
            f"the rules {', '.join(texts[:-1])} and {texts[-1]} contradict each other: no row can"
            f" obey {'both' if len(texts) == 2 else 'all of them'}. Drop one of them, or change it."
        )


def obey_rules(rules: Sequence[BoundRule], factual: Array, rows: Array) -> Array:
    """Return which rows ``(n, f)`` obey all rules, ``(n,)``, given what they were before."""
    passed = obeyed([rule for rule, _ in rules if rule.dependence is None], factual, rows)
    for rule, mechanisms in rules:
        if rule.dependence is not None:
            passed &= rule.holds(factual, rows, mechanisms)
    return passed


def broken_rules(rules: Sequence[BoundRule], factual: Array, row: Array) -> tuple[str, ...]:
    """Return the texts of the rules that a row ``(f,)`` breaks, given what it was before."""
    return tuple(
        bound[0].text for bound in rules if not bool(obey_rules([bound], factual[None], row[None]))
    )


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


_MAX_MOVE = 1e4  # unit ranges that a cell may move


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows as a person gets them."""

    # the frame that the caller gets, with which the model is asked, and what the codec reads from
    # it
    read: ReadFrame
    rows: Array  # (n, f), what the codec reads from that frame, in its entries
    # given, factual: (n, f), the rows as they were given, and those that they started from
    given: Array
    factual: Array
    codec: Codec  # the features and their scale
    # (n,), whether no cell has moved so far that columns of whole numbers may not hold it.
    # Equations can lead anywhere; a cell that is too far stands in the frame as it was.
    is_near: Array

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def raw(self) -> Array:
        """What the codec reads from the frame, in raw units, ``(n, f)``."""
        return self.read.raw

    def told(self) -> Array:
        """Return the rows ``(n, f)`` in entries that give the values of the frame back exactly.

        They are the rows as they were given, but for numbers that the caller's dtypes cannot hold,
        such as a half in a column of whole numbers.
        """
        changed = (self.raw != self.codec.to_raw(self.given)) & ~np.isnan(self.raw)
        changed &= self.given != self.factual
        if not bool(changed.any()):
            return self.given
        return np.where(changed, exact_entries(self.codec, self.raw), self.given)


@dataclass(frozen=True, eq=False)
class LastCheck:
    """Which candidates are true of the model at the values and dtypes that are shown."""

    passed: Array  # (n,), whether a candidate has its target and obeys the rules and the limits
    # (n,), the probability of the target, as the model gives it for the frame that is shown
    probabilities: Array
    shown: ShownRows  # the candidates as the caller would get them


def as_shown(codec: Codec, rows: Array, factual: Array, raw: Array, layout: Layout) -> ShownRows:
    """Return rows ``(n, f)`` as they stand in a frame of the caller."""
    is_far = np.abs(rows - factual) > _MAX_MOVE
    near = np.where(is_far, factual, rows)
    values = codec.raw_of_changes(near, factual, raw)
    read = ReadFrame.holding(codec, values, layout.without_index())
    return ShownRows(read, codec.to_unit(read.raw), near, factual, codec, ~is_far.any(-1))


def last_check(
    shown: ShownRows,
    probabilities: Array,
    allowed: Array,
    *,
    factual: Array,
    target: Array,
    requirement: Requirement,
    rules: Sequence[BoundRule],
) -> LastCheck:
    """Check candidates against the model and the rules again, at the values that are shown.

    Shapes: probabilities ``(n, k)``, allowed ``(n,)``, factual ``(n, f)``, target ``(n,)``.
    """
    if not len(shown):
        return LastCheck(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=shown.rows.dtype), shown)
    passed = allowed & shown.is_near
    passed &= requirement.is_reached(probabilities[:, None], target)[:, 0]
    passed &= obey_rules(rules, factual, shown.rows)
    return LastCheck(passed, target_probability(probabilities, target), shown)


def first_passed(owner: Ints, passed: Flags, n: int) -> tuple[Ints, Ints]:
    """Return the lines of each owner's first ``n`` that passed, and those that failed before them.

    Owners ``(m,)`` ascend; of one with fewer that passed, all that failed are meant.
    """
    n_passed = passed.cumsum()
    so_far = n_passed - (n_passed - passed)[np.searchsorted(owner, owner)]  # of the same owner
    return np.flatnonzero(passed & (so_far <= n)), np.flatnonzero(~passed & (so_far < n))
