"""Any callable from a frame to probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from proce.classifier.answer import (
    Output,
    as_columns,
    check_probabilities,
    count_classes,
    translate_errors,
)
from proce.classifier.classifier import Adapter, checked_classes
from proce.classifier.probe import probe_rows
from proce.schema import Codec


@dataclass(frozen=True, eq=False)
class FunctionClassifier(Adapter):
    """A function that is called with a fresh frame that looks like the training rows."""

    function: Callable[[Any], Any]
    output: Output

    @property
    def name(self) -> str:
        """What the model is called in messages."""
        return f"the function {getattr(self.function, '__name__', type(self.function).__name__)}"

    def _probabilities_of(self, rows: Tensor) -> Tensor:
        return check_probabilities(self._columns(rows), self.output, len(self.classes), self.name)

    def _columns(self, rows: Tensor) -> Tensor:
        frame = self.codec.decode(rows)
        with translate_errors(self.name, len(rows)):
            answer = self.function(frame)
        if isinstance(answer, Tensor):
            answer = answer.detach()
        return as_columns(answer, len(rows), self.name).to(rows.device)


def from_function(
    function: Callable[[Any], Any],
    codec: Codec,
    threshold: float | None = None,
    *,
    classes: Any = None,
    output: Output | None = None,
) -> FunctionClassifier:
    """Adapt a function; its output for a few rows says how many classes there are."""
    draft = FunctionClassifier(codec, (0, 1), None, function, output or "probability")
    columns = draft._columns(probe_rows(codec))
    known = checked_classes(
        range(count_classes(columns)) if classes is None else classes, draft.name
    )
    check_probabilities(columns, draft.output, len(known), draft.name)
    return FunctionClassifier(codec, known, threshold, function, draft.output)
