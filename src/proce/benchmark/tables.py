"""The tables of a run, made from its summary alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from proce.benchmark.printed import read_printed_values
from proce.benchmark.table import Table, TableCell

DATASET_TITLES = {
    "simple_bn": "Simple-BN",
    "sangiovese": "Sangiovese",
    "adult": "Adult",
    "law": "Law",
    "loan": "loan",
}
_PRINTED_NAMES = {  # of the metrics, in the file of the paper's values
    "target_class_validity": "tcv",
    "causal_constraint_validity": "ccv",
    "im1": "im1",
    "im2": "im2",
    "seconds_per_row": "seconds",
}
_NO_VALUE = "–"

Line = dict[Any, Any]  # of a summary
LineKey = tuple[str, str, str, str]  # data set, classifier, variant, metric


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: one statistic of one metric.

    Attributes
    ----------
    title
        The heading of the column.
    metric
        The metric that it shows.
    better
        ``max`` or ``min``, which finds the best value; ``None`` to mark no value.
    show
        Turns a line of the summary into text.
    statistic
        The column of the summary by which values are compared.
    """

    title: str
    metric: str
    better: Callable[..., Any] | None
    show: Callable[[Line], str]
    statistic: str = "mean"


def build_tables(summary: pd.DataFrame) -> list[Table]:
    """Return every table that a summary has the values for."""
    tables = []
    for number, (classifier, ordinal) in enumerate((("first", "1st"), ("second", "2nd")), start=1):
        title = f"Validity and interpretability on the {ordinal} classifier; p-values against ProCE"
        tables.append(_fill(f"table{number}", title, summary, "paper", _VALIDITY, classifier))
    tables += [
        _fill("table3", "Seconds per explained row, one thread", summary, "paper", _TIMES),
        _fill("equal_terms", "All under the same rules", summary, "rules", _EQUAL_TERMS),
        _fill("distances", "Proximity, sparsity, plausibility", summary, "paper", _DISTANCES),
        _fill("recourse", "Advice taken in the true world", summary, "recourse", _RECOURSE),
    ]
    return [table for table in tables if table.rows]


def _fill(
    name: str,
    title: str,
    summary: pd.DataFrame,
    group: str,
    columns: Sequence[Column],
    classifier: str | None = None,
) -> Table:
    """Return a table with a row per data set, classifier (unless one is given) and variant."""
    part = summary[summary["group"] == group]
    part = part if classifier is None else part[part["classifier"] == classifier]
    lines: dict[LineKey, Line] = {
        (line["dataset"], line["classifier"], line["variant"], line["metric"]): line
        for line in part.to_dict("records")
    }
    keys = sorted(dict.fromkeys(key[:3] for key in lines), key=_order)
    worlds = dict.fromkeys(key[:2] for key in keys)
    best = {
        (world, column): _best_value(lines, column, world) for world in worlds for column in columns
    }
    rows = []
    for dataset, classifier_name, variant in keys:
        names = [DATASET_TITLES.get(dataset, dataset), variant]
        if classifier is None:
            names.insert(1, classifier_name)
        cells = [TableCell(text) for text in names]
        for column in columns:
            line = lines.get((dataset, classifier_name, variant, column.metric))
            cells.append(_table_cell(line, column, best[(dataset, classifier_name), column]))
        rows.append(tuple(cells))
    key_names = ("data set", "method") if classifier else ("data set", "classifier", "method")
    return Table(name, title, (*key_names, *(column.title for column in columns)), tuple(rows))


def _order(key: tuple[str, str, str]) -> tuple[int, str]:
    """Return what rows are sorted by: the paper's order of data sets, then the classifier."""
    dataset, classifier, _ = key
    order = list(DATASET_TITLES)
    return (order.index(dataset) if dataset in order else len(order), classifier)


def _table_cell(line: Line | None, column: Column, best: float | None) -> TableCell:
    if line is None:
        return TableCell(_NO_VALUE)
    return TableCell(column.show(line), best is not None and _rounded(line, column) == best)


def _best_value(lines: dict[LineKey, Line], column: Column, world: tuple[str, str]) -> float | None:
    """Return the best value of a column among the variants of one data set and classifier."""
    if column.better is None:
        return None
    values = [
        _rounded(line, column)
        for key, line in lines.items()
        if key[:2] == world and key[3] == column.metric
    ]
    known = [value for value in values if value is not None]
    return column.better(known) if known else None


def _rounded(line: Line, column: Column) -> float | None:
    """Return a value rounded as it is shown, so that values that look equal share the best."""
    value = line[column.statistic]
    if column.better is None or not math.isfinite(value):
        return None
    return float(f"{value:.4g}")


def _percent(line: Line) -> str:
    return _with_sd(100 * line["mean"], 100 * line["sd"], lambda value: f"{value:.1f}")


def _mean(line: Line) -> str:
    return _with_sd(line["mean"], line["sd"], format_number)


def _with_sd(mean: float, sd: float, show: Callable[[float], str]) -> str:
    if not math.isfinite(mean):
        return _NO_VALUE
    return f"{show(mean)} ± {show(sd)}" if math.isfinite(sd) else show(mean)


def _median(line: Line) -> str:
    return format_number(line["median"]) if math.isfinite(line["median"]) else _NO_VALUE


def format_number(value: float) -> str:
    """Return a number with three significant digits; with an exponent only if it is tiny."""
    if value == 0 or abs(value) < 1e-4:
        return f"{value:.2g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def _p_value(line: Line) -> str:
    p, difference = line["holm_p"], line["difference"]
    if math.isfinite(p):
        return "< 0.001" if p < 0.001 else f"{p:.3f}"
    if difference == 0:
        return "no difference"
    return _NO_VALUE if not math.isfinite(difference) else "all alike"


def _printed(line: Line) -> str:
    name = _PRINTED_NAMES[line["metric"]]
    value = read_printed_values().get((line["dataset"], line["classifier"], line["variant"], name))
    if value is None:
        return _NO_VALUE
    return _with_sd(*value, (lambda x: f"{x:.2f}") if name in ("tcv", "ccv") else format_number)


_TCV = "target_class_validity"
_CCV = "causal_constraint_validity"
_STRICT = "strict_constraint_validity"
_VALIDITY = (
    Column("%Tcv", _TCV, max, _percent),
    Column("%Ccv", _CCV, max, _percent),
    Column("%Ccv strict", _STRICT, max, _percent),
    Column("IM1", "im1", min, _mean),
    Column("IM1 median", "im1", min, _median, "median"),
    Column("IM2", "im2", min, _mean),
    Column("IM2 median", "im2", min, _median, "median"),
    Column("p %Tcv", _TCV, None, _p_value),
    Column("p %Ccv", _CCV, None, _p_value),
    Column("p IM1", "im1", None, _p_value),
    Column("p IM2", "im2", None, _p_value),
    Column("paper %Tcv", _TCV, None, _printed),
    Column("paper %Ccv", _CCV, None, _printed),
    Column("paper IM1", "im1", None, _printed),
    Column("paper IM2", "im2", None, _printed),
)
_TIMES = (
    Column("seconds", "seconds_per_row", min, _mean),
    Column("fitting, seconds", "fit_seconds", None, _mean),
    Column("candidates", "evaluations_per_row", None, _mean),
    Column("paper, seconds", "seconds_per_row", None, _printed),
)
_DISTANCES = (
    Column("categorical kept", "categorical_proximity", max, _mean),
    Column("continuous", "continuous_proximity", max, _mean),
    Column("changed", "sparsity", min, _mean),
    Column("Gower", "gower_distance", min, _mean),
    Column("MAD-L1", "mad_l1", min, _mean),
    Column("nearest target row", "nearest_target_row", min, _mean),
    Column("outlier factor", "local_outlier_factor", min, _mean),
    Column("valid after refits", "robustness", max, _percent),
)
_EQUAL_TERMS = (
    Column("%Tcv", _TCV, max, _percent),
    Column("%Ccv", _CCV, max, _percent),
    Column("%Ccv strict", _STRICT, max, _percent),
    Column("Gower", "gower_distance", min, _mean),
    Column("p Gower", "gower_distance", None, _p_value),
    Column("continuous", "continuous_proximity", max, _mean),
    Column("changed", "sparsity", min, _mean),
    Column("seconds", "seconds_per_row", min, _mean),
)
_RECOURSE = (
    Column("success", "actionable_success", max, _percent),
    Column("broken promises", "actionable_broken_promises", min, _percent),
    Column("p success", "actionable_success", None, _p_value),
    Column("success, all may be acted on", "recourse_success", None, _percent),
    Column("cost", "action_cost", None, _mean),
    Column("actions", "n_actions", None, _mean),
    Column("Gower", "gower_distance", None, _mean),
)
SHOWN_METRICS = frozenset(
    column.metric
    for columns in (_VALIDITY, _TIMES, _DISTANCES, _EQUAL_TERMS, _RECOURSE)
    for column in columns
)
