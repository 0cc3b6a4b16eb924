"""Plan a run over a folder of Parquet files: every check that needs no cluster."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from proce.batch.cluster.explainer_payload import ExplainerPayload
from proce.batch.cluster.inputs import FileSlice, InputFile, inspect_inputs, list_inputs
from proce.batch.cluster.outputs import RunMarker, check_output, plain_request, read_marker
from proce.batch.cluster.store import Store
from proce.batch.cluster.task import Assignment, fixed_schemas
from proce.batch.reading.parquet_files import joint_type
from proce.batch.reading.rows import CHUNK_ROWS, refuse_feature_id
from proce.batch.reading.typed import TypedColumns
from proce.errors import FileError
from proce.explanation import Explanations
from proce.explanation.record.view import View
from proce.methods.calls.method import own_version
from proce.schema import Continuous

PIECE_ROWS = 16_384  # explained by one task, and written as one part


@dataclass(frozen=True)
class FolderRequest:
    """What is asked of a cluster."""

    rows: str  # the path or URL of a Parquet file, or of a folder of them
    # out, outcomes: the folders for the counterfactuals and for a line of every row; the second may
    # be None
    out: str
    outcomes: str | None
    options: Mapping[str, Any]  # the options of the call
    view: View = "applicant"  # who reads the outcomes
    id_name: str | None = None  # the column whose values name the rows; None for none
    restart: bool = False  # whether to discard the parts of another run
    # piece_rows, chunk_rows: how many rows a task explains, and how many of them in one call
    piece_rows: int = PIECE_ROWS
    chunk_rows: int = CHUNK_ROWS


@dataclass(frozen=True)
class Plan:
    """A run that can begin: every check that needs no cluster has been made."""

    # payload, assignment: the explainer, and what all pieces share
    payload: ExplainerPayload
    assignment: Assignment
    pieces: tuple[FileSlice, ...]  # all pieces of the files that can be read
    failures: Mapping[str, str]  # why the other files cannot be read, by name
    marker: RunMarker  # what the folder of counterfactuals will say of itself
    restart: bool  # whether to discard the parts of another run

    @property
    def n_rows(self) -> int:
        """How many rows there are in all files that can be read."""
        return sum(piece.n_rows for piece in self.pieces)

    def outputs(self) -> list[tuple[Store, RunMarker]]:
        """Return the folders to write, the one that tells what is done last."""
        outcomes = self.assignment.outcomes
        also = self.marker.model_copy(update={"holds": "outcomes"})
        first = [] if outcomes is None else [(outcomes, also)]
        return [*first, (self.assignment.out, self.marker)]


def plan_run(payload: ExplainerPayload, request: FolderRequest) -> Plan:
    """Check a request: its options, all files, and the folders for the results."""
    if request.options.get("pick") == "typical":
        payload = payload.with_looks()
    explainer = payload.open()
    types = TypedColumns.of(explainer.fitted_.codec)
    columns = types.schema.columns
    refuse_feature_id(request.id_name, columns)
    _explain_nothing(payload, types, request.options)  # refuses options before it looks at files
    source, names = list_inputs(Store.at(request.rows))
    files, failures = inspect_inputs(source, names, columns, request.id_name)
    outputs = [Store.at(own) for own in (request.out, request.outcomes) if own is not None]
    _refuse_same_places(Store.at(request.rows), outputs)
    asked = plain_request(
        proce=own_version(),
        explainer=payload.sha256,
        rows=source.url,
        files=names,
        piece_rows=request.piece_rows,
        id=request.id_name,
        view=request.view,
        options=dict(request.options),
    )
    earlier = None if request.restart else _earlier(outputs, asked)
    id_type = _id_type(files) if earlier is None else _type_named(earlier["id_type"], files)
    failures |= {file.name: _other_ids(file, id_type) for file in files if file.is_other(id_type)}
    files = [file for file in files if file.name not in failures]
    float32 = _float32_columns(types, files) if earlier is None else frozenset(earlier["single"])
    failures |= {file.name: _too_wide(file, float32) for file in files if file.is_wider(float32)}
    files = [file for file in files if file.name not in failures]
    if not files:
        name, reason = next(iter(failures.items()))
        raise FileError(f"{source.url!r} has no file that can be read; {name}: {reason}")
    types = replace(types, float32=float32)
    nothing = _explain_nothing(payload, types, request.options)
    id_field = None if request.id_name is None else pa.field(request.id_name, id_type)
    schemas = fixed_schemas(nothing.seen_by(request.view), id_field)
    marker = RunMarker(
        holds="counterfactuals",
        request={
            **asked,
            "id_type": None if id_type is None else str(id_type),
            "single": sorted(float32),
        },
    )
    assignment = Assignment(
        source,
        Store.at(request.out),
        None if request.outcomes is None else Store.at(request.outcomes),
        request.options,
        request.view,
        request.id_name,
        types.float32,
        *schemas,
        request.chunk_rows,
        sum(file.n_rows for file in files),
        marker.digest,
    )
    cut = [file.pieces(request.piece_rows, marker.digest) for file in files]
    pieces = tuple(piece for own in cut for piece in own)
    plan = Plan(payload, assignment, pieces, failures, marker, request.restart)
    for store, own in plan.outputs():
        check_output(store, own, request.restart)
    return plan


def _earlier(outputs: Sequence[Store], asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the run that is taken up found in the files that it could read.

    Other files may be readable now, and what is done stays as it is.
    """
    for store in outputs:
        known = read_marker(store)
        found = {} if known is None else dict(known.request)
        types = {name: found.pop(name, None) for name in ("id_type", "single")}
        if found == asked and isinstance(types["single"], list):
            return types
    return None


def _type_named(text: str | None, files: Sequence[InputFile]) -> pa.DataType | None:
    """Return the type of ids by its name; that of the files now where there is none."""
    if text is None:
        return None
    same = [file.id_type for file in files if str(file.id_type) == text]
    try:
        return same[0] if same else pa.type_for_alias(text)
    except ValueError:
        return _id_type(files)


def _id_type(files: Sequence[InputFile]) -> pa.DataType | None:
    """Return the type that the ids of most files have, or one that holds those of more files."""
    types = Counter(file.id_type for file in files if file.has_ids)
    types = types or Counter(file.id_type for file in files if file.id_type is not None)
    if not types:
        return None
    kind = types.most_common(1)[0][0]
    for other in types:
        kind = joint_type(kind, other) or kind
    return kind


def _explain_nothing(
    payload: ExplainerPayload, types: TypedColumns, options: Mapping[str, Any]
) -> Explanations:
    """Return what the call gives for no rows; options that it cannot honour are refused."""
    columns = types.schema.columns
    empty = pa.table({name: pa.array([], pa.string()) for name in columns})
    return payload.explain(types.table(empty, from_text=True), options)


def _float32_columns(types: TypedColumns, files: Sequence[InputFile]) -> frozenset[str]:
    """Return the features with fractions that all files have in 32 bits."""
    numbers = {feature.name for feature in types.schema if isinstance(feature, Continuous)}
    shared = frozenset.intersection(*(file.float32 for file in files)) if files else frozenset()
    return shared & (numbers - types.integers)


def _other_ids(file: InputFile, id_type: pa.DataType | None) -> str:
    return f"its ids are {file.id_type}, and those of most files {id_type}; convert them."


def _too_wide(file: InputFile, float32: frozenset[str]) -> str:
    name = min(float32 - file.float32)
    return (
        f"its column {name!r} is not of 32 bits, as in the files of the parts that are there;"
        " convert it, or write into a new folder."
    )


def _refuse_same_places(rows: Store, outputs: Sequence[Store]) -> None:
    for store in outputs:
        if rows.holds(store) or store.holds(rows):
            raise FileError(
                f"{store.url!r} holds the rows, or lies among them; results go"
                " into a folder of their own."
            )
    if len(outputs) == 2 and (outputs[0].holds(outputs[1]) or outputs[1].holds(outputs[0])):
        raise FileError(
            f"--out and --outcomes are both in {outputs[0].url!r}; give each a folder of its own."
        )
