"""The rows of a file: read once, held in memory, asked about by page.

A table takes eight bytes a cell, in every process that holds it, and is refused beyond fifty
million cells: a million rows of fifty features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proce.arrays import Array, blocks
from proce.batch.reading.rows import Rows
from proce.batch.reading.source import Source
from proce.batch.reading.typed import TypedColumns
from proce.classifier import Classifier, decide, predict_read_frame
from proce.errors import FileError, RuleError
from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.counterfactuals import UNKNOWN_CLASS
from proce.schema import Codec, Continuous, Level, Rule
from proce.schema.frames.cells import is_missing
from proce.schema.round_trip import ReadFrame
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.values import class_named, frame_of, is_missing_by_mistake

MAX_CELLS = 50_000_000
_BLOCK_ROWS = 16_384  # that the model is asked about at once
PROBABILITY = "probability"  # sorts by it, unless a feature has that name


@dataclass(frozen=True, eq=False)
class RowTable:
    """The rows of a file."""

    codec: Codec  # features
    classifier: Classifier  # model
    raw: Array  # (n, f), the rows in raw units and level codes
    ids: Sequence[str | None] | None = None  # what a person knows each row by
    id_name: str | None = None  # column of ids, or None

    @classmethod
    def open(
        cls, path: Path, codec: Codec, classifier: Classifier, id_name: str | None = None
    ) -> "RowTable":
        """Read a csv or Parquet file, or a folder of Parquet files, and check every cell."""
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
        """The probability of each class ``(n, k)``, asked when first wanted; else NaN."""
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


def page_of(
    table: RowTable,
    role: RoleView,
    *,
    offset: int,
    limit: int,
    prediction: Any,
    where: str | None,
    sort: str | None,
    descending: bool,
) -> dict[str, Any]:
    """Return some rows, and how many there are in all that fit."""
    rows = np.arange(len(table))
    if where is not None and where.strip():
        rows = rows[_fitting(table, role, where)[rows]]
    if prediction is not None:
        position = class_named(prediction, table.classifier.classes, "prediction")
        rows = rows[table.predicted[rows] == position]
    if sort is not None:
        keys = _keys(table, role, sort)[rows]
        order = np.argsort(-keys if descending else keys, kind="stable")  # NaN comes last
        rows = rows[order]
    shown = rows[offset : offset + limit]
    values = role.values(table.raw[shown])
    return {
        "total": len(rows),
        "rows": [
            {
                "row": row,
                "id": table.id_of(row),
                "prediction": _class(table, row),
                "probability": finite_or_none(float(table.probability[row])),
                "values": own,
            }
            for row, own in zip(shown.tolist(), values, strict=True)
        ],
    }


def _class(table: RowTable, row: int) -> Level | None:
    """Return what the model says of a row; ``None`` where it was not asked."""
    position = int(table.predicted[row])
    return None if position == UNKNOWN_CLASS else table.classifier.classes[position]


def _fitting(table: RowTable, role: RoleView, where: str) -> NDArray[np.bool_]:
    """Return which rows obey a rule."""
    try:
        rule = Rule.parse(where, role.codec)
        keep = [role.whole.schema.position(name) for name in role.names]
        fits: NDArray[np.bool_] = rule.surely_holds(table.encoded[:, keep])
    except RuleError as error:
        raise RequestError("where", str(error)) from None
    return fits


def _keys(table: RowTable, role: RoleView, sort: str) -> NDArray[np.float64]:
    """Return the number by which each row is sorted; NaN where it is missing."""
    if sort == PROBABILITY and sort not in role.codec.schema:
        return table.probability
    feature = role.feature(sort, "sort")
    keys: NDArray[np.float64] = table.raw[:, role.whole.schema.position(sort)]
    return keys if isinstance(feature, Continuous) else np.where(keys < 0, np.nan, keys)
