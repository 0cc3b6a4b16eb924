"""Any callable from a frame to probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proce.arrays import Array
from proce.classifier.adapters.probe import check_answers, probe_rows
from proce.classifier.classifier import Adapter, checked_classes
from proce.classifier.prediction import (
    Output,
    as_columns,
    check_probabilities,
    count_classes,
    predict_in_layout,
    translate_errors,
)
from proce.schema import Codec
from proce.schema.codec import frame_of_raw
from proce.schema.frames.frame import count_rows


@dataclass(frozen=True, eq=False)
class FunctionClassifier(Adapter):
    """A function that is called with a fresh frame that looks like the training rows."""

    function: Callable[[Any], Any]
    output: Output

    @property
    def name(self) -> str:
        """What the model is called in messages."""
        return f"the function {getattr(self.function, '__name__', type(self.function).__name__)}"

    def _probabilities_of_raw(self, raw: Array) -> Array:
        frame = frame_of_raw(self.codec, raw, self.codec.layout)
        return self._checked(self._columns(frame))

    def _probabilities_of_frame(self, frame: Any) -> Array:
        layout = self.codec.layout
        columns = predict_in_layout(self._columns, frame, self.codec, layout, same_levels=False)
        return self._checked(columns)

    def _checked(self, columns: Array) -> Array:
        return check_probabilities(columns, self.output, len(self.classes), self.name)

    def _columns(self, frame: Any) -> Array:
        n_rows = count_rows(frame)
        with translate_errors(self.name, n_rows):
            answer = self.function(frame)
        return as_columns(answer, n_rows, self.name)


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
    columns = draft._columns(codec.decode(probe_rows(codec)))
    known = checked_classes(
        range(count_classes(columns)) if classes is None else classes, draft.name
    )
    check_answers(columns, draft.output, len(known), draft.name, codec)
    return FunctionClassifier(codec, known, threshold, function, draft.output)
