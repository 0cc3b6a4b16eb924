"""The rows of a file: read once, held in memory, asked about by page.

A table takes eight bytes a cell, in every process that holds it, and is refused beyond fifty
million cells: a million rows of fifty features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proce.arrays import Array, blocks
from proce.batch.reading.rows import Rows
from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.classifier import Classifier, decide, predict_read_frame
from proce.errors import FileError
from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.schema import Codec
from proce.schema.frames.cells import is_missing
from proce.schema.shown import ReadFrame
from proce.server.desk.asked.values import frame_of, is_missing_by_mistake

MAX_CELLS = 50_000_000
_BLOCK_ROWS = 16_384  # that the model is asked about at once


@dataclass(frozen=True, eq=False)
class RowTable:
    """The rows of a file.

    Attributes
    ----------
    codec
        The features.
    classifier
        The model.
    raw
        ``(n, f)``, the rows in raw units and level codes.
    ids
        What a person knows each row by; ``None`` without a column of ids, and where it is empty.
    id_name
        The column of ids, or ``None``.
    """

    codec: Codec
    classifier: Classifier
    raw: Array
    ids: Sequence[str | None] | None = None
    id_name: str | None = None

    @classmethod
    def open(
        cls, path: Path, codec: Codec, classifier: Classifier, id_name: str | None = None
    ) -> "RowTable":
        """Read a csv or Parquet file, or a folder of Parquet files, and check every cell.

        Parameters
        ----------
        path
            The file or the folder.
        codec, classifier
            The features and the model.
        id_name
            A column that names the rows, or ``None``.
        """
        rows = Rows.checked(Source.open(path), TypedColumns.of(codec), id_name=id_name)
        n_features = len(codec.schema)
        if rows.count * n_features > MAX_CELLS:
            raise FileError(
                f"{str(path)!r} has {rows.count:,} rows of {n_features} features; at most"
                f" {MAX_CELLS // n_features:,} such rows can be browsed. Cut the file into parts,"
                " or explain it whole with 'proce explain'."
            )
        raw = np.empty((rows.count, n_features))
        ids: list[str | None] = []
        for chunk in rows.chunks():
            end = chunk.first_row + len(chunk.table)
            raw[chunk.first_row : end] = codec.raw_of_frame(chunk.table)
            if id_name is not None:
                ids += [_id_text(value) for value in chunk.table[id_name].to_pylist()]
        return cls(codec, classifier, raw, None if id_name is None else ids, id_name)

    def __len__(self) -> int:
        return len(self.raw)

    def id_of(self, row: int) -> str | None:
        """Return what a person knows a row by."""
        return None if self.ids is None else self.ids[row]

    @cached_property
    def chances(self) -> Array:
        """The probability of each class for each row ``(n, k)``; asked when first wanted.

        NaN for rows that lack what no training row lacked, about which the model is not asked.
        """
        chances = np.full((len(self), len(self.classifier.classes)), np.nan)
        known = np.flatnonzero(~is_missing_by_mistake(self.codec, self.raw).any(1))
        for block in blocks(known, _BLOCK_ROWS):
            if len(block):
                read = ReadFrame.of(self.codec, frame_of(self.codec, self.raw[block]))
                chances[block] = predict_read_frame(self.classifier, read)
        return chances

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """The class of each row, as a position ``(n,)``; -1 where the model was not asked."""
        decided = np.full(len(self), UNKNOWN_CLASS)
        known = ~np.isnan(self.chances[:, 0])
        if bool(known.any()):
            answers = decide(self.chances[known], self.classifier.threshold)
            decided[known] = answers
        return decided

    @cached_property
    def probability(self) -> NDArray[np.float64]:
        """The probability of the predicted class of each row ``(n,)``; NaN where not asked."""
        chances: NDArray[np.float64] = self.chances[np.arange(len(self)), self.predicted]
        return chances

    @cached_property
    def encoded(self) -> Array:
        """The rows in the entries of the codec ``(n, f)``, as rules read them."""
        return self.codec.to_unit(self.raw)


def _id_text(value: object) -> str | None:
    return None if is_missing(value) else str(value)
