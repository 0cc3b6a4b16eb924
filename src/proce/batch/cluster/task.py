"""What a worker does with a piece: read, explain, write a part, report."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from proce.batch.cluster.explainer_payload import ExplainerPayload
from proce.batch.cluster.inputs import FileSlice, read_piece
from proce.batch.cluster.outputs import is_current
from proce.batch.cluster.store import Store, StoreError
from proce.batch.pieces import Failed, Piece, PieceQueue, Report, run_here
from proce.batch.reading.rows import labelled
from proce.batch.reading.typed import TypedColumns
from proce.batch.tables import (
    MAX_REASONS,
    NO_ROWS,
    Summary,
    as_table,
    outcome_table,
    table_of,
    with_summary,
)
from proce.errors import FileError, ProceError, WorkerError
from proce.explanation import Explanations, Outcome, unanswered
from proce.explanation.record.view import View
from proce.methods.calls.method import own_version


@dataclass(frozen=True)
class PieceReport:
    """How a piece went."""

    n_rows: int  # how many rows it has
    summary: Summary = NO_ROWS  # how many of them ended how
    failure: str | None = None  # why the piece has no part; None where it has one
    cannot_write: bool = False  # whether it failed because its part could not be written


@dataclass(frozen=True)
class Assignment:
    """What all pieces of a run share."""

    # source, out, outcomes: the folders of the rows, of the counterfactuals and of the outcomes, if
    # these are wanted
    source: Store
    out: Store
    outcomes: Store | None
    options: Mapping[str, Any]  # the options of the call
    view: View  # who reads the outcomes
    id_name: str | None  # the column whose values name the rows; None for none
    # the columns that all files have as numbers of 32 bits, and that are explained as such
    float32: frozenset[str]
    # line_schema, outcome_schema: the columns of every part, fixed in advance
    line_schema: pa.Schema
    outcome_schema: pa.Schema
    chunk_rows: int  # how many rows are explained in one call
    n_rows: int  # how many rows all pieces of the run have
    # the digits of the request, which the folders of the results must still be those of
    digest: str
    # the version of this package that the run began with
    version: str = field(default_factory=own_version)


def fixed_schemas(nothing: Explanations, id_field: pa.Field | None) -> tuple[pa.Schema, pa.Schema]:
    """Return the columns of the counterfactuals and of the outcomes, from a call on no rows."""
    return _schema(nothing.to_frame(), id_field), _schema(nothing.outcomes(), id_field)


def _schema(frame: Any, id_field: pa.Field | None) -> pa.Schema:
    """Return the columns of a frame after those of its front; ours give way to an id's name."""
    ids = [] if id_field is None else [id_field]
    taken = [field.name for field in ids]
    fields = [
        field.with_name(f"_{field.name}") if field.name in taken else field
        for field in as_table(frame).schema
    ]
    file_name = "file"
    while file_name in (*taken, *(field.name for field in fields)):
        file_name = f"_{file_name}"
    return pa.schema([*ids, pa.field(file_name, pa.string()), *fields])


def explain_piece(
    payload: ExplainerPayload, assignment: Assignment, piece: FileSlice
) -> PieceReport:
    """Explain the rows of a piece and write its part; what fails is told in the report."""
    if assignment.version != own_version():
        raise WorkerError(
            f"a worker has proce {own_version()}, and this run has {assignment.version}. Install"
            " the same version on all machines."
        )

    def require_current(store: Store) -> None:
        """Refuse to write among parts of another request; a task outlives a run that was ended."""
        if not is_current(store, assignment.digest):
            raise FileError(
                f"the folder {store.url!r} was taken by another run, or removed, meanwhile."
            )

    try:
        require_current(assignment.out)
        lines, outcomes, summary = _explain(payload, assignment, piece)
    except (ProceError, pa.ArrowException) as error:
        return PieceReport(piece.n_rows, failure=" ".join(str(error).split()))
    try:
        if assignment.outcomes is not None:
            assignment.outcomes.write(piece.part, _parquet(outcomes, summary), require_current)
        # The counterfactuals are last: where their part is, the piece is done.
        assignment.out.write(piece.part, _parquet(lines, summary), require_current)
    except StoreError as error:
        return PieceReport(piece.n_rows, failure=str(error), cannot_write=True)
    except FileError as error:
        return PieceReport(piece.n_rows, failure=str(error))
    return PieceReport(piece.n_rows, summary)


def _explain(
    payload: ExplainerPayload, assignment: Assignment, piece: FileSlice
) -> tuple[pa.Table, pa.Table, Summary]:
    lines, outcomes, summary = [], [], NO_ROWS
    queue = PieceQueue(_pieces(payload, assignment, piece), assignment.n_rows)
    for event in run_here(queue, _PieceWork(payload, assignment)):
        rows = event.piece.frame
        if isinstance(event, Failed):
            nothing = payload.explain(rows[:0], assignment.options)
            failed = unanswered(nothing, rows, Outcome.FAILED, event.reason)
            result = failed.seen_by(assignment.view)
        else:
            result = event.value
        result = labelled(result, rows, event.piece.first_row, assignment.id_name)
        lines.append(_in_schema(table_of(result), piece.file, assignment.line_schema))
        told = outcome_table(result)
        outcomes.append(_in_schema(told, piece.file, assignment.outcome_schema))
        ids = None if assignment.id_name is None else told.column(0)
        reasons = _reasons(result, piece.file, ids)
        summary += Summary.of(result).model_copy(update={"reasons": reasons})
    return pa.concat_tables(lines), pa.concat_tables(outcomes), summary


def _pieces(payload: ExplainerPayload, assignment: Assignment, piece: FileSlice) -> Iterator[Piece]:
    """Yield the rows of a slice in the types of the features, with their ids."""
    types = replace(TypedColumns.of(payload.open().fitted_.codec), float32=assignment.float32)
    ids = [] if assignment.id_name is None else [assignment.id_name]
    columns = (*types.schema.columns, *ids)
    first_row = piece.first_row
    for table in read_piece(assignment.source, piece, columns, assignment.chunk_rows):
        named = [(name, _plain(table[name]).combine_chunks()) for name in ids]
        own = next(iter(named), None)
        typed = types.table(table, from_text=False, first_row=first_row, ids=own)
        yield Piece(first_row, typed if own is None else typed.append_column(*own))
        first_row += len(table)


@dataclass(frozen=True)
class _PieceWork:
    """Explain pieces of a slice."""

    payload: ExplainerPayload
    assignment: Assignment

    def do(self, piece: Piece, _progress: Report) -> Explanations:
        result = self.payload.explain(piece.frame, self.assignment.options)
        return result.seen_by(self.assignment.view)


def _reasons(result: Explanations, file: str, ids: pa.ChunkedArray | None) -> tuple[str, ...]:
    """Say why the first rows without a counterfactual have none."""
    table = as_table(result.outcomes()).select(["row", "reason"])
    without = pc.indices_nonzero(pc.is_valid(table["reason"]))[:MAX_REASONS]
    names = [""] * len(without)
    if ids is not None:
        names = [f" ({own})" for own in ids.take(without).to_pylist()]
    lines = zip(table.take(without).to_pylist(), names, strict=True)
    return tuple(f"{file}, row {line['row']}{name}: {line['reason']}" for line, name in lines)


def _in_schema(table: pa.Table, file: str, schema: pa.Schema) -> pa.Table:
    """Return lines with the name of their file, after their ids, in the columns of every part."""
    columns = list(table.columns)
    has_ids = len(columns) + 1 == len(schema) and schema.names[0] == table.column_names[0]
    columns.insert(int(has_ids), pa.array([file] * len(table), pa.string()))
    return pa.table(columns, schema.names).cast(schema)


def _plain(ids: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = ids.type
    return ids.cast(kind.value_type) if pa.types.is_dictionary(kind) else ids


def _parquet(table: pa.Table, summary: Summary) -> bytes:
    stream = io.BytesIO()
    pq.write_table(with_summary(table, summary), stream)
    return stream.getvalue()
