"""Explanations of the rows of a request: read, checked before any search, made, told in both views.

The routes have checked the shape of a request; what it means for this explainer is checked here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, get_args

import numpy as np
import pandas as pd

from proce.arrays import Array
from proce.causal import CausalGraph
from proce.errors import ProceError, RuleError
from proce.explanation import Explanations
from proce.explanation.exchange.plain_json import finite_or_none, plain_json
from proce.explanation.record.counterfactuals import OUTCOMES
from proce.explanation.record.view import protected_names
from proce.explanation.words.certainty import count_less_robust, count_unsure
from proce.methods import ProCE, Progress
from proce.methods.calls.explain_options import EXPLAIN_OPTIONS
from proce.methods.calls.options import Options
from proce.methods.fitting.fitted import other_models, resolve_mode
from proce.methods.pipeline import ProceCall
from proce.objective import CallLimits, Mode
from proce.schema import Rule
from proce.server.explainer_api.errors import RequestError, listed
from proce.server.explainer_api.handlers.graphs import Graphs
from proce.server.explainer_api.handlers.role_view import RoleView
from proce.server.explainer_api.handlers.rows import RowTable
from proce.server.explainer_api.handlers.values import class_at, frame_of, row_of

ROW = "row_id"  # what the labels of rows are called that have no ids
_MODES = get_args(Mode)
_PLAIN_OPTIONS = {
    name: option
    for name, option in EXPLAIN_OPTIONS.items()
    if option.in_requests and (option.choices or option.bounds) and not option.by_feature
}
_Read = TypeVar("_Read")
Report = Callable[[dict[str, Any]], object]


@dataclass(frozen=True, eq=False)
class ExplainCall:
    """A request that was read: the rows, and what ``ProCE.explain`` is called with."""

    raw: Array  # (n, f), in raw units and level codes
    labels: pd.Index | None  # ids or places in the file; None for rows from elsewhere
    options: Mapping[str, Any] = field(default_factory=dict)
    graph: CausalGraph | None = None  # None for that of the explainer


def read_call(
    request: Mapping[str, Any], role: RoleView, graphs: Graphs, table: RowTable | None
) -> ExplainCall:
    """Read a request, or raise a :class:`RequestError` that names the field that is wrong."""
    raw, labels = _rows(request, role, table)
    options: dict[str, Any] = {}
    classes = graphs.explainer.fitted_.classifier.classes
    if "target" in request:
        options["target"] = classes[class_at(request["target"], classes, "target")]
    elif len(classes) != 2:
        raise RequestError(
            "target",
            f"the model has the classes {listed(classes)}, and none is 'the other'; say which is"
            " wanted.",
        )
    for name, option in _PLAIN_OPTIONS.items():
        if name in request:
            options[name] = _field(name, partial(option.read, request[name]))
    if "vary" in request:
        options["vary"] = _vary(request["vary"], role)
    if "ranges" in request:
        options["ranges"] = _ranges(request["ranges"], role)
    if "effort" in request:
        options["effort"] = _effort(request["effort"], role)
    rules = [
        read_rule(text, role, f"rules[{n}]") for n, text in enumerate(request.get("rules", []))
    ]
    options["rules"] = [rule.text for rule in rules]
    graph = None if "graph" not in request else graphs.read(request["graph"], role)
    return ExplainCall(raw, labels, options, graph)


def base_row(row: int, table: RowTable | None, place: str) -> Array:
    """Return the row ``(f,)`` at a position of the file."""
    if table is None:
        raise RequestError(place, "there is no file of rows; give the row's values.")
    if row >= len(table):
        last = f"0 to {len(table) - 1}" if len(table) else "none"
        raise RequestError(place, f"there is no row {row}; the rows of the file are {last}.")
    return table.raw[row]


def check_rules(texts: Sequence[str], role: RoleView) -> dict[str, Any]:
    """Return for each rule whether it can be read, and after how many characters it cannot."""
    return {"rules": [_checked(text, role) for text in texts]}


def read_rule(text: str, role: RoleView, field: str) -> Rule:
    """Return a rule over the features that a view shows, or say what is wrong with it."""
    try:
        return Rule.parse(text, role.codec)
    except RuleError as error:
        raise RequestError(field, str(error), error.position) from None


def _checked(text: str, role: RoleView) -> dict[str, Any]:
    try:
        read_rule(text, role, "")
    except RequestError as error:
        return {"text": text, "ok": False, "error": error.message, "position": error.position}
    return {"text": text, "ok": True, "error": None, "position": None}


def _rows(
    request: Mapping[str, Any], role: RoleView, table: RowTable | None
) -> tuple[Array, pd.Index | None]:
    """Return the rows ``(n, f)`` of a request, and what each is known by."""
    if "rows" in request:
        typed = [row_of(role, row, f"rows[{n}]") for n, row in enumerate(request["rows"])]
        return np.stack(typed), None
    ids, values = request["row_ids"], request.get("values")
    bases = [base_row(row, table, f"row_ids[{n}]") for n, row in enumerate(ids)]
    seen: set[int] = set()
    for number, row in enumerate(ids):
        if row in seen:
            raise RequestError(f"row_ids[{number}]", f"row {row} is there already.")
        seen.add(row)
    if values is not None:
        raw = [row_of(role, values, "values", bases[0])]
    else:
        raw = [row_of(role, {}, f"row_ids[{n}]", base) for n, base in enumerate(bases)]
    assert table is not None, "base_row has refused it"
    if table.ids is None:
        return np.stack(raw), pd.Index(ids, name=ROW, dtype="int64")
    texts = [table.id_of(row) for row in ids]
    return np.stack(raw), pd.Index(texts, name=table.id_name, dtype="str")


def _vary(names: Sequence[str], role: RoleView) -> list[str]:
    if not names:
        _field("vary", lambda: CallLimits.read(role.codec, names))
    for number, name in enumerate(names):
        role.feature(name, f"vary[{number}]")
        _field(f"vary[{number}]", partial(CallLimits.read, role.codec, [name]))
    return list(dict.fromkeys(names))


def _ranges(ranges: Mapping[str, list[Any]], role: RoleView) -> dict[str, list[Any]]:
    for name in ranges:
        role.feature(name, f"ranges.{name}")
    for name, limits in ranges.items():
        _field(f"ranges.{name}", partial(CallLimits.read, role.codec, None, {name: limits}))
    return dict(ranges)


def _effort(effort: Mapping[str, float], role: RoleView) -> dict[str, float]:
    for name in effort:
        role.feature(name, f"effort.{name}")
    for name, weight in effort.items():
        _field(f"effort.{name}", partial(Options(effort={name: weight}).effort_weights, role.codec))
    return {name: float(weight) for name, weight in effort.items()}


def _field(place: str, read: Callable[[], _Read]) -> _Read:
    """Read something; what is wrong with it is told of a field."""
    try:
        return read()
    except ProceError as error:
        raise RequestError(place, str(error)) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(place, f"{error}.") from None


def check_call(explainer: ProCE, call: ExplainCall, role: RoleView) -> None:
    """Refuse what the explainer cannot honour; nothing is fitted or searched."""
    fitted, asked = explainer.fitted_, dict(call.options)
    if asked.pop("robust", None) is not None and fitted.model_refits is None:
        role.attempt("robust", lambda: other_models(fitted, explainer.models, None, robust=True))
    causal = asked.pop("causal", None)
    if causal is not None and (call.graph is None or causal not in _MODES):
        role.attempt("causal", lambda: resolve_mode(causal, fitted.scm))
    frame = frame_of(fitted.codec, call.raw)
    role.attempt("rows", lambda: ProceCall(fitted, Options(**asked), frame))  # not run


def explain_call(
    explainer: ProCE, call: ExplainCall, report: Report | None = None
) -> dict[str, Any]:
    """Explain the rows of a request that was read."""
    frame = frame_of(explainer.fitted_.codec, call.raw)
    progress = None if report is None else lambda now: report(plain_progress(now))
    result = explainer.explain(frame, progress=progress, **call.options)
    return finish(result if call.labels is None else result.labelled(call.labels))


def finish(result: Explanations) -> dict[str, Any]:
    """Return explanations as text and plain values."""
    auditor = result.to_json(view="auditor")
    protected = protected_names(result.context.codec.schema)
    provenance = {name: plain_json(value) for name, value in vars(result.provenance).items()}
    del provenance["options"]  # which the request says
    return {
        "results": {
            "applicant": result.to_json(view="applicant") if protected else auditor,
            "auditor": auditor,
        },
        "summary": summary_of(result),
        "provenance": provenance,
    }


def summary_of(result: Explanations) -> dict[str, int]:
    """Return how many rows ended how, and of how many the recommended way is weak."""
    counts = result.rows.outcome_counts()
    return {
        "n_rows": len(result),
        **{outcome.value: counts.get(outcome, 0) for outcome in OUTCOMES},
        "unsure": count_unsure(result.rows),
        "less_robust": count_less_robust(result.rows),
    }


def plain_progress(progress: Progress) -> dict[str, Any]:
    """Return how far a call has come as plain values; null where a number is not known yet."""
    return {
        "stage": progress.stage,
        "done": progress.done,
        "total": progress.total,
        "generation": progress.generation,
        "best_probability": finite_or_none(progress.best_probability),
        "best_distance": finite_or_none(progress.best_distance),
        "front_size": round(progress.front_size),
    }
