"""Explain a folder of Parquet files on a cluster into another folder."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from proce.batch.cluster.futures import run_pieces
from proce.batch.cluster.inputs import InputFile, Piece, inspect_inputs, list_inputs
from proce.batch.cluster.outputs import (
    Marker,
    check_output,
    close_output,
    open_output,
    plain_request,
    require_current,
)
from proce.batch.cluster.parcel import Parcel
from proce.batch.cluster.place import Place
from proce.batch.cluster.task import Assignment, PieceReport, fixed_schemas, read_summary
from proce.batch.parts.summary import Summary
from proce.batch.reading.rows import CHUNK_ROWS
from proce.batch.reading.typed import TypedColumns
from proce.errors import FileError
from proce.explanation.record.view import View
from proce.methods.calls.provenance import own_version

PIECE_ROWS = 16_384  # explained by one task, and written as one part
_N_THREADS = 16  # that read what finished parts say


@dataclass(frozen=True)
class FolderRequest:
    """What is asked of a cluster.

    Attributes
    ----------
    rows
        The path or URL of a Parquet file, or of a folder of them.
    out, outcomes
        The folders for the counterfactuals and for a line of every row; the second may be
        ``None``.
    options
        The options of the call.
    view
        Who reads the outcomes.
    id_name
        The column whose values name the rows; ``None`` for none.
    restart
        Whether to discard the parts of another run.
    piece_rows, chunk_rows
        How many rows a task explains, and how many of them in one call.
    """

    rows: str
    out: str
    outcomes: str | None
    options: Mapping[str, Any]
    view: View = "applicant"
    id_name: str | None = None
    restart: bool = False
    piece_rows: int = PIECE_ROWS
    chunk_rows: int = CHUNK_ROWS


@dataclass(frozen=True)
class RunProgress:
    """How many rows of all files are done."""

    done: int
    total: int
    stage: str = "search"


@dataclass
class RunSummary:
    """How a run ended.

    Attributes
    ----------
    rows
        How many rows ended how.
    failures
        Why files are not done, by name.
    n_done_before
        How many rows an earlier run had done.
    """

    rows: Summary = field(default_factory=Summary)
    failures: dict[str, str] = field(default_factory=dict)
    n_done_before: int = 0

    def add(self, piece: Piece, report: PieceReport) -> None:
        """Count a piece."""
        if report.failure is not None:
            self.failures.setdefault(piece.file, report.failure)
        else:
            self.rows += report.summary


@dataclass(frozen=True)
class Plan:
    """A run that can begin: every check that needs no cluster has been made.

    Attributes
    ----------
    parcel, assignment
        The explainer, and what all pieces share.
    pieces
        All pieces of the files that can be read.
    failures
        Why the other files cannot be read, by name.
    marker
        What the folder of counterfactuals will say of itself.
    restart
        Whether to discard the parts of another run.
    """

    parcel: Parcel
    assignment: Assignment
    pieces: tuple[Piece, ...]
    failures: Mapping[str, str]
    marker: Marker
    restart: bool

    @property
    def n_rows(self) -> int:
        """How many rows there are in all files that can be read."""
        return sum(piece.n_rows for piece in self.pieces)

    def outputs(self) -> list[tuple[Place, Marker]]:
        """Return the folders to write, the one that tells what is done last."""
        outcomes = self.assignment.outcomes
        also = self.marker.model_copy(update={"holds": "outcomes"})
        first = [] if outcomes is None else [(outcomes, also)]
        return [*first, (self.assignment.out, self.marker)]


def plan_run(parcel: Parcel, request: FolderRequest) -> Plan:
    """Check a request: its options, all files, and the folders for the results.

    Raises
    ------
    FileError
        No file can be read, or a folder holds anything but parts of the same run.
    """
    explainer = parcel.open()
    types = TypedColumns.of(explainer.fitted_.codec)
    columns = types.schema.columns
    if request.id_name in columns:
        raise FileError(
            f"the column {request.id_name!r} is a feature, which changes; an id is a column that is"
            " none. Name another, or leave the id out."
        )
    empty = pa.table({name: pa.array([], pa.string()) for name in columns})
    nothing = parcel.explain(types.table(empty, from_text=True), request.options)
    source, names = list_inputs(Place.at(request.rows))
    files, failures = inspect_inputs(source, names, columns, request.id_name)
    id_type = _id_type(files)
    failures |= {file.name: _other_ids(file, id_type) for file in files if file.is_other(id_type)}
    files = [file for file in files if file.name not in failures]
    if not files:
        name, reason = next(iter(failures.items()))
        raise FileError(f"{source.url!r} has no file that can be read; {name}: {reason}")
    id_field = None if request.id_name is None else pa.field(request.id_name, id_type)
    schemas = fixed_schemas(nothing.seen_by(request.view), id_field)
    assignment = Assignment(
        source,
        Place.at(request.out),
        None if request.outcomes is None else Place.at(request.outcomes),
        request.options,
        request.view,
        request.id_name,
        *schemas,
        request.chunk_rows,
    )
    marker = Marker(
        holds="counterfactuals",
        request=plain_request(
            proce=own_version(),
            explainer=parcel.sha256,
            rows=source.url,
            files=names,
            piece_rows=request.piece_rows,
            id=request.id_name,
            id_type=None if id_type is None else str(id_type),
            view=request.view,
            options=dict(request.options),
        ),
    )
    pieces = tuple(piece for file in files for piece in file.pieces(request.piece_rows))
    plan = Plan(parcel, assignment, pieces, failures, marker, request.restart)
    _refuse_same_places(Place.at(request.rows), [place for place, _ in plan.outputs()])
    for place, own in plan.outputs():
        check_output(place, own, request.restart)
    return plan


def run_plan(
    plan: Plan, client: Any, progress: Callable[[RunProgress], object] | None = None
) -> RunSummary:
    """Explain the pieces that have no part yet; what cannot be done is told in the summary.

    Parameters
    ----------
    plan
        The run.
    client
        The client of a Dask cluster.
    progress
        Called whenever a piece has ended.

    Raises
    ------
    WorkerError
        The cluster is gone.
    OSError
        A part cannot be written: the disk is full, or the store refuses it.
    """
    names = [piece.part for piece in plan.pieces]
    opened = []
    for place, marker in plan.outputs():
        parts = open_output(place, marker, plan.restart)
        require_current(place, parts, names)
        opened.append(parts)
    done = set.intersection(*opened)
    summary = RunSummary(failures=dict(plan.failures))
    finished = [piece for piece in plan.pieces if piece.part in done]
    summary.rows = sum(_summaries(plan.assignment.out, finished), summary.rows)
    summary.n_done_before = sum(piece.n_rows for piece in finished)
    left = [piece for piece in plan.pieces if piece.part not in done]
    n_done = summary.n_done_before
    for piece, report in run_pieces(client, plan.parcel, plan.assignment, left):
        if report.cannot_write:
            raise OSError(
                f"{report.failure}: the part of {piece.words} cannot be written. Finished parts are"
                " kept; make room, then run the same command again"
            )
        summary.add(piece, report)
        n_done += piece.n_rows
        if progress is not None:
            progress(RunProgress(n_done, plan.n_rows))
    if not summary.failures:
        for place, marker in plan.outputs():
            close_output(place, marker)
    return summary


def _summaries(out: Place, finished: Sequence[Piece]) -> list[Summary]:
    with ThreadPoolExecutor(_N_THREADS) as threads:
        return list(threads.map(lambda piece: read_summary(out, piece.part), finished))


def _id_type(files: Sequence[InputFile]) -> pa.DataType | None:
    """Return the type that the ids of most files have."""
    types = Counter(file.id_type for file in files if file.has_ids)
    types = types or Counter(file.id_type for file in files)
    return types.most_common(1)[0][0] if types else None


def _other_ids(file: InputFile, id_type: pa.DataType | None) -> str:
    return f"its ids are {file.id_type}, and those of most files {id_type}; convert them."


def _refuse_same_places(rows: Place, outputs: Sequence[Place]) -> None:
    for place in outputs:
        if rows.holds(place) or place.holds(rows):
            raise FileError(
                f"{place.url!r} holds the rows, or lies among them; results go"
                " into a folder of their own."
            )
    if len(outputs) == 2 and (outputs[0].holds(outputs[1]) or outputs[1].holds(outputs[0])):
        raise FileError(
            f"--out and --outcomes are both in {outputs[0].url!r}; give each a folder of its own."
        )
