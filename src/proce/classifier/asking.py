"""How a model is asked about a frame as its owner would ask it, and about rows in raw units.

The frame that a person gets is the frame that is sent to the model, bit for bit. Only where the
model cannot take that frame are its values put into a frame like the training rows, and then they
are exactly the same values.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.classifier.classifier import Adapter, Classifier
from proce.errors import ModelError
from proce.schema import Codec, Continuous, Layout
from proce.schema.shown import ReadFrame, converted, fresh_frame

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
    if isinstance(classifier, Adapter) and classifier.takes_arrays:
        try:
            return classifier.predict_raw(read.raw)
        except ModelError:
            pass  # as above
    return predict_read_frame(classifier, read)


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


def frames_to_try(
    frame: Any, codec: Codec, layout: Layout, *, same_levels: bool
) -> Iterator[tuple[Any, bool]]:
    """Yield a frame as it is, and in a model's own layout where it may not take that.

    With each comes whether it is the last; ``same_levels`` are for models, like LightGBM and
    XGBoost, that read levels of other dtypes as other levels.
    """
    given = Layout.of(frame)
    differing = {name for name in layout.columns if not _same_dtype(name, given, layout)}
    numbers = {feature.name for feature in codec.schema if isinstance(feature, Continuous)}
    other_levels = same_levels and bool(differing - numbers)
    if given.library is layout.library and not other_levels:
        yield fresh_frame(frame, layout.columns), not differing
        if not differing:
            return
    yield converted(codec, frame, layout), True


def predict_in_layout(
    ask: Callable[[Any], Answer], frame: Any, codec: Codec, layout: Layout, *, same_levels: bool
) -> Answer:
    """Ask a model about a frame as it is, or, where it cannot take that, in its own layout."""
    for given, is_last in frames_to_try(frame, codec, layout, same_levels=same_levels):
        try:
            return ask(given)
        except Exception:
            if is_last:
                raise
    raise AssertionError("one of the frames is the last")


def _same_dtype(name: str, first: Layout, second: Layout) -> bool:
    own, other = first.dtypes[name], second.dtypes[name]
    if own is other:
        return True
    if isinstance(own, pd.CategoricalDtype) and isinstance(other, pd.CategoricalDtype):
        # To pandas the order of categories makes no difference; to a booster it may.
        return own.categories.equals(other.categories) and own.ordered == other.ordered
    return bool(own == other)
