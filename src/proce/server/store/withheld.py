"""A record as an applicant may see it: without values and names of protected features."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from proce.server.store.record import Record

_BY_FEATURE = ("values", "ranges", "effort")
_WITHHELD_ERROR = "the explanation failed. An auditor's view of this record says why."


def for_applicant(record: Record, protected: Collection[str]) -> Record:
    """Return a record without its protected features.

    Cells, limits, rules, edges and words that name one are left out. Rows by number, ``row_ids``,
    hold no values and stay.

    Parameters
    ----------
    record
        The record as it is kept.
    protected
        The names of the protected features.
    """
    if not protected:
        return record
    names = re.compile("|".join(re.escape(name) for name in protected), re.IGNORECASE)
    error = record.error
    if error is not None and names.search(error):
        error = _WITHHELD_ERROR
    return replace(record, request=_request(record.request, set(protected), names), error=error)


def _request(
    request: Mapping[str, Any], protected: set[str], names: re.Pattern[str]
) -> dict[str, Any]:
    shown = dict(request)
    for field in _BY_FEATURE:
        if isinstance(shown.get(field), dict):
            shown[field] = _without(shown[field], protected)
    if isinstance(shown.get("rows"), list):
        shown["rows"] = [
            _without(row, protected) if isinstance(row, dict) else row for row in shown["rows"]
        ]
    if isinstance(shown.get("vary"), list):
        shown["vary"] = [name for name in shown["vary"] if name not in protected]
    if isinstance(shown.get("rules"), list):
        shown["rules"] = [rule for rule in shown["rules"] if not names.search(str(rule))]
    if isinstance(shown.get("graph"), dict):
        shown["graph"] = _graph(shown["graph"], protected, names)
    return shown


def _graph(
    graph: Mapping[str, Any], protected: set[str], names: re.Pattern[str]
) -> dict[str, Any] | None:
    """Return a graph without edges of protected features; a text that names one is left out."""
    if names.search(str(graph.get("dagitty") or "")):
        return None
    edges = graph.get("edges")
    if not isinstance(edges, list):
        return dict(graph)
    return {**graph, "edges": [edge for edge in edges if not protected & {*map(str, edge)}]}


def _without(cells: Mapping[str, Any], protected: set[str]) -> dict[str, Any]:
    return {name: value for name, value in cells.items() if name not in protected}
