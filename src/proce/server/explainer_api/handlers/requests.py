"""What an explanation is asked for: read from plain values, and checked before any search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.causal import CausalGraph
from proce.errors import ProceError
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.objective import CallLimits
from proce.server.explainer_api.errors import RequestError
from proce.server.explainer_api.handlers.classes import class_at
from proce.server.explainer_api.handlers.graphs import Graphs
from proce.server.explainer_api.handlers.names import brief, listed
from proce.server.explainer_api.handlers.rules import read_rule, refuse_many
from proce.server.explainer_api.handlers.sight import Sight
from proce.server.explainer_api.handlers.table import RowTable
from proce.server.explainer_api.handlers.values import row_of

ROW_FIELDS = ("rows", "row_ids", "values")
PLAIN_OPTIONS = ("n", "pick", "max_changes", "min_probability", "budget_seconds", "robust")
FIELDS = (
    *ROW_FIELDS,
    "target",
    *PLAIN_OPTIONS,
    "vary",
    "ranges",
    "effort",
    "rules",
    "graph",
    "causal",
    "view",
)
ROW = "row_id"  # what the labels of rows are called that have no ids
_Read = TypeVar("_Read")


@dataclass(frozen=True, eq=False)
class Order:
    """A request that was read.

    Attributes
    ----------
    raw
        ``(n, f)``, the rows in raw units and level codes.
    labels
        What the rows are called, by their ids or their places in the file; ``None`` for rows that
        are not from the file.
    options
        The options of :meth:`proce.ProCE.explain`.
    graph
        The graph to use; ``None`` for that of the explainer.
    """

    raw: Array
    labels: pd.Index | None
    options: Mapping[str, Any] = field(default_factory=dict)
    graph: CausalGraph | None = None


def read_order(
    request: Mapping[str, Any],
    sight: Sight,
    graphs: Graphs,
    fitted: FittedParts,
    table: RowTable | None,
) -> Order:
    """Read a request, or raise a :class:`RequestError` that names the field that is wrong.

    Parameters
    ----------
    request
        The fields as plain values; a field that is absent or null is not asked for.
    sight
        What the person who asks can see.
    graphs, fitted
        The explainer.
    table
        The rows of the file, or ``None`` without one.
    """
    for name in request:
        if name not in FIELDS:
            known = ", ".join(FIELDS)
            raise RequestError(name[:60], f"there is no such field; the fields are {known}.")
    asked = {name: value for name, value in request.items() if value is not None}
    raw, labels = _rows(asked, sight, table)
    options: dict[str, Any] = {}
    classes = fitted.classifier.classes
    if "target" in asked:
        options["target"] = classes[class_at(asked["target"], classes, "target")]
    elif len(classes) != 2:
        raise RequestError(
            "target",
            f"the model has the classes {listed(classes)}, and none is 'the other'; say which is"
            " wanted.",
        )
    for name in PLAIN_OPTIONS:
        if name in asked:
            _field(name, lambda name=name: Options(**{name: asked[name]}))  # type: ignore[misc]
            options[name] = asked[name]
    if "vary" in asked:
        options["vary"] = _vary(asked["vary"], sight)
    options["ranges"] = _by_feature("ranges", asked, sight, _range)
    options["effort"] = _by_feature("effort", asked, sight, _effort)
    options["rules"] = _rules(asked.get("rules", []), sight)
    if "causal" in asked:
        options["causal"] = _text("causal", asked["causal"])
    graph = None if "graph" not in asked else graphs.read(_object("graph", asked), sight)
    return Order(raw, labels, options, graph)


def base_row(row: Any, table: RowTable | None, place: str) -> Array:
    """Return the row ``(f,)`` at a position of the file."""
    if table is None:
        raise RequestError(place, "there is no file of rows; give the row's values.")
    if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < len(table):
        last = f"0 to {len(table) - 1}" if len(table) else "none"
        raise RequestError(place, f"there is no row {brief(row)}; the rows of the file are {last}.")
    return table.raw[row]


def _rows(
    asked: Mapping[str, Any], sight: Sight, table: RowTable | None
) -> tuple[Array, pd.Index | None]:
    if ("rows" in asked) == ("row_ids" in asked):
        raise RequestError("rows", "expected rows, or row_ids of the file, and not both.")
    if "rows" in asked:
        if "values" in asked:
            raise RequestError("values", "only a single row of row_ids takes further values.")
        rows = _list("rows", asked["rows"])
        typed = [row_of(sight, _mapping(r, f"rows[{n}]"), f"rows[{n}]") for n, r in enumerate(rows)]
        return _stacked(typed, sight), None
    ids = _list("row_ids", asked["row_ids"])
    bases = [base_row(row, table, f"row_ids[{number}]") for number, row in enumerate(ids)]
    seen: set[int] = set()
    for number, row in enumerate(ids):
        if row in seen:
            raise RequestError(f"row_ids[{number}]", f"row {row} is there already.")
        seen.add(row)
    if "values" in asked:
        if len(ids) != 1:
            raise RequestError("values", "only a single row of row_ids takes further values.")
        raw = [row_of(sight, _object("values", asked), "values", bases[0])]
    else:
        raw = [row_of(sight, {}, f"row_ids[{n}]", base) for n, base in enumerate(bases)]
    assert table is not None, "base_row has refused it"
    if table.ids is None:
        return _stacked(raw, sight), pd.Index(ids, name=ROW, dtype="int64")
    texts = [table.id_of(row) for row in ids]
    return _stacked(raw, sight), pd.Index(texts, name=table.id_name, dtype="str")


def _stacked(rows: list[Array], sight: Sight) -> Array:
    return np.stack(rows) if rows else np.zeros((0, len(sight.whole.schema)))


def _vary(names: Any, sight: Sight) -> list[str]:
    names = _list("vary", names)
    if not names:
        _field("vary", lambda: CallLimits.read(sight.codec, names))
    for number, name in enumerate(names):
        place = f"vary[{number}]"
        sight.feature(name if isinstance(name, str) else brief(name), place)
        _field(place, lambda name=name: CallLimits.read(sight.codec, [name]))  # type: ignore[misc]
    return list(dict.fromkeys(names))


def _by_feature(
    option: str,
    asked: Mapping[str, Any],
    sight: Sight,
    read: Callable[[str, Any, Sight, str], _Read],
) -> dict[str, _Read] | None:
    """Return an option that is given by feature."""
    if option not in asked:
        return None
    given = _object(option, asked)
    for name in given:
        sight.feature(name, f"{option}.{name}")
    return {name: read(name, value, sight, f"{option}.{name}") for name, value in given.items()}


def _range(name: str, limits: Any, sight: Sight, place: str) -> list[Any]:
    if not isinstance(limits, list) or len(limits) != 2:
        raise RequestError(place, "expected [low, high].")
    _field(place, lambda: CallLimits.read(sight.codec, None, {name: limits}))
    return limits


def _effort(name: str, weight: Any, sight: Sight, place: str) -> float:
    _field(place, lambda: Options(effort={name: weight}).effort_weights(sight.codec))
    return float(weight)


def _rules(texts: Any, sight: Sight) -> list[str]:
    texts = _list("rules", texts)
    refuse_many(texts, "rules")
    return [read_rule(text, sight, f"rules[{n}]").text for n, text in enumerate(texts)]


def _field(place: str, read: Callable[[], _Read]) -> _Read:
    """Read something; what is wrong with it is told of a field."""
    try:
        return read()
    except ProceError as error:
        raise RequestError(place, str(error)) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(place, f"{error}.") from None


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise RequestError(name, f"expected a text, got {brief(value)}.")
    return value


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError(name, f"expected a list, got {brief(value)}.")
    return value


def _object(name: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(asked[name], name)


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RequestError(place, f"expected an object by feature, got {brief(value)}.")
    return value
