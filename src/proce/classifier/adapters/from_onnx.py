"""ONNX models, run by onnxruntime: the session, and which of its outputs is read."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from proce.arrays import Array
from proce.classifier.adapters.onnx_feed import NAME, Feed, Inputs, feed_of
from proce.classifier.adapters.probe import check_answers, detect_output, probe_rows
from proce.classifier.answer import (
    Output,
    as_columns,
    check_probabilities,
    count_classes,
    translate_errors,
)
from proce.classifier.classifier import Adapter, checked_classes, position_of
from proce.classifier.decision import decide
from proce.classifier.encoding import FrameFunction
from proce.errors import MissingExtraError, ModelError, ModelInterfaceError, ModelOutputError
from proce.schema import Codec, Level
from proce.schema.features.levels import level_key, shown


@dataclass(frozen=True, eq=False)
class OnnxClassifier(Adapter):
    """An onnxruntime session, the inputs it takes, and which of its outputs is read.

    Attributes
    ----------
    content
        The file's bytes: everything that another process needs to open the session again.
    session, feed
        The session, and what turns rows into its inputs.
    output_names
        The name of the output with the scores and, if there is one, of that with the labels.
    encoding, output
        As given to :func:`~proce.classifier.as_classifier`; the output is detected by default.
    """

    content: bytes = field(repr=False)
    session: Any
    feed: Feed
    output_names: tuple[str, ...]
    encoding: str | FrameFunction | None
    output: Output

    def __reduce__(self) -> tuple[Any, ...]:
        made_with = (self.content, self.codec, self.classes, self.threshold)
        return _reopen, (*made_with, self.output_names, self.encoding, self.output)

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


def _reopen(
    content: bytes,
    codec: Codec,
    classes: tuple[Level, ...],
    threshold: float | None,
    output_names: tuple[str, ...],
    encoding: str | FrameFunction | None,
    output: Output,
) -> OnnxClassifier:
    """Return a classifier that was pickled or copied, with a session of its own."""
    session = open_session(content)
    feed = feed_of(session.get_inputs(), codec, encoding)
    return OnnxClassifier(
        codec, classes, threshold, content, session, feed, output_names, encoding, output
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
            f"{NAME} has the outputs {shown([o.name for o in outputs])}; expected one with the"
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
            f"{NAME} gives probabilities for {shown(list(scores[0]))}; expected the classes"
            f" {shown(classes)}. Leave classes= out."
        )
    return as_columns([[row[label] for label in classes] for row in scores], n_rows, NAME)


def _refuse_other_labels(labels: Any, probabilities: Array, classes: Any) -> None:
    """Refuse classes that are not those of the labels which the model itself gives."""
    plain = np.asarray(labels).ravel().tolist()
    known = {level_key(label) for label in classes}
    if unknown := [label for label in plain if level_key(label) not in known]:
        raise ModelOutputError(
            f"{NAME} answers with the label {unknown[0]!r}, which is not among the classes"
            f" {shown(classes)}. Give classes= in the order of its columns."
        )
    given = np.array([position_of(label, classes) for label in plain])
    if (given == decide(probabilities, None)).mean() < 0.5:
        raise ModelOutputError(
            f"{NAME} answers with other labels than its likeliest classes: the order"
            f" {shown(classes)} is not that of its columns. Give classes= in their order."
        )
