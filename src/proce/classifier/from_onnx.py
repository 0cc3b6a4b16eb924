"""ONNX models, run by onnxruntime: one tensor of columns, or one input per column."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import narwhals as nw
import numpy as np
import torch
from torch import Tensor

from proce.classifier.answer import (
    Output,
    as_columns,
    asking,
    checked,
    n_classes_of,
)
from proce.classifier.classifier import Adapter, checked_classes, position_of
from proce.classifier.encoding import FrameFunction, as_encoding, one_hot
from proce.classifier.probe import detect_output, probe_rows
from proce.errors import MissingExtraError, ModelError, ModelInterfaceError, ModelOutputError
from proce.schema import Codec
from proce.schema.feature import shown

_NAME = "the ONNX model"
_DTYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}
Feed = Callable[[Tensor], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class OnnxClassifier(Adapter):
    """An onnxruntime session, what it is fed, and which of its outputs is read."""

    session: Any
    feed: Feed
    reads: tuple[str, ...]  # the scores, and where there are any the labels
    output: Output

    def _ask(self, rows: Tensor) -> Tensor:
        (scores,) = _run(self.session, self.feed, rows, self.reads[:1])
        columns = _columns(scores, self.classes, len(rows)).to(rows.device)
        return checked(columns, self.output, len(self.classes), _NAME)


def from_onnx(
    model: str | Path | bytes,
    codec: Codec,
    threshold: float | None = None,
    *,
    classes: Any = None,
    encoding: str | FrameFunction | None = None,
    output: Output | None = None,
) -> OnnxClassifier:
    """Adapt an ONNX file, or its bytes; weights kept in other files are refused."""
    session = _session(_read(model) if isinstance(model, (str, Path)) else model)
    feed = _feed(session, codec, encoding)
    rows = probe_rows(codec)
    reads = _reads(session)
    answers = _run(session, feed, rows, reads)
    known = None if classes is None else checked_classes(classes, _NAME)
    if known is None:
        known = _classes(answers[0], len(rows))
    columns = _columns(answers[0], known, len(rows))
    if output is None:
        output = detect_output(columns, _NAME)
    probabilities = checked(columns, output, len(known), _NAME)
    if len(answers) == 2:
        _refuse_other_labels(answers[1], probabilities, known)
    return OnnxClassifier(codec, known, threshold, session, feed, reads, output)


def _read(path: str | Path) -> bytes:
    if Path(path).suffix != ".onnx":
        raise ModelInterfaceError(
            f"a model given as a file must be ONNX, its name ending in .onnx; got {str(path)!r}."
            " Load other files yourself and give the model."
        )
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ModelError(
            f"the ONNX file {str(path)!r} cannot be read: {error.strerror}."
        ) from error


def _session(content: bytes) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(
            "an ONNX model needs onnxruntime, which is not installed; install it with"
            " pip install 'proce[onnx]'."
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # its errors are raised; nothing is printed
    options.intra_op_num_threads = torch.get_num_threads()
    with TemporaryDirectory() as empty:  # the only place where weights in other files may lie
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", empty
        )
        try:
            return onnxruntime.InferenceSession(
                content, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            line = str(error).splitlines()[0]
            if "xternal data" in line:
                raise ModelError(
                    "the ONNX model keeps weights in other files, which are not read; save it"
                    " with its weights inside."
                ) from error
            raise ModelError(
                f"this is not an ONNX model that onnxruntime can run: {line}. Export it again"
                " or update onnxruntime."
            ) from error


def _run(session: Any, feed: Feed, rows: Tensor, reads: tuple[str, ...]) -> list[Any]:
    fed = feed(rows)
    with asking(_NAME, len(rows)):
        answers: list[Any] = session.run(list(reads), fed)
    return answers


def _feed(session: Any, codec: Codec, encoding: str | FrameFunction | None) -> Feed:
    inputs = session.get_inputs()
    for each in inputs:
        if each.type not in _DTYPES or len(each.shape) > 2:
            raise ModelInterfaceError(
                f"{_NAME} has the input {each.name!r} of type {each.type} and shape {each.shape};"
                " expected numbers or text, in one or two dimensions."
            )
        if each.shape and isinstance(each.shape[0], int):
            raise ModelInterfaceError(
                f"{_NAME} takes batches of exactly {each.shape[0]}; expected any number of rows."
                " Export it with a dynamic batch dimension."
            )
    if len(inputs) == 1 and (inputs[0].name not in codec.schema.columns or encoding is not None):
        return _tensor_feed(inputs[0], codec, encoding)
    if encoding is not None:
        raise ModelError(
            f"encoding= is for a model of one input; {_NAME} has {len(inputs)}. Leave it out."
        )
    names = [each.name for each in inputs]
    if absent := [name for name in names if name not in codec.schema.columns]:
        raise ModelInterfaceError(
            f"{_NAME} has the inputs {shown(names)}; {absent[0]!r} is not a column of the rows,"
            f" which are {shown(codec.schema.columns)}. Export it with one input per column, or"
            " give a callable from a frame to probabilities."
        )
    return _named_feed(inputs, codec)


def _tensor_feed(given: Any, codec: Codec, encoding: str | FrameFunction | None) -> Feed:
    dtype = _DTYPES[given.type]
    width = given.shape[1] if len(given.shape) == 2 else None
    if encoding is not None:
        encode = as_encoding(encoding, codec)
        return lambda rows: {given.name: encode(rows.cpu()).detach().numpy().astype(dtype)}

    def numbers(rows: Tensor) -> dict[str, Any]:
        opened = nw.from_native(codec.decode(rows), eager_only=True)
        return {given.name: np.column_stack([_cast(opened[c], dtype) for c in opened.columns])}

    frame = nw.from_native(codec.decode(probe_rows(codec)[:1]), eager_only=True)
    text = [c for c in frame.columns if not (frame[c].dtype.is_numeric() or _is_flag(frame[c]))]
    n_columns = len(frame.columns)
    if isinstance(width, int) and width != n_columns:
        raise ModelError(
            f"{_NAME} takes {width} columns; the rows have {n_columns}, or {one_hot(codec).width}"
            " one-hot. Say with encoding= how its training rows were encoded ('one_hot', 'label'"
            " or a function from a frame)."
        )
    if text and dtype is not np.object_:
        raise ModelError(
            f"{_NAME} takes one tensor of numbers, and the column {text[0]!r} is text. Say with"
            " encoding= how its training rows were encoded ('one_hot', 'label' or a function from"
            " a frame), or export it with one input per column."
        )
    return numbers


def _named_feed(inputs: Any, codec: Codec) -> Feed:
    def feed(rows: Tensor) -> dict[str, Any]:
        opened = nw.from_native(codec.decode(rows), eager_only=True)
        fed = {}
        for each in inputs:
            values = _cast(opened[each.name], _DTYPES[each.type])
            fed[each.name] = values[:, None] if len(each.shape) == 2 else values
        return fed

    return feed


def _is_flag(column: "nw.Series[Any]") -> bool:
    return column.dtype == nw.Boolean


def _cast(column: "nw.Series[Any]", dtype: Any) -> Any:
    """Return a column in an input's dtype; ONNX has a missing float, and no other missing."""
    if not np.issubdtype(dtype, np.floating):
        is_float = column.dtype.is_float()
        gone = (column.is_null() | column.is_nan() if is_float else column.is_null()).to_numpy()
        if gone.any():
            raise ModelError(
                f"feature {column.name!r} is missing in row {int(gone.argmax())}, and {_NAME}"
                f" takes it as {np.dtype(dtype).name}, which cannot be missing. Fill it in."
            )
    if dtype is np.object_:
        return np.array([str(value) for value in column.to_list()], dtype=np.object_)
    return column.to_numpy().astype(dtype)


def _reads(session: Any) -> tuple[str, ...]:
    """Return the name of the scores' output and, where there is one, of the labels'."""
    outputs = session.get_outputs()
    if len(outputs) == 1:
        return (outputs[0].name,)
    labels = [o for o in outputs if o.type in ("tensor(int64)", "tensor(string)", "tensor(bool)")]
    scores = [o for o in outputs if o not in labels]
    scores = [o for o in scores if "prob" in o.name.lower()] or scores
    if len(scores) != 1 or len(labels) > 1:
        raise ModelInterfaceError(
            f"{_NAME} has the outputs {shown([o.name for o in outputs])}; expected one with the"
            " probabilities and at most one more with the labels. Export those alone."
        )
    return tuple(o.name for o in scores + labels)


def _classes(scores: Any, n_rows: int) -> Any:
    """Return the keys of a map output, or the columns' positions."""
    if isinstance(scores, list) and scores and isinstance(scores[0], dict):
        return checked_classes(list(scores[0]), _NAME)
    return tuple(range(n_classes_of(as_columns(scores, n_rows, _NAME))))


def _columns(scores: Any, classes: Any, n_rows: int) -> Tensor:
    if not (isinstance(scores, list) and scores and isinstance(scores[0], dict)):
        return as_columns(scores, n_rows, _NAME)
    if set(scores[0]) != set(classes):
        raise ModelOutputError(
            f"{_NAME} gives probabilities for {shown(list(scores[0]))}; expected the classes"
            f" {shown(classes)}. Leave classes= out."
        )
    return as_columns([[row[label] for label in classes] for row in scores], n_rows, _NAME)


def _refuse_other_labels(labels: Any, probabilities: Tensor, classes: Any) -> None:
    """Hold the labels that the model itself gives against the classes, and their order."""
    plain = np.asarray(labels).ravel().tolist()
    if unknown := [label for label in plain if label not in classes]:
        raise ModelOutputError(
            f"{_NAME} answers with the label {unknown[0]!r}, which is not among the classes"
            f" {shown(classes)}. Give classes= in the order of its columns."
        )
    given = torch.tensor([position_of(label, classes) for label in plain])
    if (given == probabilities.argmax(-1)).double().mean() < 0.5:
        raise ModelOutputError(
            f"{_NAME} answers with other labels than its likeliest classes: the order"
            f" {shown(classes)} is not that of its columns. Give classes= in their order."
        )
