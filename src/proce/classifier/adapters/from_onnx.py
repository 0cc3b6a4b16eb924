"""ONNX models, run by onnxruntime: the session, what it is fed, and which output is read."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import narwhals as nw
import numpy as np

from proce.arrays import Array
from proce.classifier.adapters.probe import check_answers, detect_output, probe_rows
from proce.classifier.classifier import Adapter, checked_classes, decide, position_of
from proce.classifier.encoding import FrameEncoding, FrameFunction, as_encoding, one_hot
from proce.classifier.prediction import (
    Output,
    as_columns,
    check_probabilities,
    count_classes,
    translate_errors,
)
from proce.errors import MissingExtraError, ModelError, ModelInterfaceError, ModelOutputError
from proce.schema import Codec
from proce.schema.codec import frame_of_raw
from proce.schema.features.levels import level_key, quoted
from proce.schema.round_trip import converted

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
    """What turns rows, or frames, into the inputs of a session."""

    codec: Codec  # the features, and the layout of the training rows
    from_frame: Callable[[Any], Inputs]  # From a frame like the training rows to the inputs
    # From rows ``(n, f)`` of ``codec.by_range`` to the inputs, where no frame is needed for that
    from_rows: Callable[[Array], Inputs] | None = None
    # Whether ``from_frame`` takes any frame, and not only those like the training rows
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
            f"{NAME} has the inputs {quoted(names)}; {absent[0]!r} is not a column of the rows,"
            f" which are {quoted(codec.schema.columns)}. Export it with one input per column, or"
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


@dataclass(frozen=True, eq=False)
class OnnxClassifier(Adapter):
    """An onnxruntime session, the inputs it takes, and which of its outputs is read."""

    # The file's bytes: everything that another process needs to open the session again
    content: bytes = field(repr=False)
    session: Any  # the session, and what turns rows into its inputs
    feed: Feed
    # The name of the output with the scores and, if there is one, of that with the labels
    output_names: tuple[str, ...]
    encoding: str | FrameFunction | None  # As given to :func:`~proce.classifier.as_classifier`
    output: Output

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled or copied: all but the session, which a process opens itself."""
        return {k: v for k, v in vars(self).items() if k not in ("session", "feed")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        session = open_session(state["content"])
        feed = feed_of(session.get_inputs(), state["codec"], state["encoding"])
        vars(self).update(state, session=session, feed=feed)

    def with_codec(self, codec: Codec) -> Self:
        """Return the model for rows of a codec of the same features; its inputs are the same."""
        feed = feed_of(self.session.get_inputs(), codec, self.encoding)
        return replace(self, codec=codec, feed=feed)

    @property
    def takes_units(self) -> bool:
        """Whether the session is given numbers on the unit range."""
        return self.feed.from_rows is not None

    def _probabilities_of(self, rows: Array) -> Array:
        return self._answers(self.feed.of_rows(rows), len(rows))

    def _probabilities_of_raw(self, raw: Array) -> Array:
        return self._answers(self.feed.of_raw(raw), len(raw))

    def _probabilities_of_frame(self, frame: Any) -> Array:
        return self._answers(self.feed.of_frame(frame), len(frame))

    def _answers(self, inputs: Inputs, n_rows: int) -> Array:
        """Return the checked probabilities of the inputs for some rows."""
        (scores,) = _run(self.session, inputs, n_rows, self.output_names[:1])
        columns = _columns(scores, self.classes, n_rows)
        return check_probabilities(columns, self.output, len(self.classes), NAME)


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
    content = _read(model) if isinstance(model, (str, Path)) else model
    session = open_session(content)
    feed = feed_of(session.get_inputs(), codec, encoding)
    rows = probe_rows(codec)
    output_names = _find_output_names(session)
    answers = _run(session, feed.of_rows(rows), len(rows), output_names)
    listed = _classes(answers[0], len(rows)) if classes is None else classes
    known = checked_classes(listed, NAME)
    columns = _columns(answers[0], known, len(rows))
    if output is None:
        output = detect_output(columns, NAME)
    probabilities = check_answers(columns, output, len(known), NAME, codec)
    if len(answers) == 2:
        _refuse_other_labels(answers[1], probabilities, known)
    return OnnxClassifier(
        codec, known, threshold, content, session, feed, output_names, encoding, output
    )


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


def open_session(content: bytes) -> Any:
    """Open a session on the bytes of an ONNX file; weights kept in other files are refused."""
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(
            "an ONNX model needs onnxruntime, which is not installed; install it with"
            " pip install 'proce[onnx]'."
        ) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # its errors are raised; nothing is printed
    options.intra_op_num_threads = _n_threads()
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


def _n_threads() -> int:
    """Return how many threads a session may take; 0 leaves that to onnxruntime."""
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(wanted) if wanted.isdigit() else 0


def _run(session: Any, inputs: Inputs, n_rows: int, output_names: tuple[str, ...]) -> list[Any]:
    with translate_errors(NAME, n_rows):
        answers: list[Any] = session.run(list(output_names), inputs)
    return answers


def _find_output_names(session: Any) -> tuple[str, ...]:
    """Return the name of the scores' output and, where there is one, of the labels'."""
    outputs = session.get_outputs()
    if len(outputs) == 1:
        return (outputs[0].name,)
    labels = [o for o in outputs if o.type in ("tensor(int64)", "tensor(string)", "tensor(bool)")]
    scores = [o for o in outputs if o not in labels]
    scores = [o for o in scores if "prob" in o.name.lower()] or scores
    if len(scores) != 1 or len(labels) > 1:
        raise ModelInterfaceError(
            f"{NAME} has the outputs {quoted([o.name for o in outputs])}; expected one with the"
            " probabilities and at most one more with the labels. Export those alone."
        )
    return tuple(o.name for o in scores + labels)


def _classes(scores: Any, n_rows: int) -> Any:
    """Return the keys of a map output, or the columns' positions."""
    if isinstance(scores, list) and scores and isinstance(scores[0], dict):
        return list(scores[0])
    return range(count_classes(as_columns(scores, n_rows, NAME)))


def _columns(scores: Any, classes: Any, n_rows: int) -> Array:
    if not (isinstance(scores, list) and scores and isinstance(scores[0], dict)):
        return as_columns(scores, n_rows, NAME)
    if set(scores[0]) != set(classes):
        raise ModelOutputError(
            f"{NAME} gives probabilities for {quoted(list(scores[0]))}; expected the classes"
            f" {quoted(classes)}. Leave classes= out."
        )
    return as_columns([[row[label] for label in classes] for row in scores], n_rows, NAME)


def _refuse_other_labels(labels: Any, probabilities: Array, classes: Any) -> None:
    """Refuse classes that are not those of the labels which the model itself gives."""
    plain = np.asarray(labels).ravel().tolist()
    known = {level_key(label) for label in classes}
    if unknown := [label for label in plain if level_key(label) not in known]:
        raise ModelOutputError(
            f"{NAME} answers with the label {unknown[0]!r}, which is not among the classes"
            f" {quoted(classes)}. Give classes= in the order of its columns."
        )
    given = np.array([position_of(label, classes) for label in plain])
    if (given == decide(probabilities, None)).mean() < 0.5:
        raise ModelOutputError(
            f"{NAME} answers with other labels than its likeliest classes: the order"
            f" {quoted(classes)} is not that of its columns. Give classes= in their order."
        )
