"""How a model is asked about a frame as its owner would ask it, and about rows in raw units.

The frame that a person gets is the frame that is sent to the model, bit for bit. Only where the
model cannot take that frame are its values put into a frame like the training rows, and then they
are exactly the same values.

Its answers are checked here. The sum of a row may be off by 1e-3 and stays as the model gave it. An
entry that lies outside of [0, 1] by no more than rounding is moved onto the nearer end.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
import pandas as pd

from proce.arguments import kind_name
from proce.arrays import Array, Flags, Floats
from proce.classifier.classifier import Adapter, Classifier
from proce.compiled.elementary import write_probabilities
from proce.errors import ModelError, ModelOutputError, ProceError, first_line
from proce.schema import Codec, Continuous, Layout
from proce.schema.round_trip import ReadFrame, converted, fresh_frame

Answer = TypeVar("Answer")


@runtime_checkable
class FrameClassifier(Protocol):
    """A classifier that can be asked about frames and raw values, as all adapters can."""

    @property
    def takes_units(self) -> bool:
        """Whether the model itself is given numbers on the unit range."""

    def predict_frame(self, frame: Any) -> Array:
        """Return the class probabilities ``(n, k)`` of the rows of a frame."""

    def predict_raw(self, raw: Array) -> Array:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)`` in raw units."""


def takes_frames(classifier: Classifier) -> TypeGuard[FrameClassifier]:
    """Return whether a classifier can be asked about frames, as all adapters can."""
    return isinstance(classifier, Adapter | FrameClassifier)  # the first is quick to find out


def predict_frame(classifier: Classifier, frame: Any, codec: Codec) -> Array:
    """Return the class probabilities ``(n, k)`` of the rows of a frame."""
    # A classifier that takes the rows of a codec only is asked about those.
    if takes_frames(classifier):
        return classifier.predict_frame(frame)
    return classifier.predict_proba(codec.encode(frame))


def predict_read_frame(classifier: Classifier, read: ReadFrame) -> Array:
    """Return the class probabilities ``(n, k)`` of the rows of a frame that a codec has read."""
    # A model that is given numbers on the unit range gets them from what was read, and no frame is
    # made for it.
    if not takes_frames(classifier):
        return classifier.predict_proba(read.codec.to_unit(read.raw))
    if classifier.takes_units:
        try:
            return classifier.predict_raw(read.raw)
        except ModelError:
            pass  # what is asked about the frame names the cell that is to blame
    return classifier.predict_frame(read.frame)


def predict_shown(classifier: Classifier, read: ReadFrame) -> Array:
    """Return what `predict_read_frame` returns, without a frame where a model is known to agree."""
    # What a person is told in the end comes from frames.
    if not len(read.raw):
        return np.empty((0, len(classifier.classes)))
    if not isinstance(classifier, Adapter) or classifier.takes_units:
        return predict_read_frame(classifier, read)
    if classifier.takes_arrays:
        try:
            return classifier.predict_raw(read.raw)
        except ModelError:
            pass  # as above
    return classifier.predict_frame(read.frame)


def predict_changed(
    classifier: Classifier, rows: Array, factual: Array, raw: Array, codec: Codec
) -> Array:
    """Return the class probabilities ``(n, k)`` of rows ``(n, f)`` that began as other rows."""
    # A cell that is as it was goes to the model as it came in, bit for bit, unless the model is
    # given numbers on the unit range: a last bit makes no difference to such a model.
    values = model_inputs(classifier, rows, factual, raw, codec)
    return predictor_of(classifier)(values)


def model_inputs(
    classifier: Classifier, rows: Array, factual: Array, raw: Array | None, codec: Codec
) -> Array:
    """Return rows ``(…, f)`` as a model is asked about them: on the unit range or in raw units."""
    if not takes_frames(classifier) or classifier.takes_units:
        return rows
    before = codec.to_raw(factual) if raw is None else raw
    return codec.raw_of_changes(rows, factual, before)


def predictor_of(classifier: Classifier) -> Callable[[Array], Array]:
    """Return what gives class probabilities ``(n, k)`` of what :func:`model_inputs` returned."""
    if not takes_frames(classifier) or classifier.takes_units:
        return classifier.predict_proba
    if isinstance(classifier, Adapter):  # whose predict_raw only looks whether there are rows
        return classifier._probabilities_of_raw
    return classifier.predict_raw


def predict_raw(classifier: Classifier, raw: Array, codec: Codec) -> Array:
    """Return the class probabilities ``(n, k)`` of rows ``(n, f)`` in raw units and level codes."""
    # A classifier that takes the rows of a codec only is asked about those.
    if takes_frames(classifier):
        return classifier.predict_raw(raw)
    return classifier.predict_proba(codec.to_unit(raw))


def predict_in_layout(
    ask: Callable[[Any], Answer], frame: Any, codec: Codec, layout: Layout, *, same_levels: bool
) -> Answer:
    """Ask a model about a frame as it is, or, where it cannot take that, in its own layout."""
    # ``same_levels`` are for models, like LightGBM and XGBoost, that read levels of other dtypes as
    # other levels.
    given = Layout.of(frame)
    differing = {name for name in layout.columns if not _same_dtype(name, given, layout)}
    numbers = {feature.name for feature in codec.schema if isinstance(feature, Continuous)}
    other_levels = same_levels and bool(differing - numbers)
    if given.library is layout.library and not other_levels:
        fresh = fresh_frame(frame, layout.columns)
        try:
            return ask(fresh)
        except Exception:
            if not differing:
                raise
    return ask(converted(codec, frame, layout))


def _same_dtype(name: str, first: Layout, second: Layout) -> bool:
    own, other = first.dtypes[name], second.dtypes[name]
    if own is other:
        return True
    if isinstance(own, pd.CategoricalDtype) and isinstance(other, pd.CategoricalDtype):
        # To pandas the order of categories makes no difference; to a booster it may.
        return own.categories.equals(other.categories) and own.ordered == other.ordered
    return bool(own == other)


Output = Literal["logit", "probability"]
SUM_TOLERANCE = 1e-3
_MAX_ROUNDING = 1e-6


@contextmanager
def translate_errors(name: str, n_rows: int, advice: str = "") -> Iterator[None]:
    """Turn whatever a model raises into a `ModelError` that shows the first line of it."""
    try:
        yield
    except ProceError:
        raise
    except Exception as error:
        said = first_line(error) if str(error).strip() else "no message"
        raise ModelError(
            f"{name} failed on {n_rows} row{'s' * (n_rows != 1)}:"
            f" {type(error).__name__}: {said}.{advice}"
        ) from error


def as_columns(answer: Any, n_rows: int, name: str) -> Array:
    """Return an answer of any library as a float64 array ``(n, m)``."""
    if answer is None:
        raise ModelOutputError(
            f"{name} answered None; expected probabilities of shape ({n_rows}, k). Does it return"
            " what it computes?"
        )
    if _is_complex(answer):
        raise ModelOutputError(
            f"{name} answered with complex numbers; expected probabilities of shape ({n_rows}, k),"
            " real numbers from 0 to 1."
        )
    try:
        values = np.array(detach(answer), dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelOutputError(
            f"{name} answered with {kind_name(answer)} that is not an array of numbers;"
            f" expected probabilities of shape ({n_rows}, k), one column per class."
        ) from None
    check_shape(values.shape, n_rows, name)
    return values[:, None] if values.ndim == 1 else values


def check_shape(shape: tuple[int, ...], n_rows: int, name: str) -> None:
    """Refuse an answer of a shape that no probabilities of so many rows have."""
    if len(shape) not in (1, 2) or shape[0] != n_rows or 0 in shape[1:]:
        raise ModelOutputError(
            f"{name} gave an answer of shape {tuple(shape)} for {n_rows} rows; expected"
            f" ({n_rows}, k) with a column per class, or ({n_rows},) for the second of two classes."
        )


def detach(answer: Any) -> Any:
    """Return a tensor of PyTorch, on whatever device and with a gradient or not, as an array."""
    # Anything else is returned as it is.
    if not hasattr(answer, "detach"):
        return answer
    values = answer.detach().cpu()
    return (values.double() if values.is_floating_point() else values).numpy()


def _is_complex(answer: Any) -> bool:
    dtype = getattr(answer, "dtype", None)
    return getattr(dtype, "kind", "") == "c" or bool(getattr(dtype, "is_complex", False))


def to_probabilities(columns: Floats, output: Output) -> Floats:
    """Return columns ``(n, m)`` as class probabilities ``(n, k)``."""
    # A single column holds the second of two classes.
    if output == "probability":
        if columns.shape[1] > 1:
            return columns
        return np.concatenate([1 - columns, columns], axis=-1)
    probabilities = np.empty((len(columns), count_classes(columns)))
    write_probabilities(np.ascontiguousarray(columns, np.float64), probabilities)
    return probabilities


def count_classes(columns: Array) -> int:
    """Return how many classes the columns ``(n, m)`` of an output describe."""
    return max(2, columns.shape[1])


def _by_number(row: int) -> str:
    return f"row {row}"


def check_probabilities(
    columns: Array,
    output: Output,
    n_classes: int,
    name: str,
    row_words: Callable[[int], str] = _by_number,
) -> Array:
    """Return columns ``(n, m)`` as sound probabilities ``(n, k)``, or name the row that is not."""
    # ``row_words`` says which row that is, given its position.
    if count_classes(columns) != n_classes:
        raise ModelOutputError(
            f"{name} speaks of {count_classes(columns)} classes, and {n_classes} are expected."
            " Give classes= with one label per column, in the order of the columns."
        )
    if output == "logit":
        probabilities = to_probabilities(columns, output)
        if np.isnan(probabilities[:, 0]).any():
            _refuse_entries(probabilities, name, row_words)
        return probabilities
    low, high = float(columns.min()), float(columns.max())
    if not (low >= 0 and high <= 1):  # NaN fails both
        _refuse_entries(columns, name, row_words)
        columns = np.clip(columns, 0, 1)
    if columns.shape[1] > 1:
        _refuse_sums(columns, name, row_words)
    return to_probabilities(columns, output)


def lies_beyond(columns: Array) -> Flags:
    """Return which entries are no probabilities, not even up to rounding, in the same shape."""
    beyond: Flags = (columns < -_MAX_ROUNDING) | (columns > 1 + _MAX_ROUNDING)
    return beyond


def _refuse_sums(probabilities: Array, name: str, row_words: Callable[[int], str]) -> None:
    sums = probabilities.sum(-1)
    off = np.abs(sums - 1) > SUM_TOLERANCE
    if off.any():
        row = int(off.argmax())
        raise ModelOutputError(
            f"{name}: {row_words(row)} has probabilities {_listed(probabilities[row])}, which sum"
            f" to {sums[row].item():.6g}; expected 1. Normalise them, or say output='logit' where"
            " the model gives scores."
        )


def _refuse_entries(probabilities: Array, name: str, row_words: Callable[[int], str]) -> None:
    for bad, what in (
        (np.isnan(probabilities), "NaN among its probabilities"),
        (lies_beyond(probabilities), "a probability outside the range from 0 to 1"),
    ):
        rows = bad.any(-1)
        if rows.any():
            row = int(rows.argmax())
            raise ModelOutputError(
                f"{name}: {row_words(row)} has {what}: {_listed(probabilities[row])}. Ask the model"
                " for that row directly to see why."
            )


def _listed(values: Array) -> str:
    few = ", ".join(f"{value:.6g}" for value in values[:6].tolist())
    return f"[{few}{', …' if len(values) > 6 else ''}]"
