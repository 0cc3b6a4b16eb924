"""The explanations of consecutive pieces of one frame, put together again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from proce.arguments import brief
from proce.arrays import Array
from proce.errors import SearchError
from proce.explanation.exchange.explanations_json import wire_context
from proce.explanation.exchange.plain_json import plain_json
from proce.explanation.record.context import Context, Provenance
from proce.explanation.record.rows import ExplainedFrame, joined_rows
from proce.schema import Codec, Layout
from proce.schema.frames.layout_json import labelled_layout

_WORK = ("elapsed_seconds", "generations", "evaluations")  # of a piece, summed up at the end


def joined_frame(
    pieces: Sequence[ExplainedFrame], elapsed_seconds: float | None = None
) -> ExplainedFrame:
    """Return the explanations of consecutive pieces of a frame as those of the frame."""
    # :meth:`proce.Explanations.join` describes the parameters.
    if not pieces:
        raise SearchError("pieces is empty; expected the explanations of some rows.")
    for piece in pieces:
        if not isinstance(piece, ExplainedFrame):
            raise SearchError(f"pieces holds {brief(piece)}; expected explanations.")
    shared, how = _shared(pieces[0].context), _how(pieces[0].provenance)
    for number, piece in enumerate(pieces[1:], 1):
        if piece.context is not pieces[0].context:
            _refuse_difference(shared, _shared(piece.context), number)
        _refuse_difference(how, _how(piece.provenance), number)
    filled = [piece for piece in pieces if len(piece)] or [pieces[0]]
    for piece in filled[1:]:
        _refuse_other_frame(filled[0].layout, piece.layout, pieces.index(piece))
    rows = joined_rows([piece.rows for piece in filled])
    rows = replace(rows, positions=_positions([piece.rows.positions for piece in filled]))
    return ExplainedFrame(
        rows,
        _layout(filled, rows.positions),
        _provenance([piece.provenance for piece in pieces], elapsed_seconds),
    )


def _refuse_difference(first: Mapping[str, Any], own: Mapping[str, Any], number: int) -> None:
    """Refuse a piece that another explainer, or a call with other options, explained."""
    if differing := [name for name in first if first[name] != own[name]]:
        raise SearchError(
            f"piece {number} (counted from 0) differs from the first in its {differing[0]}:"
            " pieces of one result have the same explainer and the same options. Explain all"
            " pieces alike, or keep the results apart."
        )


def _shared(context: Context) -> dict[str, Any]:
    return {**wire_context(context), "view": context.view, "withheld": context.withheld}


def _how(provenance: Provenance) -> dict[str, Any]:
    """Return how explanations came about, apart from where and how much work they were."""
    apart = (*_WORK, "versions")
    return {name: plain_json(own) for name, own in vars(provenance).items() if name not in apart}


def _refuse_other_frame(first: Layout, other: Layout, number: int) -> None:
    same_columns = (first.library, first.columns) == (other.library, other.columns)
    if same_columns and first.dtypes == other.dtypes and _has_labels(first) == _has_labels(other):
        return
    raise SearchError(
        f"piece {number} (counted from 0) comes from a frame of another library, with other"
        " columns, other dtypes or without labels. Cut one frame into pieces, and explain those."
    )


def _has_labels(layout: Layout) -> bool:
    return layout.index is not None


def _positions(pieces: Sequence[Array]) -> Array:
    """Return where all rows stand in the frame, as they were counted or one piece after another."""
    kept = np.concatenate(list(pieces))
    if bool((np.diff(kept) > 0).all()):
        return kept
    if all(np.array_equal(own, np.arange(len(own))) for own in pieces):
        return np.arange(len(kept))
    raise SearchError(
        "the rows of the pieces are neither in the order of one frame nor counted from 0 in each"
        " piece. Give the pieces in order, or count each with counted_from(its first row)."
    )


def _layout(pieces: Sequence[ExplainedFrame], positions: Array) -> Layout:
    """Return how the whole frame looked."""
    first = pieces[0].layout
    marks = {name: _mark(name, pieces) for name in first.missing}
    fields = (first.library, first.columns, first.dtypes, marks)
    whole = Layout(*fields, None, first.header)
    if not _has_labels(first):
        return whole
    labels = [piece.layout.take(piece.rows.positions.tolist()).index for piece in pieces]
    index = labels[0].append(labels[1:])
    if np.array_equal(positions, np.arange(len(positions))):
        return replace(whole, index=index)
    places = {row: place for place, row in enumerate(positions.tolist())}
    return labelled_layout(whole, index, places)


def _mark(name: str, pieces: Sequence[ExplainedFrame]) -> Any:
    """Return how a column of the whole frame marks a missing cell."""
    marks = [piece.layout.missing[name] for piece in pieces]
    if pieces[0].layout.library is not nw.Implementation.PANDAS:
        return next((mark for mark in marks if mark is None), marks[0])
    position = _feature_of_column(pieces[0].context.codec)[name]
    for mark, piece in zip(marks, pieces, strict=True):
        if bool(piece.context.codec.missing(piece.rows.factual)[:, position].any()):
            return mark
    return None


def _feature_of_column(codec: Codec) -> Mapping[str, int]:
    features = enumerate(codec.schema)
    return {column: position for position, feature in features for column in feature.columns}


def _provenance(pieces: Sequence[Provenance], elapsed_seconds: float | None) -> Provenance:
    """Return how all pieces came about: the work of all of them together, and all versions."""
    elapsed = sum(piece.elapsed_seconds for piece in pieces)
    versions: dict[str, dict[str, None]] = {}
    for piece in pieces:
        for name, version in piece.versions.items():
            versions.setdefault(name, {})[version] = None
    return replace(
        pieces[0],
        versions={name: ", ".join(known) for name, known in versions.items()},
        elapsed_seconds=elapsed if elapsed_seconds is None else elapsed_seconds,
        generations=max(piece.generations for piece in pieces),
        evaluations=sum(piece.evaluations for piece in pieces),
    )
