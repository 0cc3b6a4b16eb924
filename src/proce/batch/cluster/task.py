"""What a worker does with a piece: read, explain, write a part, report."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from proce.batch.cluster.inputs import FileSlice, read_piece
from proce.batch.cluster.outputs import is_current
from proce.batch.cluster.parcel import Parcel
from proce.batch.cluster.store import Store, StoreError
from proce.batch.isolation import explain_isolating
from proce.batch.parts.summary import MAX_REASONS, Summary
from proce.batch.reading.typed import TypedColumns
from proce.batch.tables import as_table, doubts, tally
from proce.errors import FileError, ProceError, WorkerError
from proce.explanation import Explanations, Outcome, unanswered
from proce.explanation.record.view import View
from proce.methods.calls.method import own_version

_METADATA_KEY = b"proce"


@dataclass(frozen=True)
class PieceReport:
    """How a piece went."""

    n_rows: int  # how many rows it has
    summary: Summary = field(default_factory=Summary)  # how many of them ended how
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
    single: frozenset[str]
    # line_schema, outcome_schema: the columns of every part, fixed in advance
    line_schema: pa.Schema
    outcome_schema: pa.Schema
    chunk_rows: int  # how many rows are explained in one call
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


def explain_piece(parcel: Parcel, assignment: Assignment, piece: FileSlice) -> PieceReport:
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
        lines, outcomes, summary = _explain(parcel, assignment, piece)
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


def read_summary(store: Store, part: str) -> Summary:
    """Return how the piece of a finished part went."""
    with store.reading(part) as (stream, _):
        return Summary.from_json(pq.read_schema(stream).metadata[_METADATA_KEY])


def _explain(
    parcel: Parcel, assignment: Assignment, piece: FileSlice
) -> tuple[pa.Table, pa.Table, Summary]:
    types = replace(TypedColumns.of(parcel.open().fitted_.codec), single=assignment.single)
    ids = [] if assignment.id_name is None else [assignment.id_name]
    columns = (*types.schema.columns, *ids)
    lines, outcomes = [], []
    summary = Summary()
    first_row = piece.first_row
    for table in read_piece(assignment.source, piece, columns, assignment.chunk_rows):
        named = [(name, _plain(table[name]).combine_chunks()) for name in ids]
        rows = types.table(table, from_text=False, first_row=first_row, ids=next(iter(named), None))
        for start, result in _results(parcel, assignment, rows):
            front = _Front(assignment, piece.file, table, start)
            counted = result.counted_from(first_row + start)
            lines.append(front.lines(counted))
            outcomes.append(front.outcomes(counted))
            summary += Summary(tally(result), doubts(result), front.reasons(counted))
        first_row += len(table)
    return pa.concat_tables(lines), pa.concat_tables(outcomes), summary


def _results(parcel: Parcel, assignment: Assignment, rows: pa.Table) -> Any:
    """Yield the explanations of some rows, those on which the model breaks marked as failed."""

    def explain(table: pa.Table) -> Explanations:
        return parcel.explain(table, assignment.options).seen_by(assignment.view)

    def give_up(table: pa.Table, reason: str) -> Explanations:
        return unanswered(explain(table[:0]), table, Outcome.FAILED, reason)

    return explain_isolating(rows, explain, give_up)


@dataclass(frozen=True)
class _Front:
    """What stands in front of every line: the id of the row, if any, and its file."""

    assignment: Assignment
    file: str
    table: pa.Table
    start: int

    def lines(self, result: Explanations) -> pa.Table:
        """Return the counterfactuals of some rows."""
        frame = as_table(result.to_frame())
        owners = result.rows.counterfactuals.owner.tolist()
        return self._put(frame, owners, self.assignment.line_schema)

    def outcomes(self, result: Explanations) -> pa.Table:
        """Return a line for each of some rows."""
        frame = as_table(result.outcomes())
        return self._put(frame, list(range(len(result))), self.assignment.outcome_schema)

    def reasons(self, result: Explanations) -> tuple[str, ...]:
        """Say why the first rows without a counterfactual have none."""
        table = as_table(result.outcomes()).select(["row", "reason"])
        without = pc.indices_nonzero(pc.is_valid(table["reason"]))[:MAX_REASONS]
        ids = self._ids(without)
        names = [""] * len(without) if ids is None else [f" ({own})" for own in ids.to_pylist()]
        lines = zip(table.take(without).to_pylist(), names, strict=True)
        return tuple(
            f"{self.file}, row {line['row']}{name}: {line['reason']}" for line, name in lines
        )

    def _ids(self, owners: Any) -> pa.ChunkedArray | None:
        if self.assignment.id_name is None:
            return None
        ids = self.table[self.assignment.id_name].slice(self.start)
        return _plain(ids.take(pa.array(owners, pa.int64())))

    def _put(self, frame: pa.Table, owners: list[int], schema: pa.Schema) -> pa.Table:
        columns = [pa.array([self.file] * len(frame), pa.string()), *frame.columns]
        if (ids := self._ids(owners)) is not None:
            columns.insert(0, ids.cast(schema.field(0).type))
        return pa.table(columns, schema.names).cast(schema)


def _plain(ids: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = ids.type
    return ids.cast(kind.value_type) if pa.types.is_dictionary(kind) else ids


def _parquet(table: pa.Table, summary: Summary) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({_METADATA_KEY: summary.to_json()}), stream)
    return stream.getvalue()
