"""Explanations as frames, in the library that came in; pandas keeps the index labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import torch

from proce.errors import SearchError
from proce.explanation.result.explanation import Change, Explanation
from proce.explanation.result.explanations import Explanations
from proce.explanation.words.cells import Cell, cells_of, plain, stacked

_DISTANCE = 2
_DTYPES = {"int64": "int64", "bool": "bool", "string": "str", "double": "float64"}
_WITHOUT_ANSWER = {  # where there is no counterfactual
    "n_actions": "Int64",
    "n_holds": "Int64",
    "n_consequences": "Int64",
    "margin_met": "boolean",
}


def counterfactuals(result: Explanations) -> Any:
    """Return all counterfactuals in the layout of the frame that was explained."""
    layout = result.layout.take(_rows(result))
    if not result.items:
        nothing = result.context.codec.low.new_empty(0, len(result.context.codec.schema))
        return result.context.codec.decode(nothing, layout)
    rows, factual, raw = stacked(result.items)
    return result.context.codec.rebuild(rows, layout, factual, raw)


def to_frame(result: Explanations) -> Any:
    """Return all counterfactuals with their row and rank in front."""
    native = counterfactuals(result)
    ranks = [rank for item in result.items for rank in range(1, len(item) + 1)]
    names = ["row", "rank"]
    while set(names) & set(result.layout.columns):
        names = [f"_{name}" for name in names]
    numbers = [np.array(each, dtype=np.int64) for each in (_rows(result), ranks)]
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


def path(item: Explanation, rank: int = 1) -> Any:
    """Return the row, and every step from there to its counterfactual of a rank."""
    if not item.steps:
        raise SearchError(
            f"row {item.row} has no path: it has no counterfactual, or its method leads there in"
            " one step. Methods with paths are Face."
        )
    if not 1 <= rank <= len(item.steps):
        raise SearchError(f"rank is {rank}; row {item.row} has the paths 1 to {len(item.steps)}.")
    rows = torch.cat([item.factual[None], item.steps[rank - 1]])
    codec = item.context.codec
    factual, raw = item.factual.expand_as(rows), item.raw.expand_as(rows)
    return codec.rebuild(rows, codec.layout, factual, raw)


def outcomes(result: Explanations) -> Any:
    """Return one line per row: what was asked, what was found, or why nothing was."""
    items = result.items
    label = pa.array(list(result.context.classes)).type
    classes = result.context.classes
    columns = {
        "row": pa.array([item.row for item in items], pa.int64()),
        "outcome": pa.array([item.outcome.value for item in items], pa.string()),
        "predicted": pa.array([classes[item.predicted] for item in items], label),
        "target": pa.array([classes[item.target] for item in items], label),
        "probability": pa.array([item.probability for item in items], pa.float64()),
        "n_counterfactuals": pa.array([len(item) for item in items], pa.int64()),
        "new_probability": _of_best(items, lambda item: float(item.probabilities[0])),
        "distance": _of_best(items, lambda item: float(item.losses[0, _DISTANCE])),
    }
    kinds = [item.changes[0].tolist() if len(item) else None for item in items]
    for name, kind in (
        ("n_actions", Change.ACTION),
        ("n_holds", Change.HOLD),
        ("n_consequences", Change.CONSEQUENCE),
    ):
        counts = [None if each is None else each.count(kind) for each in kinds]
        columns[name] = pa.array(counts, pa.int64())
    met = [item.margin_met if len(item) else None for item in items]
    columns["margin_met"] = pa.array(met, pa.bool_())
    reasons = [item.diagnosis.reason if item.diagnosis else None for item in items]
    columns["reason"] = pa.array(reasons, pa.string())
    return frame_of(result, columns, [item.row for item in items])


def changes(result: Explanations) -> Any:
    """Return one line per change of every counterfactual."""
    lines = [
        (item.row, rank, cell)
        for item, ranked in zip(result.items, cells_of(result.items), strict=True)
        for rank, cells in enumerate(ranked, 1)
        for cell in cells
    ]
    cells = [cell for _, _, cell in lines]
    columns = {
        "row": pa.array([row for row, _, _ in lines], pa.int64()),
        "rank": pa.array([rank for _, rank, _ in lines], pa.int64()),
        **before_and_after(cells),
        "kind": pa.array([cell.kind.name.lower() for cell in cells], pa.string()),
    }
    return frame_of(result, columns, [row for row, _, _ in lines])


def _rows(result: Explanations) -> list[int]:
    return [item.row for item in result.items for _ in range(len(item))]


def _of_best(items: Sequence[Explanation], value: Any) -> pa.Array:
    """Return a number of the recommended counterfactual, missing where there is none."""
    return pa.array([value(item) if len(item) else None for item in items], pa.float64())


def before_and_after(cells: Sequence[Cell]) -> dict[str, Any]:
    """Return the columns that say what changed, and how."""
    return {
        "feature": pa.array([cell.feature.name for cell in cells], pa.string()),
        "before": [plain(cell.feature, cell.before) for cell in cells],
        "after": [plain(cell.feature, cell.after) for cell in cells],
    }


def frame_of(
    result: Explanations, columns: Mapping[str, Any], rows: Sequence[int] | None = None
) -> Any:
    """Make a frame of our own columns; lists of mixed values become objects, or else text.

    In pandas its index has the labels of the rows that the lines are about, if they are given.
    """
    library: Any = result.layout.library
    if library is nw.Implementation.PANDAS:
        built = {name: _series(name, values) for name, values in columns.items()}
        index = None if rows is None else result.layout.take(rows).index
        return pd.DataFrame(built, index=index)
    arrays = {
        name: pa.array([None if v is None else str(v) for v in values], pa.string())
        if isinstance(values, list)
        else values
        for name, values in columns.items()
    }
    return nw.from_arrow(pa.table(arrays), backend=library).to_native()


def _series(name: str, values: Any) -> Any:
    if isinstance(values, list):
        series = np.empty(len(values), dtype=object)
        series[:] = values
        return series
    dtype: Any = _WITHOUT_ANSWER.get(name, _DTYPES[str(values.type)])
    if dtype == "float64":
        return values.to_numpy(zero_copy_only=False)
    return pd.array(values.to_pylist(), dtype=dtype)
