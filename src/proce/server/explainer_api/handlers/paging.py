"""Pages of the rows of a file: filtered by a rule and by the decision, sorted, cut."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proce.errors import RuleError
from proce.explanation.exchange.plain_json import finite_or_none
from proce.explanation.record.outcome import UNKNOWN_CLASS
from proce.schema import Continuous, Level, Rule
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.classes import class_named
from proce.server.explainer_api.handlers.sight import Sight
from proce.server.explainer_api.handlers.table import RowTable

PROBABILITY = "probability"  # sorts by it, unless a feature has that name


def page_of(
    table: RowTable,
    sight: Sight,
    *,
    offset: int,
    limit: int,
    prediction: Any,
    where: str | None,
    sort: str | None,
    descending: bool,
) -> dict[str, Any]:
    """Return some rows, and how many there are in all that fit.

    Parameters
    ----------
    table
        The rows.
    sight
        What the reader may see.
    offset, limit
        How many of the rows that fit are passed over, and how many are returned at most.
    prediction
        The class that the rows have, or ``None`` for any; a text stands for a class that is
        written so.
    where
        A rule over ``x`` alone, such as ``x.age >= 40``; a row is left out where a cell that
        decides the rule is missing.
    sort, descending
        The feature by which rows are ordered, or ``probability``, that of the predicted class;
        ``None`` for the order of the file. Missing values come last.
    """
    rows = np.arange(len(table))
    if where is not None and where.strip():
        rows = rows[_fitting(table, sight, where)[rows]]
    if prediction is not None:
        position = class_named(prediction, table.classifier.classes, "prediction")
        rows = rows[table.predicted[rows] == position]
    if sort is not None:
        keys = _keys(table, sight, sort)[rows]
        order = np.argsort(-keys if descending else keys, kind="stable")  # NaN comes last
        rows = rows[order]
    shown = rows[offset : offset + limit]
    values = sight.values(table.raw[shown])
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


def _fitting(table: RowTable, sight: Sight, where: str) -> NDArray[np.bool_]:
    """Return which rows obey a rule."""
    try:
        rule = Rule.parse(where, sight.codec)
        keep = [sight.whole.schema.position(name) for name in sight.names]
        fits: NDArray[np.bool_] = rule.surely_holds(table.encoded[:, keep])
    except RuleError as error:
        raise RequestError("where", str(error)) from None
    return fits


def _keys(table: RowTable, sight: Sight, sort: str) -> NDArray[np.float64]:
    """Return the number by which each row is sorted; NaN where it is missing."""
    if sort == PROBABILITY and sort not in sight.codec.schema:
        return table.probability
    feature = sight.feature(sort, "sort")
    keys: NDArray[np.float64] = table.raw[:, sight.whole.schema.position(sort)]
    return keys if isinstance(feature, Continuous) else np.where(keys < 0, np.nan, keys)
