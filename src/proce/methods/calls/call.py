"""What one call asks, of whichever method: rows, the model's word on them, what is wanted."""

import hashlib
import logging
import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from proce.classifier import Classifier, decide
from proce.explanation import Context, Explanation, Explanations, Outcome
from proce.methods.calls.method import Progress, ProgressCallback
from proce.methods.calls.options import Options
from proce.methods.calls.provenance import provenance
from proce.objective import Requirement, limits_of
from proce.schema import Codec, Layout
from proce.streams import hash_values

_log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class Call:
    """A call, what was found so far, and its clock.

    Attributes
    ----------
    codec, classifier, options, progress, context
        The features, the model, and what was asked.
    layout, factual, raw
        The frame, its rows ``(i, f)`` as entries, and in raw units.
    chances, target
        The model's probabilities ``(i, k)``, and the wanted classes ``(i,)``.
    began
        When, on the clock of ``time.perf_counter``.
    items
        The explanations that are finished, by row.
    evaluations
        Candidates that the model was asked about.
    stopped
        Whether the caller has had enough.
    """

    codec: Codec
    classifier: Classifier
    options: Options
    progress: ProgressCallback | None
    context: Context
    layout: Layout
    factual: Tensor
    raw: Tensor
    chances: Tensor
    target: Tensor
    began: float = field(default_factory=time.perf_counter)
    items: dict[int, Explanation] = field(default_factory=dict)
    evaluations: int = 0
    stopped: bool = False

    @staticmethod
    def read(
        codec: Codec,
        classifier: Classifier,
        options: Options,
        X: Any,
        progress: ProgressCallback | None,
        *,
        margin: float = 0.0,
        **causes: Any,
    ) -> dict[str, Any]:
        """Read the rows, ask the model about them, and return the fields of this class."""
        factual, raw = codec.encode(X).contiguous(), codec.raw_of_frame(X)
        limits_of(codec, factual[:1], options.vary, options.ranges)  # or a slip would show up late
        chances = classifier.predict_proba(factual)
        target = options.targets(decide(chances, classifier.threshold), classifier)
        needed = Requirement(classifier.threshold, margin, options.min_probability)
        context = Context(
            codec,
            classifier.classes,
            needed.probabilities(len(classifier.classes)),
            threshold=classifier.threshold,
            vary=options.vary,
            ranges={name: tuple(limits) for name, limits in (options.ranges or {}).items()},
            effort=dict(options.effort or {}),
            **causes,
        )
        return {
            "codec": codec,
            "classifier": classifier,
            "options": options,
            "progress": progress,
            "context": context,
            "layout": Layout.of(X),
            "factual": factual,
            "raw": raw,
            "chances": chances,
            "target": target,
        }

    def settle(self) -> Tensor:
        """Set aside rows that have their target already; return the positions of the others."""
        predicted = decide(self.chances, self.classifier.threshold)
        for row in torch.nonzero(predicted == self.target).flatten().tolist():
            self.items[row] = self.without(row, Outcome.ALREADY_TARGET)
        return torch.nonzero(predicted != self.target).flatten()

    def without(self, row: int, outcome: Outcome, cut_short: bool = False) -> Explanation:
        """Return the explanation of a row that has no counterfactual, or none yet."""
        target = int(self.target[row])
        factual = self.factual[row]
        nothing = factual.new_zeros(0, len(factual))
        notes = _notes(self.codec, factual)
        if cut_short:
            notes = (*notes, "The search was ended early; more time may find better.")
        return Explanation(
            context=self.context,
            row=row,
            factual=factual,
            raw=self.raw[row],
            predicted=int(decide(self.chances[row], self.classifier.threshold)),
            target=target,
            probability=float(self.chances[row, target]),
            outcome=outcome,
            rows=nothing,
            changes=nothing.to(torch.int8),
            probabilities=factual.new_zeros(0),
            losses=factual.new_zeros(0, 3),
            notes=notes,
        )

    def closed(self, **made_by: Any) -> Explanations:
        """Return the result once every row has its explanation; the rest is its provenance."""
        items = tuple(self.items[row] for row in range(len(self.factual)))
        record = provenance(
            options=self.options.plain(),
            elapsed_seconds=time.perf_counter() - self.began,
            evaluations=self.evaluations,
            **made_by,
        )
        return Explanations(self.context, items, self.layout, record)

    def interrupted(self) -> None:
        """Note that the person at the keyboard wants to stop."""
        _log.warning("interrupted: %d of %d rows were finished", len(self.items), len(self.raw))
        self.stopped = True

    def tell(self, progress: Progress) -> object:
        """ProgressCallback how far the call has come; it ends soon where the answer is False."""
        told = self.progress and self.progress(progress)
        self.stopped = self.stopped or told is False
        return told

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time limit, or None without one."""
        if self.options.budget_seconds is None:
            return None
        return max(0.0, self.options.budget_seconds - (time.perf_counter() - self.began))

    @property
    def over(self) -> bool:
        """Whether the call must end now."""
        left = self.seconds_left
        return self.stopped or (left is not None and left <= 0)


def keys_of(factual: Tensor) -> Tensor:
    """Return what the random streams of rows ``(i, f)`` depend on: their values alone."""
    return hash_values(factual.nan_to_num(nan=-9.0))


def hash_of(rows: Tensor) -> str:
    """Return the SHA-256 of rows."""
    return hashlib.sha256(rows.contiguous().numpy().tobytes()).hexdigest()


def _notes(codec: Codec, factual: Tensor) -> tuple[str, ...]:
    """Return what the reader should know of a row."""
    gone = torch.nonzero(codec.missing(factual)).flatten().tolist()
    if not gone:
        return ()
    names = ", ".join(codec.schema.names[at] for at in gone)
    return (f"Missing and so left as they are: {names}.",)
