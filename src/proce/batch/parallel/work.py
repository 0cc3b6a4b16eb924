"""What a worker does with a piece of rows: explain them, and keep or return what it found."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from proce.batch.isolation import reason_of
from proce.batch.pieces import Piece, Report
from proce.errors import ModelError
from proce.explanation import Explanations
from proce.explanation.record.view import View
from proce.methods import Progress
from proce.methods.calls.method import Method

_LEAST_SECONDS = 1e-3  # of a budget that is used up: a call needs one, and ends at once


@dataclass(frozen=True)
class SavedExplainer:
    """An explainer that each worker loads from a folder, whose arrays it maps."""

    folder: Path
    modules: ClassVar[tuple[str, ...]] = ("sklearn.ensemble", "skops.io")

    def load(self) -> Method:
        """Load it."""
        from proce.methods import ProCE

        return ProCE.load(self.folder)


@dataclass(frozen=True)
class GivenExplainer:
    """An explainer that goes to each worker as it is."""

    explainer: Method

    @property
    def modules(self) -> tuple[str, ...]:
        """The module of the model, which takes a while to import where it is large."""
        model = getattr(self.explainer, "model", None)
        return tuple({type(model).__module__} - {"builtins", "__main__"})

    def load(self) -> Method:
        """Return it."""
        return self.explainer


@dataclass(frozen=True)
class CallTerms:
    """One call of ``explain``, for any of its rows."""

    options: Mapping[str, Any]  # the options of the call but for its budget
    # the options that provenance tells of: those of the whole call
    told: Mapping[str, Any] = field(default_factory=dict)
    deadline: float | None = None  # when the call ends, by the monotonic clock; None for never
    # who reads the explanations; None for whom they are made for by default
    view: View | None = None

    def explain(self, explainer: Method, frame: Any, progress: Any = None) -> Explanations:
        """Explain some of the rows."""
        options = dict(self.options)
        if self.deadline is not None:
            options["budget_seconds"] = max(self.deadline - time.monotonic(), _LEAST_SECONDS)
        result = explainer.explain(frame, progress=progress, **options)
        return self.seen(result)

    def seen(self, result: Explanations) -> Explanations:
        """Return explanations of this call as its reader gets them."""
        provenance = replace(result.provenance, options=self.told)
        result = replace(result, provenance=provenance)
        return result if self.view is None else result.seen_by(self.view)

    @property
    def is_over(self) -> bool:
        """Whether the time of the call is used up."""
        return self.deadline is not None and time.monotonic() >= self.deadline


Label = Callable[[Explanations, Any, int], Explanations]  # of the rows of a frame, from a position
Keep = Callable[[Explanations], object]


@dataclass(frozen=True)
class ExplainWork:
    """Explain pieces of rows."""

    explainer: SavedExplainer | GivenExplainer  # where the explainer comes from
    call: CallTerms  # the call
    label: Label  # gives explanations of a piece the positions and labels of its rows
    # keeps the explanations of a piece, whose value is then None; without it, the explanations are
    # the value
    keep: Keep | None = None

    def __call__(self) -> "ExplainWork":
        """Return the work with its explainer loaded."""
        return replace(self, explainer=GivenExplainer(self.explainer.load()))

    def do(self, piece: Piece, progress: Report) -> Explanations | None:
        """Explain a piece."""
        result = self._explain(piece, progress)
        if self.keep is None:
            return result
        self.keep(result)
        return None

    def _explain(self, piece: Piece, report: Report) -> Explanations:
        def tell(progress: Progress) -> None:
            if progress.stage == "search":
                report(progress.done)

        try:
            result = self.call.explain(self.explainer.load(), piece.frame, tell)
        except ModelError as error:
            if len(piece) == 1:
                error.args = (reason_of(error),)
            raise
        return self.label(result, piece.frame, piece.first_row)
