"""The inputs of an ONNX model: one tensor of columns, or one input per column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from proce.arrays import Array
from proce.classifier.adapters.probe import probe_rows
from proce.classifier.encoding import FrameEncoding, FrameFunction, as_encoding, one_hot
from proce.errors import ModelError, ModelInterfaceError
from proce.schema import Codec
from proce.schema.codec import frame_of_raw
from proce.schema.features.levels import shown
from proce.schema.shown import converted

NAME = "the ONNX model"
Inputs = dict[str, Any]
_DTYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


@dataclass(frozen=True, eq=False)
class Feed:
    """What turns rows, or frames, into the inputs of a session.

    Attributes
    ----------
    codec
        The features, and the layout of the training rows.
    from_frame
        From a frame like the training rows to the inputs.
    from_rows
        From rows ``(n, f)`` of ``codec.by_range`` to the inputs, where no frame is needed for that.
    takes_any
        Whether ``from_frame`` takes any frame, and not only those like the training rows.
    """

    codec: Codec
    from_frame: Callable[[Any], Inputs]
    from_rows: Callable[[Array], Inputs] | None = None
    takes_any: bool = False

    def of_rows(self, rows: Array) -> Inputs:
        """Return the inputs for rows ``(n, f)`` of the codec."""
        if self.from_rows is not None:
            return self.from_rows(self.codec.on_range(rows))
        return self.of_raw(self.codec.to_raw(rows))

    def of_raw(self, raw: Array) -> Inputs:
        """Return the inputs for rows ``(n, f)`` in raw units."""
        if self.from_rows is not None:
            return self.from_rows(self.codec.by_range.to_unit(raw))
        return self.from_frame(frame_of_raw(self.codec, raw, self.codec.layout))

    def of_frame(self, frame: Any) -> Inputs:
        """Return the inputs for the rows of any frame."""
        if self.takes_any:
            return self.from_frame(frame)
        return self.from_frame(converted(self.codec, frame, self.codec.layout))


def feed_of(inputs: list[Any], codec: Codec, encoding: str | FrameFunction | None) -> Feed:
    """Return a function from rows to the session's inputs, or say why there is none."""
    for model_input in inputs:
        if model_input.type not in _DTYPES or len(model_input.shape) > 2:
            raise ModelInterfaceError(
                f"{NAME} has the input {model_input.name!r} of type {model_input.type} and shape"
                f" {model_input.shape}; expected numbers or text, in one or two dimensions."
            )
        if model_input.shape and isinstance(model_input.shape[0], int):
            raise ModelInterfaceError(
                f"{NAME} takes batches of exactly {model_input.shape[0]}; expected any number of"
                " rows. Export it with a dynamic batch dimension."
            )
    if len(inputs) == 1 and (inputs[0].name not in codec.schema.columns or encoding is not None):
        return _tensor_feed(inputs[0], codec, encoding)
    if encoding is not None:
        raise ModelError(
            f"encoding= is for a model of one input; {NAME} has {len(inputs)}. Leave it out."
        )
    names = [model_input.name for model_input in inputs]
    if absent := [name for name in names if name not in codec.schema.columns]:
        raise ModelInterfaceError(
            f"{NAME} has the inputs {shown(names)}; {absent[0]!r} is not a column of the rows,"
            f" which are {shown(codec.schema.columns)}. Export it with one input per column, or"
            " give a callable from a frame to probabilities."
        )
    return _named_feed(inputs, codec)


def _tensor_feed(model_input: Any, codec: Codec, encoding: str | FrameFunction | None) -> Feed:
    dtype = _DTYPES[model_input.type]
    width = model_input.shape[1] if len(model_input.shape) == 2 else None
    if encoding is not None:
        encode = as_encoding(encoding, codec)

        def encoded(inputs: Array) -> Inputs:
            return {model_input.name: inputs.astype(dtype)}

        if isinstance(encode, FrameEncoding):
            return Feed(codec, lambda frame: encoded(encode.of_frame(frame)), takes_any=True)
        return Feed(
            codec,
            lambda frame: encoded(encode.of_range(codec.by_range.encode(frame))),
            lambda rows: encoded(encode.of_range(rows)),
            takes_any=True,
        )

    def numbers(frame: Any) -> Inputs:
        opened = nw.from_native(frame, eager_only=True)
        return {
            model_input.name: np.column_stack([_cast(opened[c], dtype) for c in opened.columns])
        }

    frame = nw.from_native(codec.decode(probe_rows(codec)[:1]), eager_only=True)
    dtypes = frame.schema
    text = [c for c in frame.columns if not (dtypes[c].is_numeric() or dtypes[c] == nw.Boolean)]
    n_columns = len(frame.columns)
    if isinstance(width, int) and width != n_columns:
        raise ModelError(
            f"{NAME} takes {width} columns; the rows have {n_columns}, or {one_hot(codec).width}"
            " one-hot. Say with encoding= how its training rows were encoded ('one_hot', 'label'"
            " or a function from a frame)."
        )
    if text and dtype is not np.object_:
        raise ModelError(
            f"{NAME} takes one tensor of numbers, and the column {text[0]!r} is text. Say with"
            " encoding= how its training rows were encoded ('one_hot', 'label' or a function from"
            " a frame), or export it with one input per column."
        )
    return Feed(codec, numbers)


def _named_feed(model_inputs: Any, codec: Codec) -> Feed:
    def by_name(frame: Any) -> Inputs:
        opened = nw.from_native(frame, eager_only=True)
        values_by_name = {}
        for model_input in model_inputs:
            values = _cast(opened[model_input.name], _DTYPES[model_input.type])
            values_by_name[model_input.name] = (
                values[:, None] if len(model_input.shape) == 2 else values
            )
        return values_by_name

    return Feed(codec, by_name)


def _cast(column: "nw.Series[Any]", dtype: Any) -> Any:
    """Return a column in an input's dtype; in ONNX only floats can be missing."""
    if not np.issubdtype(dtype, np.floating):
        is_float = column.dtype.is_float()
        missing = (column.is_null() | column.is_nan() if is_float else column.is_null()).to_numpy()
        if missing.any():
            raise ModelError(
                f"feature {column.name!r} is missing in row {int(missing.argmax())}, and {NAME}"
                f" takes it as {np.dtype(dtype).name}, which cannot be missing. Fill it in."
            )
    if dtype is np.object_:
        return np.array([str(value) for value in column.to_list()], dtype=np.object_)
    return column.to_numpy().astype(dtype)
