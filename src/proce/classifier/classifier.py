"""The interface of every model: its classes, its probabilities, one decision rule, and labels.

Rows are the codec's: a float64 array ``(n, f)``. Classes are named by their position.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from proce.arguments import brief
from proce.arrays import Array, Flags, Floats, Ints, blocks
from proce.compiled.kernel import NOBODY, kernel, part
from proce.errors import ModelError, did_you_mean
from proce.schema import Codec, Level
from proce.schema.features.levels import find_level, level_key, quoted
from proce.schema.frames.frame import count_rows

EVEN = 0.5  # where a model of two classes decides that has no threshold of its own


def deciding_chance(target: int, threshold: float | None) -> float:
    """Return from which probability of its target on a model of two classes decides for it."""
    # Rounded where it is what a threshold leaves: of 0.7 that is 0.3, not 0.30000000000000004.
    line = EVEN if threshold is None else threshold
    return line if target == 1 else round(1 - line, 12)


def decide(probabilities: Array, threshold: float | None) -> Ints:
    """Return the predicted class of probabilities ``(…, k)``, as a position."""
    # Without a threshold the likeliest class, the first of equals; with one, the second of
    # two classes where its probability reaches the threshold.
    *shape, n_classes = probabilities.shape
    predicted = np.empty(math.prod(shape), np.int64)
    chances = np.ascontiguousarray(probabilities, np.float64).reshape(-1, n_classes)
    write_predicted(chances, math.nan if threshold is None else threshold, predicted)
    return predicted.reshape(shape)


def likeliest_other(probabilities: Array, target: Array) -> Ints:
    """Return the likeliest class but the target ``(n,)``, or one for all, of chances ``(n, k)``."""
    other = np.empty(len(probabilities), np.int64)
    chances = np.ascontiguousarray(probabilities, np.float64)
    targets = np.broadcast_to(target, other.shape).astype(np.int64)
    write_likeliest(chances, targets, other)
    return other


@kernel
def write_likeliest(chances: Floats, other_than: Ints, likely: Ints) -> None:
    """Write the likeliest class but one ``(n,)`` of probabilities ``(n, k)``."""
    for n in range(len(chances)):
        likely[n] = likeliest(chances, n, other_than[n])


@kernel
def write_predicted(chances: Floats, threshold: float, predicted: Ints) -> None:
    """Write the predicted class of probabilities ``(n, k)``; see :func:`predicted_class`."""
    for n in range(len(chances)):
        predicted[n] = predicted_class(chances, n, threshold)


# A row is named by its position: a slice of each would be counted by its owner, which takes longer.
@part
def predicted_class(chances: Floats, n: int, threshold: float) -> int:
    """Return the class of a row of probabilities ``(n, k)``: the likeliest without a threshold."""
    if np.isnan(threshold):
        return likeliest(chances, n, NOBODY)
    return 1 if chances[n, 1] >= threshold else 0


@part
def likeliest(chances: Floats, n: int, other_than: int) -> int:
    """Return the first of the likeliest classes but one; a chance that is NaN counts as most."""
    best = -1
    for k in range(chances.shape[1]):
        chance = chances[n, k]
        if k != other_than and (best < 0 or chance > chances[n, best] or np.isnan(chance)):
            best = k
    return best


def name_missing(
    error: ModelError, missing: Array, names: tuple[str, ...], ask: Callable[[Array], object]
) -> ModelError:
    """Return an error that names the feature whose missing cells a model refuses."""
    # Where the model fails for another reason, the error is returned as it is.

    def refuses(position: int) -> bool:
        try:
            ask(np.array([position]))
        except ModelError:
            return True
        return False

    complete = np.flatnonzero(~missing.any(1))
    if not bool(missing.any()) or (len(complete) and refuses(int(complete[0]))):
        return error
    alone = missing & (missing.sum(1, keepdims=True) == 1)
    for feature in np.flatnonzero(alone.any(0)).tolist():
        row = int(alone[:, feature].astype(np.int32).argmax())
        if refuses(row):
            return _refusal(error, f"feature {names[feature]!r} is missing in row {row}")
    row = int(missing.any(1).astype(np.int32).argmax())
    listed = ", ".join(repr(names[f]) for f in np.flatnonzero(missing[row]).tolist())
    return _refusal(error, f"row {row} lacks {listed}")


def _refusal(error: ModelError, where: str) -> ModelError:
    return type(error)(
        f"{error} The model takes no missing cells there: {where}. Fill the column in, or put an"
        " imputer in front of the model, in one pipeline."
    )


_BLOCK_ROWS = 100_000  # rows that a model is asked about at a time


@runtime_checkable
class Classifier(Protocol):
    """A model behind one interface, whatever library made it."""

    @property
    def classes(self) -> tuple[Level, ...]:
        """The class labels, in the order of the probabilities' columns."""

    @property
    def threshold(self) -> float | None:
        """The probability from which a binary model predicts its second class."""
        # ``None``: the model predicts the likeliest class.

    def predict_proba(self, rows: Array) -> Array:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)``, in float64."""

    def predict(self, rows: Array) -> Array:
        """Return the predicted class of each row, as a position among the classes."""


@runtime_checkable
class DifferentiableClassifier(Classifier, Protocol):
    """A classifier whose probabilities have a gradient with respect to its own input."""

    def inputs(self, rows: Array) -> Array:
        """Return what the model itself is given for these rows, ``(n, w)``."""

    def gradient(self, rows: Array, target: Array | int) -> Array:
        """Return the gradient of p(target) with respect to the inputs, ``(n, w)``."""


@dataclass(frozen=True, eq=False)
class Adapter(ABC):
    """The base of all adapters: the codec of their rows, the classes and the decision rule."""

    codec: Codec
    classes: tuple[Level, ...]
    threshold: float | None

    def __post_init__(self) -> None:
        if self.threshold is not None:
            threshold = checked_threshold(self.threshold, self.classes)
            object.__setattr__(self, "threshold", threshold)

    def predict_proba(self, rows: Array) -> Array:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)``, in float64."""
        if len(rows) == 0:
            return np.empty((0, len(self.classes)), dtype=np.float64)
        try:
            return self._probabilities_of(rows)
        except ModelError as error:
            missing, names = self.codec.missing(rows), self.codec.schema.names
            raise name_missing(
                error, missing, names, lambda some: self._probabilities_of(rows[some])
            ) from error

    def predict(self, rows: Array) -> Array:
        """Return the predicted class of each row, as a position among the classes."""
        return decide(self.predict_proba(rows), self.threshold)

    @property
    def takes_units(self) -> bool:
        """Whether the model itself is given numbers on the unit range."""
        return False

    @property
    def takes_arrays(self) -> bool:
        """Whether raw values get the same answers as the frame that holds them, but sooner."""
        return False

    def predict_frame(self, frame: Any) -> Array:
        """Return the class probabilities ``(n, k)`` of the rows of a frame, in float64."""
        # The model is given the frame as it is, but for columns that are not of the schema. Where
        # the model cannot take the frame it is given exactly the same values in a frame, an array
        # or a tensor like those of its training rows.
        if count_rows(frame) == 0:
            return np.empty((0, len(self.classes)), dtype=np.float64)
        try:
            return self._probabilities_of_frame(frame)
        except ModelError as error:
            raw, names = self.codec.raw_of_frame(frame), self.codec.schema.names
            raise name_missing(
                error,
                self.codec.missing(raw),
                names,
                lambda some: self._probabilities_of_raw(raw[some]),
            ) from error

    def predict_raw(self, raw: Array) -> Array:
        """Return the class probabilities ``(n, k)`` of rows ``(n, f)`` in raw units, in float64."""
        # Numbers reach the model as they are; levels are given by their codes.
        if len(raw) == 0:
            return np.empty((0, len(self.classes)), dtype=np.float64)
        return self._probabilities_of_raw(raw)

    def with_codec(self, codec: Codec) -> Self:
        """Return the classifier for rows of a codec of the same features on another scale."""
        return replace(self, codec=codec)

    def _probabilities_of(self, rows: Array) -> Array:
        """Return the checked probabilities of at least one row."""
        return self._probabilities_of_raw(self.codec.to_raw(rows))

    @abstractmethod
    def _probabilities_of_frame(self, frame: Any) -> Array:
        """Return the checked probabilities of a frame of at least one row."""

    @abstractmethod
    def _probabilities_of_raw(self, raw: Array) -> Array:
        """Return the checked probabilities of at least one row in raw units."""


def kept_by(
    models: Sequence[Classifier], ask: Callable[[Classifier], Array], target: Array
) -> Flags:
    """Return in which models rows have their target ``(i,)``, ``(m, i)``."""
    # ``ask`` returns the probabilities ``(i, k)`` that a model gives the rows.
    return np.stack([decide(ask(model), model.threshold) == target for model in models])


def position_of(label: object, classes: Sequence[Level]) -> int:
    """Return where a class label stands among the classes; 1 and "1" differ."""
    # Classes True and False are also named by 1 and 0.
    plain = label.item() if isinstance(label, np.generic) else label
    same = [position for position, known in enumerate(classes) if str(known) == str(plain)]
    if isinstance(plain, int | float) and all(isinstance(known, bool) for known in classes):
        plain = bool(plain) if plain in (0, 1) else plain
    position = find_level(classes, plain)
    if position is not None:
        return position
    hint = did_you_mean(plain, classes)
    if same:
        near = classes[same[0]]
        hint = f" {near!r} is of type {type(near).__name__}; give the label as that type."
    raise ModelError(
        f"unknown class {brief(plain)}; the model's classes are {quoted(classes)}.{hint}"
    )


def checked_threshold(threshold: object, classes: Sequence[Level]) -> float:
    """Return a decision threshold that can be used, or say why it cannot."""
    number = float(threshold) if isinstance(threshold, Real) else math.nan
    if isinstance(threshold, (bool, np.bool)) or not 0 < number < 1:
        raise ModelError(
            f"the decision threshold is {threshold!r}; expected a number between 0 and 1, both"
            " excluded. Leave it out to use the model's own decision rule."
        )
    if len(classes) != 2:
        raise ModelError(
            f"a decision threshold needs a model of two classes; this one has {len(classes)}:"
            f" {quoted(classes)}. Leave threshold= out: the likeliest class is then predicted."
        )
    return number


def label_values(label: Any, name: str) -> NDArray[Any]:
    """Return labels as an array; one column counts as a list of them."""
    try:
        values = np.asarray(label)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged, or of another device
        raise ModelError(
            f"{name} is {brief(label)}, of which no array can be made; expected one label for each"
            " row."
        ) from error
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def checked_classes(classes: Any, name: str) -> tuple[Level, ...]:
    """Return class labels as plain Python values, at least two and each once."""
    has_values = hasattr(classes, "tolist") and not getattr(classes, "is_meta", False)
    listed = classes.tolist() if has_values else classes
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Sequence):
        raise ModelError(f"the classes of {name} are {brief(classes)}; expected a list of labels.")
    plain = tuple(_plain_class(label, name) for label in listed)
    if len(plain) < 2:
        raise ModelError(
            f"{name} knows {len(plain)} class{'es' * (not plain)}: {quoted(plain) or 'none'};"
            " expected at least two. Train it on rows of both outcomes."
        )
    if len({level_key(label) for label in plain}) != len(plain):
        raise ModelError(f"the classes of {name} are {quoted(plain)}; expected each once.")
    return plain


def _plain_class(label: Any, name: str) -> Level:
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, (str, bool, int, float)) or value != value:
        raise ModelError(
            f"the classes of {name} hold {brief(value)}; expected text, whole numbers or"
            " true/false. Several outputs at once, or labels of another type, are not supported."
        )
    return value


def predict_in_blocks(classifier: Classifier, rows: Array) -> Array:
    """Return the class of each of many rows ``(n, f)``, asking about a block of them at a time."""
    return np.concatenate([classifier.predict(block) for block in blocks(rows, _BLOCK_ROWS)])


def read_labels(label: Any, n_rows: int) -> tuple[tuple[Level, ...], Ints]:
    """Return the sorted classes, and each row's class as a position ``(n,)``."""
    unique, positions = distinct_labels(label, "label", n_rows)
    if len(unique) < 2:
        raise ModelError(
            f"all {n_rows} labels are {unique.tolist()[0]!r}; expected at least two classes."
            if len(unique)
            else "there are no labels; expected at least one row of each class."
        )
    return checked_classes(unique, "the label"), positions


def distinct_labels(label: Any, name: str, n_rows: int) -> tuple[Array, Ints]:
    """Return the sorted labels, each once, and which of them each row has, ``(n,)``."""
    values = label_values(label, name)
    if values.shape != (n_rows,):
        raise ModelError(
            f"{name} has the shape {values.shape} for {n_rows} rows; expected one label for each"
            " row."
        )
    missing = pd.isna(values)
    if n_missing := int(missing.sum()):
        raise ModelError(
            f"{name} has {n_missing:,} missing label{'s' * (n_missing != 1)}; expected one label"
            f" for each row. Leave these rows out, of which row {int(missing.argmax())} is the"
            " first, or fill them in."
        )
    try:
        unique, positions = np.unique(values, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values})
        raise ModelError(f"{name} mixes {' and '.join(kinds)} values; expected one type.") from None
    return unique, positions.astype(np.int64)
