"""Explanations as frames, in the library of the explained frame; pandas keeps its index labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from proce.arrays import Array, expand
from proce.errors import SearchError
from proce.explanation.record.context import Context
from proce.explanation.record.counterfactuals import (
    CHANGES,
    OUTCOMES,
    UNKNOWN_CLASS,
    Change,
    Counterfactuals,
)
from proce.explanation.record.rows import ExplainedFrame, ExplainedRow
from proce.explanation.words.cells import changed_cells
from proce.losses import Loss

_DTYPES = {"int64": "int64", "bool": "bool", "string": "str", "double": "float64"}
_NULLABLE_DTYPES = {  # of columns that are missing where there is no counterfactual
    "n_actions": "Int64",
    "n_holds": "Int64",
    "n_consequences": "Int64",
    "margin_met": "boolean",
    "support": "Int64",
    "robustness": "Int64",
}
_DTYPES_WITH_MISSING = {"int64": "Int64", "bool": "boolean"}  # of classes that are not known


def counterfactuals(result: ExplainedFrame) -> Any:
    """Return all counterfactuals in the layout of the frame that was explained."""
    return _ways_frame(result, result.rows.counterfactuals)


def recommended(result: ExplainedFrame) -> Any:
    """Return the recommended counterfactual of every row, in the layout of the explained frame."""
    return _ways_frame(result, result.rows.recommended())


def to_frame(result: ExplainedFrame) -> Any:
    """Return all counterfactuals with their row and rank in front."""
    native = counterfactuals(result)
    names = ["row", "rank"]
    while set(names) & set(result.layout.columns):
        names = [f"_{name}" for name in names]
    ways = result.rows.counterfactuals
    numbers = [result.rows.positions[ways.owner], ways.ranks()]
    if isinstance(native, pd.DataFrame):
        front = pd.DataFrame(dict(zip(names, numbers, strict=True)), index=native.index)
        header = pd.Index([*names, *native.columns], name=native.columns.name)
        frame = pd.concat([front, native], axis=1)
        frame.columns = header
        return frame
    opened = nw.from_native(native, eager_only=True)
    library: Any = opened.implementation
    first = nw.from_arrow(pa.table(dict(zip(names, numbers, strict=True))), backend=library)
    return nw.concat([first, opened], how="horizontal").to_native()


def path(row: ExplainedRow, rank: int = 1) -> Any:
    """Return the row, and every step from there to its counterfactual of a rank."""
    if not row.steps:
        raise SearchError(
            f"row {row.row} has no path: it has no counterfactual, or its method leads there in"
            " one step. Only Face gives paths."
        )
    if not 1 <= rank <= len(row.steps):
        raise SearchError(f"rank is {rank}; row {row.row} has the paths 1 to {len(row.steps)}.")
    codec = row.context.codec
    steps = np.concatenate([row.factual[None], row.steps[rank - 1]])
    factual, raw = (expand(own, len(steps), -1) for own in (row.factual, row.raw))
    return codec.rebuild(steps, codec.layout, factual, raw)


def outcomes(result: ExplainedFrame) -> Any:
    """Return one line per row: its target, its outcome, and why nothing was found."""
    rows = result.rows
    best = rows.recommended()
    positions = rows.positions.tolist()
    diagnoses = [rows.diagnoses.get(row) for row in range(len(rows))]
    columns = {
        "row": pa.array(positions, pa.int64()),
        "outcome": pa.array([outcome.value for outcome in OUTCOMES]).take(_codes(rows.outcomes)),
        "predicted": _class_column(rows.context, rows.predicted),
        "target": _class_column(rows.context, rows.target),
        "probability": pa.array(rows.probability, pa.float64(), from_pandas=True),
        "n_counterfactuals": pa.array(rows.counts, pa.int64()),
        "new_probability": _of_recommended(rows.counts, best.probabilities),
        "distance": _of_recommended(rows.counts, best.losses[:, Loss.DISTANCE]),
        **{
            f"n_{change.name.lower()}s": _of_recommended(
                rows.counts, (best.changes == change).sum(1)
            )
            for change in (Change.ACTION, Change.HOLD, Change.CONSEQUENCE)
        },
        "margin_met": _of_recommended(rows.counts, rows.margin_met[best.owner]),
        "confidence": _of_recommended(rows.counts, best.confidence, best.confidence >= 0),
        **_if_learned(result, _of_recommended(rows.counts, best.support, best.support >= 0)),
        "robustness": _of_recommended(rows.counts, best.robustness, best.robustness >= 0),
        "reason": pa.array([d.reason if d else None for d in diagnoses], pa.string()),
    }
    return frame_of(result, columns, positions)


def changes(result: ExplainedFrame) -> Any:
    """Return one line per change of every counterfactual, with where an action's value may lie."""
    cells = changed_cells(result.rows)
    ways = result.rows.counterfactuals
    lines = cells.counterfactual
    rows = result.rows.positions[ways.owner[lines]]
    names = pa.array(list(result.context.codec.schema.names), pa.string())
    kinds = pa.array([change.name.lower() for change in CHANGES])
    support = ways.support[lines]
    columns = {
        "row": pa.array(rows, pa.int64()),
        "rank": pa.array(ways.ranks()[lines], pa.int64()),
        "feature": names.take(pa.array(cells.position)),
        "before": cells.plain_values(cells.before),
        "after": cells.plain_values(cells.after),
        "kind": kinds.take(pa.array(cells.kind)),
        "holds_from": pa.array(cells.holds_from, pa.float64(), from_pandas=True),
        "holds_to": pa.array(cells.holds_to, pa.float64(), from_pandas=True),
        "confidence": pa.array(ways.confidence[lines], pa.float64(), from_pandas=True),
        **_if_learned(result, pa.array(support, mask=(support < 0))),
    }
    return frame_of(result, columns, rows.tolist())


def frame_of(
    result: ExplainedFrame, columns: Mapping[str, Any], rows: Sequence[int] | None = None
) -> Any:
    """Make a frame of some columns, in the library of the explained frame."""
    library: Any = result.layout.library
    if library is nw.Implementation.PANDAS:
        built = {name: _series(name, values) for name, values in columns.items()}
        index = None if rows is None else result.layout.take(rows).index
        return pd.DataFrame(built, index=index)
    arrays = {
        name: pa.array([None if value is None else str(value) for value in values], pa.string())
        if isinstance(values, list)
        else values
        for name, values in columns.items()
    }
    return nw.from_arrow(pa.table(arrays), backend=library).to_native()


def _ways_frame(result: ExplainedFrame, ways: Counterfactuals) -> Any:
    """Return some counterfactuals of explained rows in the layout of the frame they came in."""
    rows = result.rows
    layout = result.layout.take(rows.positions[ways.owner].tolist())
    codec = rows.context.codec
    if not len(rows):
        return codec.decode(ways.rows, layout)
    return codec.rebuild(ways.rows, layout, rows.factual[ways.owner], rows.raw[ways.owner])


def _if_learned(result: ExplainedFrame, support: pa.Array) -> dict[str, pa.Array]:
    """Return in how many learned graphs counterfactuals hold, as a column where there are any."""
    return {"support": support} if result.context.n_graphs else {}


def _codes(column: Array) -> pa.Array:
    return pa.array(column, pa.int64())


def _class_column(context: Context, positions: Array) -> pa.Array:
    """Return classes by their positions; missing where the model did not say any."""
    codes = pa.array(positions, pa.int64(), mask=(positions == UNKNOWN_CLASS))
    return pa.array(list(context.classes)).take(codes)


def _of_recommended(counts: Array, values: Array, known: Array | None = None) -> pa.Array:
    """Return values of the recommended counterfactuals by row; missing where there is none."""
    has_counterfactual = counts > 0
    lines = np.cumsum(has_counterfactual) - 1
    mask = None if known is None else ~known
    return pa.array(values, mask=mask).take(pa.array(lines, mask=~has_counterfactual))


def _series(name: str, values: Any) -> Any:
    if isinstance(values, list):
        series = np.empty(len(values), dtype=object)
        series[:] = values
        return series
    dtype: Any = _NULLABLE_DTYPES.get(name, _DTYPES[str(values.type)])
    if values.null_count:
        dtype = _DTYPES_WITH_MISSING.get(dtype, dtype)
    if dtype == "float64":
        return values.to_numpy(zero_copy_only=False)
    return pd.array(values.to_pylist(), dtype=dtype)
