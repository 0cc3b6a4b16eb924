"""What the published methods share: everything but their ideas."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from proce.arguments import brief
from proce.arrays import Array, blocks, cells_differ
from proce.classifier import as_classifier, predict_in_blocks, predict_shown
from proce.compiled.copies import distinct, rounded
from proce.errors import SearchError
from proce.explanation import Counterfactuals, Explanations, Outcome, changes_of
from proce.losses import Loss, loss_of_chance
from proce.methods.calls.call import (
    Call,
    LastCheck,
    as_shown,
    bind_rules,
    call_context,
    first_passed,
    last_check,
)
from proce.methods.calls.estimator import Estimator, changed_parameters, require_fit
from proce.methods.calls.explain_options import check_callback, checked_texts, refuse_options
from proce.methods.calls.method import ProgressCallback, closing, hash_of_rows
from proce.methods.calls.options import Options
from proce.methods.fitting.fit import check_construction, checked_class_labels, warn_of_answers
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.objective import CallLimits
from proce.schema import Codec, Level, MixedDistance, Schema

Its = TypeVar("Its")  # the settings of a method
_CHUNK_SIZE = 256  # rows worked on at a time; bounds memory and does not change results


class Published(Estimator, ABC, Generic[Its]):
    """A counterfactual method from the literature, behind the interface of every method.

    Parameters
    ----------
    model
        What is explained; anything that ``proce.ProCE`` takes. It is never modified.
    schema
        The features and what may move; inferred from the frame where it is ``None``.
    settings
        The settings of the method; ``None`` for its defaults.
    respect_schema
        Fixed features and permitted ranges always bind. One-way actions and features that only
        follow others bind with ``True``; by default the method works as in its paper.
    reject_by
        Rules; a candidate that breaks one does not count, and the method goes on looking.
    threshold
        Decision threshold of a binary model; by default its own rule.
    seed
        The same seed gives the same answer for a row, whatever else is in the batch.
    classes
        The names of the model's classes for people, such as ``{0: "rejected", 1: "approved"}``.
    """

    Settings: ClassVar[type]

    def __init__(
        self,
        model: Any,
        schema: Schema | None = None,
        settings: Its | None = None,
        *,
        respect_schema: bool = False,
        reject_by: Sequence[str] = (),
        threshold: float | None = None,
        seed: int = 0,
        classes: Mapping[Any, str] | None = None,
    ) -> None:
        self.model = model
        self.schema = schema
        self.settings = settings
        self.respect_schema = respect_schema
        self.reject_by = reject_by
        self.threshold = threshold
        self.seed = seed
        self.classes = classes

    def fit(self, X: Any, y: Any = None, *, progress: ProgressCallback | None = None) -> Self:
        """Learn what the method needs from the rows that the model was trained on.

        Parameters
        ----------
        X
            The rows, as a frame; labels are not needed.
        y
            Ignored; there for pipelines.
        progress
            A function that is called with a ``Progress`` while the method learns.
        """
        check_callback(progress)
        check_construction(self.schema, self.settings_, type(self).Settings, self.seed)
        _check_respect(self.respect_schema)
        codec = Codec.fit(self.schema or Schema.infer(X), X)
        rows = np.ascontiguousarray(codec.encode(X))
        classifier = as_classifier(self.model, codec, self.threshold)
        warn_of_answers(classifier, rows)
        texts = checked_texts("reject_by", self.reject_by)
        common = CommonFit(
            codec,
            classifier,
            rows,
            predict_in_blocks(classifier, rows),
            bind_rules(texts, codec, rows, None, self.seed),
            bool(self.respect_schema),
            int(self.seed),
            checked_class_labels(self.classes, classifier.classes),
        )
        with closing(progress):
            self.prepared_ = self._prepare(common, progress)
        self.common_ = common
        self._note_fit(codec, classifier)
        return self

    def explain(
        self,
        X: Any,
        *,
        target: Level | None = None,
        n: int = 4,
        vary: Iterable[str] | None = None,
        ranges: Mapping[str, Any] | None = None,
        max_evaluations: int | None = None,
        budget_seconds: float | None = None,
        progress: ProgressCallback | None = None,
        **unsupported: Any,
    ) -> Explanations:
        """Return up to ``n`` counterfactuals for each row; every one is checked on the model.

        Parameters
        ----------
        X
            A frame of one or many rows.
        target
            The wanted class; by default the other class of a binary model.
        n
            Counterfactuals per row, at most; some methods give one.
        vary
            Names that may change.
        ranges
            ``{name: (low, high)}`` that bind the final value, in raw units.
        max_evaluations
            Candidates that the model is asked about for each row, at most.
        budget_seconds
            The time after which the call ends; what was found by then is returned.
        progress
            Called with a ``Progress``; stops by returning False.
        **unsupported
            Options that only ProCE has.

        Raises
        ------
        UnsupportedOption
            For an option of ProCE that this method cannot honour.
        """
        refuse_options(type(self).__name__, unsupported)
        options = Options(
            target=target,
            n=n,
            vary=vary,
            ranges=ranges,
            max_evaluations=max_evaluations,
            budget_seconds=budget_seconds,
        )
        check_callback(progress)
        common = self._common_fit()
        with closing(progress):
            return self._run(common, open_call(common, options, X, progress))

    def restricted(self, *, respect_schema: bool, reject_by: Sequence[str]) -> Self:
        """Return the same method under other limits; nothing is learnt again that need not be.

        Parameters
        ----------
        respect_schema, reject_by
            As in the constructor.
        """
        before = self._common_fit()
        _check_respect(respect_schema)
        changed = {"respect_schema": respect_schema, "reject_by": reject_by}
        other = type(self)(**(self.get_params(deep=False) | changed))
        texts = checked_texts("reject_by", reject_by)
        rules = bind_rules(texts, before.codec, before.rows, None, before.seed)
        after = replace(before, rules=rules, respect_schema=bool(respect_schema))
        same = self._serves(before, after)
        other.prepared_ = self.prepared_ if same else other._prepare(after, None)
        other.common_ = after
        other._note_fit(after.codec, after.classifier)
        return other

    def _serves(self, before: CommonFit, after: CommonFit) -> bool:
        """Tell whether what was prepared under some limits serves under others."""
        return before.respect_schema == after.respect_schema

    @abstractmethod
    def _prepare(self, common: CommonFit, progress: ProgressCallback | None) -> Any:
        """Return what this method learns in addition to ``common``; it is kept as ``prepared_``."""

    @abstractmethod
    def _find(self, task: Task) -> Candidates:
        """Look for counterfactuals of the rows of a task, within its evaluations and time."""

    @property
    def settings_(self) -> Any:
        """The settings in use."""
        return self.settings if self.settings is not None else type(self).Settings()

    def _run(self, common: CommonFit, call: Call) -> Explanations:
        rows = call.rows_to_change()
        call.report_rows()
        try:
            for chunk in blocks(rows, _CHUNK_SIZE):
                if len(chunk) and not call.over:
                    task = Task.of(common, call, chunk)
                    record_candidates(task, chunk, self._find(task))
                    call.report_rows()
        except KeyboardInterrupt:
            call.interrupt()
        call.record.finish(call.record.open_rows(), Outcome.OUT_OF_TIME)
        return call.result(
            method=type(self).__name__,
            seed=common.seed,
            settings=asdict(self.settings_),
            mode="off",
            graph=None,
            training_rows=len(common.rows),
            training_hash=hash_of_rows(common.rows),
            generations=0,
        )

    def _common_fit(self) -> CommonFit:
        self._require_fitted()
        now = self.get_params(deep=False)
        require_fit(type(self).__name__, changed_parameters(self._parameters, now))
        common: CommonFit = self.common_
        return common


def _check_respect(respect_schema: Any) -> None:
    if not isinstance(respect_schema, bool | np.bool_):
        raise SearchError(f"respect_schema is {brief(respect_schema)}; expected True or False.")


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
    """Return the losses ``(n, 3)`` of rows whose distance to a prototype nobody measures."""
    # Shapes: rows, factual ``(n, f)``, chances ``(n,)``.
    losses = np.full((len(rows), len(Loss)), np.nan, dtype=np.float64)
    losses[:, Loss.PREDICTION] = loss_of_chance(chances)
    losses[:, Loss.DISTANCE] = MixedDistance.gower(codec).mean(rows, factual)
    return losses
