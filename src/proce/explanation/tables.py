"""Explanations as frames, in the library that came in; pandas keeps the index labels."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

from proce.errors import SearchError
from proce.explanation.cells import Cell, cells_of, plain, stacked
from proce.explanation.explanation import Change, Explanation, Explanations
from proce.explanation.words import cell_texts, class_text, name_text
from proce.schema import Categorical

DRAFT = "draft: a counterfactual is not by itself a legal reason"
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
    return _frame(result, columns, [item.row for item in items])


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
        **_before_and_after(cells),
        "kind": pa.array([cell.kind.name.lower() for cell in cells], pa.string()),
    }
    return _frame(result, columns, [row for row, _, _ in lines])


def reasons(result: Explanations, at_most: int = 4) -> Any:
    """Return the principal reasons of each row: its recommended actions, the largest first."""
    if at_most < 1:
        raise SearchError(f"at_most is {at_most!r}; expected a whole number from 1 on.")
    lines = [
        (item, order, cell)
        for item, ranked in zip(result.items, cells_of(result.items), strict=True)
        for order, cell in enumerate(_actions(ranked)[:at_most], 1)
    ]
    cells = [cell for _, _, cell in lines]
    rows = [item.row for item, _, _ in lines]
    columns = {
        "row": pa.array(rows, pa.int64()),
        "order": pa.array([order for _, order, _ in lines], pa.int64()),
        **_before_and_after(cells),
        "reason": pa.array([_reason(item, cell) for item, _, cell in lines], pa.string()),
        "status": pa.array([DRAFT] * len(lines), pa.string()),
    }
    return _frame(result, columns, rows)


def _rows(result: Explanations) -> list[int]:
    return [item.row for item in result.items for _ in range(len(item))]


def _of_best(items: Sequence[Explanation], value: Any) -> pa.Array:
    """Return a number of the recommended counterfactual, missing where there is none."""
    return pa.array([value(item) if len(item) else None for item in items], pa.float64())


def _actions(ranked: Sequence[Sequence[Cell]]) -> list[Cell]:
    return [cell for cell in (ranked[0] if ranked else ()) if cell.kind is Change.ACTION]


def _before_and_after(cells: Sequence[Cell]) -> dict[str, Any]:
    return {
        "feature": pa.array([cell.feature.name for cell in cells], pa.string()),
        "before": [plain(cell.feature, cell.before) for cell in cells],
        "after": [plain(cell.feature, cell.after) for cell in cells],
    }


def _reason(item: Explanation, cell: Cell) -> str:
    span = item.context.codec.span[cell.position].item()
    before, after = cell_texts(cell, span)
    name = name_text(cell.feature.name)
    target = class_text(item.context.classes[item.target])
    held = f"{name[:1].upper()}{name[1:]} is {before}"
    other = f"in the variant for which the model says {target} it is {after}."
    if isinstance(cell.feature, Categorical):
        return f"{held}; {other}"
    return f"{held}, too {'low' if cell.after > cell.before else 'high'}: {other}"


def _frame(result: Explanations, columns: dict[str, Any], rows: Sequence[int]) -> Any:
    """Make a frame of our own columns; lists of mixed values become objects, or else text."""
    library: Any = result.layout.library
    if library is nw.Implementation.PANDAS:
        built = {name: _series(name, values) for name, values in columns.items()}
        return pd.DataFrame(built, index=result.layout.take(rows).index)
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
