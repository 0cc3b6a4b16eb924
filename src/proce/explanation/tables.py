"""Explanations as frames."""

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import torch
from torch import Tensor

from proce.explanation.explanation import Change
from proce.schema import Continuous, Layout

if TYPE_CHECKING:
    from proce.explanation.explanation import Explanation, Explanations


def counterfactuals(result: "Explanations") -> Any:
    """Return all counterfactuals in the layout of the frame that was explained."""
    items = [item for item in result.items if len(item)]
    rows, factual, raw = _stacked(result, items)
    positions = [item.row for item in items for _ in range(len(item))]
    return decoded(result, rows, factual, raw, result.layout.take(positions))


def decoded(
    result: "Explanations", rows: Tensor, factual: Tensor, raw: Tensor, layout: Layout
) -> Any:
    """Return rows as a frame; what did not change is the number that came in, bit for bit."""
    columns = result.context.codec.columns(rows)
    for position, feature in enumerate(result.context.codec.schema):
        if isinstance(feature, Continuous):
            same = rows[:, position] == factual[:, position]
            before = raw[:, position].numpy()
            columns[feature.name] = np.where(same.numpy(), before, columns[feature.name])
    return layout.build(columns)


def to_frame(result: "Explanations") -> Any:
    """Return all counterfactuals with their row and rank in front."""
    frame = nw.from_native(counterfactuals(result), eager_only=True)
    numbers = [(item.row, rank) for item in result.items for rank in range(1, len(item) + 1)]
    row, rank = ("_row", "_rank") if {"row", "rank"} & set(frame.columns) else ("row", "rank")
    labels = {row: [each[0] for each in numbers], rank: [each[1] for each in numbers]}
    return _with_columns_in_front(frame, labels)
