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
    hold no values and stay. Why an auditor's explanation failed is not told: the words may speak of
    a protected feature in ways that no list of names has.

    Parameters
    ----------
    record
        The record as it is kept.
    protected
        The names of the protected features, and the labels by which people speak of them.
    """
    if not protected:
        return record
    names = _Names(protected)
    error = record.error
    if error is not None and (_is_an_auditors_failure(record) or names.are_in(error)):
        error = _WITHHELD_ERROR
    return replace(record, request=_request(record.request, names), error=error)


def _is_an_auditors_failure(record: Record) -> bool:
    return record.status == "failed" and record.role != "applicant"


class _Names:
    """Names that may not be told, and where they stand."""

    def __init__(self, protected: Collection[str]) -> None:
        self._names = {*protected}
        spoken = {*protected, *(name.replace("_", " ") for name in protected)}
        plain = {word.replace("\\", "") for word in spoken} | spoken
        self._anywhere = re.compile("|".join(map(re.escape, sorted(plain))), re.IGNORECASE)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def are_in(self, text: str) -> bool:
        """Whether a text has one of the names, also where signs of it are escaped."""
        return any(self._anywhere.search(form) for form in (text, text.replace("\\", "")))


def _request(request: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    shown = dict(request)
    for field in _BY_FEATURE:
        if isinstance(shown.get(field), dict):
            shown[field] = _without(shown[field], names)
    if isinstance(shown.get("rows"), list):
        shown["rows"] = [
            _without(row, names) if isinstance(row, dict) else row for row in shown["rows"]
        ]
    if isinstance(shown.get("vary"), list):
        shown["vary"] = [name for name in shown["vary"] if name not in names]
    if isinstance(shown.get("rules"), list):
        shown["rules"] = [rule for rule in shown["rules"] if not names.are_in(str(rule))]
    if isinstance(shown.get("graph"), dict):
        shown["graph"] = _graph(shown["graph"], names)
    return shown


def _graph(graph: Mapping[str, Any], names: _Names) -> dict[str, Any] | None:
    """Return a graph without edges of protected features; a text that names one is left out."""
    if names.are_in(str(graph.get("dagitty") or "")):
        return None
    edges = graph.get("edges")
    if not isinstance(edges, list):
        return dict(graph)
    return {**graph, "edges": [edge for edge in edges if not any(end in names for end in edge)]}


def _without(cells: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    return {name: value for name, value in cells.items() if name not in names}
