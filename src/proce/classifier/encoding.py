"""The input of a network for a row: its numbers, its levels, and flags for missing cells.

The columns follow the features, the flags of missing cells come last. A missing number or
level is 0 everywhere but in its flag; a feature that was never missing in training has no
flag, so a row that lacks it is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

from proce.arrays import Array, Ints
from proce.classifier.prediction import detach, predict_in_layout, translate_errors
from proce.compiled.cells import CellKind
from proce.compiled.row_network import CellInput, RowNetwork, write_inputs
from proce.errors import ModelError
from proce.schema import Codec, Continuous
from proce.schema.codec import frame_of_raw
from proce.schema.frames.frame import count_rows

EncodingName = Literal["one_hot", "label"]
FrameFunction = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class InputEncoding:
    """From rows ``(n, f)`` to a network's input ``(n, w)``."""

    kind: EncodingName  # ``"one_hot"``: a column per level
    features: tuple[str, ...]  # the features' names
    names: tuple[str, ...]  # the columns' names: ``age``, ``job=clerk``, ``age is missing``
    source: Array  # the feature of each column, as a position ``(w,)``
    n_levels: tuple[int, ...]  # how many levels of each feature have a column
    is_level: Array  # which features have levels ``(f,)``
    may_miss: Array  # which features have a flag ``(f,)``
    # The factors and the shifts ``(f,)`` that bring the numbers of the rows to the range of the
    # training rows, which is what networks are trained on; ``None`` for rows that are there
    range_map: tuple[Array, Array] | None = None

    @property
    def width(self) -> int:
        """How many columns the input has."""
        return len(self.names)

    def __call__(self, rows: Array, dtype: DTypeLike = np.float32) -> Array:
        """Return the input ``(n, w)`` for rows ``(n, f)``."""
        return self._columns_of(rows, self._cells[0], dtype)

    def of_range(self, rows: Array, dtype: DTypeLike = np.float32) -> Array:
        """Return the input ``(n, w)`` for rows on the range of the training rows."""
        # They are rows of ``codec.by_range``.
        return self._columns_of(rows, self._cells[0].without_scale(), dtype)

    def _columns_of(self, rows: Array, network: RowNetwork, dtype: DTypeLike) -> Array:
        rows, inputs = np.ascontiguousarray(rows, np.float64), np.zeros((len(rows), self.width))
        row, lacking = write_inputs(rows, network, self._cells[1], inputs)
        if row >= 0:
            raise ModelError(
                f"feature {self.features[lacking]!r} is missing in row {row}, and it was never"
                " missing in the training rows, so the network has not learned what that means."
                " Fill it in, or train with such rows."
            )
        return inputs.astype(dtype, copy=False)

    def cell_inputs(self, weights: Array) -> list[CellInput]:
        """Return how the cells of each feature enter a first layer ``(h, w)``, without columns."""
        n_features = len(self.features)
        factor, shift = self.range_map or (np.ones(n_features), np.zeros(n_features))
        cells = []
        for position, n_levels in enumerate(self.n_levels):
            own = weights.T[self.source == position]
            missing = own[-1] if self.may_miss[position] else None
            number = CellKind.RANK if self.is_level[position] else CellKind.NUMBER
            cells.append(
                CellInput(
                    CellKind.LEVEL if n_levels else number,
                    own if missing is None else own[:-1],
                    missing,
                    factor[position].item(),
                    shift[position].item(),
                )
            )
        return cells

    @cached_property
    def _cells(self) -> tuple[RowNetwork, Ints]:
        """How cells enter a first layer, of no units, and the column of each row of its table."""
        weights = np.empty((0, self.width), np.float32)
        network = RowNetwork.of(self.cell_inputs(weights), weights[:, 0], False, [])
        positions = range(len(self.features))
        columns = [np.flatnonzero(self.source == position) for position in positions]
        return network, np.concatenate([[-1], *columns])


def one_hot(codec: Codec) -> InputEncoding:
    """Return the default encoding: unit-range numbers, a column per level, missing flags."""
    # ``one_hot(codec)(codec.encode(frame))`` is the array to train a network of your own on. It is
    # the same whatever the scale of the codec: the unit range is always that from the lowest to the
    # highest value of the training rows.
    n_levels = [0 if isinstance(f, Continuous) else len(f.levels) for f in codec.schema]
    return _encoding("one_hot", codec, n_levels)


def label(codec: Codec) -> InputEncoding:
    """Return the paper's encoding: unit-range numbers, level codes as numbers, missing flags."""
    return _encoding("label", codec, [0] * len(codec.schema))


def _encoding(kind: EncodingName, codec: Codec, n_levels: list[int]) -> InputEncoding:
    names: list[str] = []
    source: list[int] = []
    for position, feature in enumerate(codec.schema):
        if isinstance(feature, Continuous) or not n_levels[position]:
            columns = [feature.name]
        else:
            columns = [f"{feature.name}={level}" for level in feature.levels]
        names += columns
        source += [position] * len(columns)
    flags = np.flatnonzero(codec.may_miss).tolist()
    names += [f"{codec.schema.names[position]} is missing" for position in flags]
    return InputEncoding(
        kind,
        codec.schema.names,
        tuple(names),
        np.array(source + flags, np.int64),
        tuple(n_levels),
        ~codec.is_number,
        codec.may_miss,
        None if codec.by_range is codec else codec.range_map,
    )


@dataclass(frozen=True, eq=False)
class FrameEncoding:
    """The user's own function from a frame to the model's input."""

    codec: Codec
    function: FrameFunction

    def __call__(self, rows: Array, dtype: DTypeLike = np.float32) -> Array:
        """Return the input for rows, as the function makes it from their frame."""
        return self._inputs(self.codec.decode(rows), dtype)

    def of_frame(self, frame: Any, dtype: DTypeLike = np.float32) -> Array:
        """Return the input for the rows of a frame, as the function makes it."""

        def ask(given: Any) -> Array:
            return self._inputs(given, dtype)

        return predict_in_layout(ask, frame, self.codec, self.codec.layout, same_levels=False)

    def of_raw(self, raw: Array, dtype: DTypeLike = np.float32) -> Array:
        """Return the input for rows ``(n, f)`` in raw units, as the function makes it."""
        return self._inputs(frame_of_raw(self.codec, raw, self.codec.layout), dtype)

    def _inputs(self, frame: Any, dtype: DTypeLike) -> Array:
        n_rows = count_rows(frame)
        with translate_errors("the encoding function", n_rows):
            result = self.function(frame)
            inputs = np.array(detach(result))
        if len(inputs) != n_rows:
            raise ModelError(
                f"the encoding function gave {len(inputs)} rows for {n_rows}; expected one per"
                " row of the frame."
            )
        keeps_codes = not np.issubdtype(inputs.dtype, np.floating) and inputs.dtype != np.bool_
        return inputs if keeps_codes else inputs.astype(dtype)


Encoding = InputEncoding | FrameEncoding


def as_encoding(encoding: str | FrameFunction, codec: Codec) -> Encoding:
    """Return an encoding by its name, or around the user's function."""
    if encoding == "one_hot":
        return one_hot(codec)
    if encoding == "label":
        return label(codec)
    if callable(encoding):
        return FrameEncoding(codec, encoding)
    raise ModelError(
        f"unknown encoding {encoding!r}; expected 'one_hot', 'label' or a function from a frame"
        " to the model's input."
    )
