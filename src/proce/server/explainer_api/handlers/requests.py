"""What an explanation is asked for: read from plain values, and checked before any search."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.causal import CausalGraph
from proce.errors import ProceError, RuleError
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import FittedParts
from proce.objective import CallLimits
from proce.schema import Rule
from proce.server.explainer_api.errors import RequestError, brief, listed
from proce.server.explainer_api.handlers.graphs import Graphs
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.rows import RowTable
from proce.server.explainer_api.handlers.values import class_at, row_of

_OPTIONS = {name: option for name, option in EXPLAIN_OPTIONS.items() if option.in_requests}
FIELDS = ("rows", "row_ids", "values", *_OPTIONS, "graph", "view")
MAX_RULES = 100  # of a request
ROW_FIELDS = ("rows", "row_ids", "values")
ROW = "row_id"  # what the labels of rows are called that have no ids
_Read = TypeVar("_Read")


def check_rules(texts: Sequence[str], role: RoleView) -> dict[str, Any]:
    """Return for each rule whether it can be read, and after how many characters it cannot."""
    refuse_many(texts, "rules")
    return {"rules": [_checked(text, role) for text in texts]}


def refuse_many(texts: Sequence[str], field: str) -> None:
    """Refuse more rules than a person would write."""
    if len(texts) > MAX_RULES:
        raise RequestError(
            field,
            f"there are {len(texts):,} rules; at most {MAX_RULES} are read. Join rules with 'and'.",
        )


def read_rule(text: Any, role: RoleView, field: str) -> Rule:
    """Return a rule over the features that a view shows, or say what is wrong with it."""
    try:
        return Rule.parse(text, role.codec)
    except RuleError as error:
        wrong = RequestError(field, str(error))
        wrong.position = error.position
        raise wrong from None


def _checked(text: Any, role: RoleView) -> dict[str, Any]:
    try:
        read_rule(text, role, "")
    except RequestError as error:
        return {"text": text, "ok": False, "error": error.message, "position": error.position}
    return {"text": text, "ok": True, "error": None, "position": None}


@dataclass(frozen=True, eq=False)
class Order:
    """A request that was read."""

    raw: Array  # (n, f), in raw units and level codes
    labels: pd.Index | None  # ids or places in the file; None for rows from elsewhere
    options: Mapping[str, Any] = field(default_factory=dict)  # of ProCE.explain
    graph: CausalGraph | None = None  # None for that of the explainer


def read_order(
    request: Mapping[str, Any],
    role: RoleView,
    graphs: Graphs,
    fitted: FittedParts,
    table: RowTable | None,
) -> Order:
    """Read a request, or raise a :class:`RequestError` that names the field that is wrong."""
    for name in request:
        if name not in FIELDS:
            known = ", ".join(FIELDS)
            raise RequestError(name[:60], f"there is no such field; the fields are {known}.")
    asked = {name: value for name, value in request.items() if value is not None}
    raw, labels = _rows(asked, role, table)
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
    for name, option in _OPTIONS.items():
        if name in asked and (option.choices or option.bounds) and not option.by_feature:
            options[name] = _field(name, partial(option.read, asked[name]))
    if "vary" in asked:
        options["vary"] = _vary(asked["vary"], role)
    options["ranges"] = _by_feature("ranges", asked, role, _range)
    options["effort"] = _by_feature("effort", asked, role, _effort)
    options["rules"] = _rules(asked.get("rules", []), role)
    graph = None if "graph" not in asked else graphs.read(_object("graph", asked), role)
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
    asked: Mapping[str, Any], role: RoleView, table: RowTable | None
) -> tuple[Array, pd.Index | None]:
    if ("rows" in asked) == ("row_ids" in asked):
        raise RequestError("rows", "expected rows, or row_ids of the file, and not both.")
    if "rows" in asked:
        if "values" in asked:
            raise RequestError("values", "only a single row of row_ids takes further values.")
        rows = _list("rows", asked["rows"])
        typed = [row_of(role, _mapping(r, f"rows[{n}]"), f"rows[{n}]") for n, r in enumerate(rows)]
        return _stacked(typed, role), None
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
        raw = [row_of(role, _object("values", asked), "values", bases[0])]
    else:
        raw = [row_of(role, {}, f"row_ids[{n}]", base) for n, base in enumerate(bases)]
    assert table is not None, "base_row has refused it"
    if table.ids is None:
        return _stacked(raw, role), pd.Index(ids, name=ROW, dtype="int64")
    texts = [table.id_of(row) for row in ids]
    return _stacked(raw, role), pd.Index(texts, name=table.id_name, dtype="str")


def _stacked(rows: list[Array], role: RoleView) -> Array:
    return np.stack(rows) if rows else np.zeros((0, len(role.whole.schema)))


def _vary(names: Any, role: RoleView) -> list[str]:
    names = _list("vary", names)
    if not names:
        _field("vary", lambda: CallLimits.read(role.codec, names))
    for number, name in enumerate(names):
        place = f"vary[{number}]"
        role.feature(name if isinstance(name, str) else brief(name), place)
        _field(place, lambda name=name: CallLimits.read(role.codec, [name]))  # type: ignore[misc]
    return list(dict.fromkeys(names))


def _by_feature(
    option: str,
    asked: Mapping[str, Any],
    role: RoleView,
    read: Callable[[str, Any, RoleView, str], _Read],
) -> dict[str, _Read] | None:
    """Return an option that is given by feature."""
    if option not in asked:
        return None
    given = _object(option, asked)
    for name in given:
        role.feature(name, f"{option}.{name}")
    return {name: read(name, value, role, f"{option}.{name}") for name, value in given.items()}


def _range(name: str, limits: Any, role: RoleView, place: str) -> list[Any]:
    if not isinstance(limits, list) or len(limits) != 2:
        raise RequestError(place, "expected [low, high].")
    _field(place, lambda: CallLimits.read(role.codec, None, {name: limits}))
    return limits


def _effort(name: str, weight: Any, role: RoleView, place: str) -> float:
    _field(place, lambda: Options(effort={name: weight}).effort_weights(role.codec))
    return float(weight)


def _rules(texts: Any, role: RoleView) -> list[str]:
    texts = _list("rules", texts)
    refuse_many(texts, "rules")
    return [read_rule(text, role, f"rules[{n}]").text for n, text in enumerate(texts)]


def _field(place: str, read: Callable[[], _Read]) -> _Read:
    """Read something; what is wrong with it is told of a field."""
    try:
        return read()
    except ProceError as error:
        raise RequestError(place, str(error)) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(place, f"{error}.") from None


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
