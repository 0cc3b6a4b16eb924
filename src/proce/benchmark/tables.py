"""The tables of a run, from its summary alone."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from proce.benchmark.printed import printed_values
from proce.benchmark.table import Cell, Table

TITLES = {
    "simple_bn": "Simple-BN",
    "sangiovese": "Sangiovese",
    "adult": "Adult",
    "law": "Law",
    "loan": "loan",
}
_PERCENT = ("target_class_validity", "causal_constraint_validity", "strict_constraint_validity")
_IN_PAPER = {
    "target_class_validity": "tcv",
    "causal_constraint_validity": "ccv",
    "im1": "im1",
    "im2": "im2",
    "seconds_per_row": "seconds",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: a statistic of a metric.

    Attributes
    ----------
    title
        Its heading.
    metric
        What it shows.
    better
        ``max`` or ``min``, for marking the best; ``None`` to mark none.
    show
        From a line of the summary to text.
    statistic
        What the best is told by.
    """

    title: str
    metric: str
    better: Callable[..., Any] | None
    show: Callable[[Any], str]
    statistic: str = "mean"


def tables_of(summary: pd.DataFrame) -> list[Table]:
    """Return every table that a summary has the values for."""
    tables = []
    for number, (classifier, words) in enumerate((("first", "1st"), ("second", "2nd")), start=1):
        title = f"Validity and interpretability on the {words} classifier; p-values against ProCE"
        tables.append(_built(f"table{number}", title, summary, "paper", _VALIDITY, classifier))
    tables += [
        _built("table3", "Seconds per explained row, one thread", summary, "paper", _TIMES),
        _built("equal_terms", "All under the same rules", summary, "rules", _EQUAL),
        _built("distances", "Proximity, sparsity, plausibility", summary, "paper", _DISTANCES),
        _built("recourse", "Advice taken in the true world", summary, "recourse", _RECOURSE),
    ]
    return [table for table in tables if table.rows]


def _built(
    name: str,
    title: str,
    summary: pd.DataFrame,
    group: str,
    columns: Sequence[Column],
    classifier: str | None = None,
) -> Table:
    """Fill a table: a line per data set, classifier (unless one is given) and variant."""
    part = summary[summary["group"] == group]
    part = part if classifier is None else part[part["classifier"] == classifier]
    lines: dict[tuple[str, ...], Any] = {
        (line["dataset"], line["classifier"], line["variant"], line["metric"]): line
        for line in part.to_dict("records")
    }
    keys = list(dict.fromkeys(key[:3] for key in lines))
    order = list(TITLES)
    keys.sort(key=lambda key: (order.index(key[0]) if key[0] in order else 99, key[1]))
    best = {key[:2]: _best(lines, columns, key[0], key[1]) for key in keys}
    with_classifier = classifier is None
    rows = []
    for key in keys:
        names = [TITLES.get(key[0], key[0]), key[2]]
        names[1:1] = [key[1]] if with_classifier else []
        cells = [Cell(each) for each in names]
        for at, column in enumerate(columns):
            line = lines.get((*key, column.metric))
            goal = best[key[:2]][at]
            wins = line is not None and goal is not None and _rounded(line, column) == goal
            cells.append(Cell("–" if line is None else column.show(line), wins))
        rows.append(tuple(cells))
    header = ("data set", *(("classifier",) if with_classifier else ()), "method")
    return Table(name, title, (*header, *(column.title for column in columns)), tuple(rows))


def _best(
    lines: dict[tuple[str, ...], Any], columns: Sequence[Column], dataset: str, classifier: str
) -> list[float | None]:
    """Return the best value of each column in one cell of the comparison; ties share it."""
    found: list[float | None] = []
    for column in columns:
        values = [
            _rounded(line, column)
            for key, line in lines.items()
            if key[:2] == (dataset, classifier) and key[3] == column.metric
        ]
        known = [value for value in values if value is not None]
        found.append(column.better(known) if column.better and known else None)
    return found


def _rounded(line: Any, column: Column) -> float | None:
    """Return a value as exactly as it is shown, so that what looks equal is."""
    value = line[column.statistic]
    if column.better is None or not math.isfinite(value):
        return None
    return float(f"{value:.4g}")


def _percent(line: Any) -> str:
    return _with_sd(100 * line["mean"], 100 * line["sd"], lambda value: f"{value:.1f}")


def _mean(line: Any) -> str:
    return _with_sd(line["mean"], line["sd"], number)


def _with_sd(mean: float, sd: float, shown: Callable[[float], str]) -> str:
    if not math.isfinite(mean):
        return "–"
    return f"{shown(mean)} ± {shown(sd)}" if math.isfinite(sd) else shown(mean)


def _median(line: Any) -> str:
    return number(line["median"]) if math.isfinite(line["median"]) else "–"


def number(value: float) -> str:
    """Return a number with three digits, without an exponent unless it is tiny."""
    if value == 0 or abs(value) < 1e-4:
        return f"{value:.2g}"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def _p(line: Any) -> str:
    p, difference = line["holm_p"], line["difference"]
    if math.isfinite(p):
        return "< 0.001" if p < 0.001 else f"{p:.3f}"
    if difference == 0:
        return "no difference"
    return "–" if not math.isfinite(difference) else "all alike"


def _in_paper(line: Any) -> str:
    name = _IN_PAPER[line["metric"]]
    value = printed_values().get((line["dataset"], line["classifier"], line["variant"], name))
    if value is None:
        return "–"
    return _with_sd(*value, (lambda x: f"{x:.2f}") if name in ("tcv", "ccv") else number)


_TCV, _CCV, _STRICT = _PERCENT
_VALIDITY = (
    Column("%Tcv", _TCV, max, _percent),
    Column("%Ccv", _CCV, max, _percent),
    Column("%Ccv strict", _STRICT, max, _percent),
    Column("IM1", "im1", min, _mean),
    Column("IM1 median", "im1", min, _median, "median"),
    Column("IM2", "im2", min, _mean),
    Column("IM2 median", "im2", min, _median, "median"),
    Column("p %Tcv", _TCV, None, _p),
    Column("p %Ccv", _CCV, None, _p),
    Column("p IM1", "im1", None, _p),
    Column("p IM2", "im2", None, _p),
    Column("paper %Tcv", _TCV, None, _in_paper),
    Column("paper %Ccv", _CCV, None, _in_paper),
    Column("paper IM1", "im1", None, _in_paper),
    Column("paper IM2", "im2", None, _in_paper),
)
_TIMES = (
    Column("seconds", "seconds_per_row", min, _mean),
    Column("fitting, seconds", "fit_seconds", None, _mean),
    Column("candidates", "evaluations_per_row", None, _mean),
    Column("paper, seconds", "seconds_per_row", None, _in_paper),
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
_EQUAL = (
    Column("%Tcv", _TCV, max, _percent),
    Column("%Ccv", _CCV, max, _percent),
    Column("%Ccv strict", _STRICT, max, _percent),
    Column("Gower", "gower_distance", min, _mean),
    Column("p Gower", "gower_distance", None, _p),
    Column("continuous", "continuous_proximity", max, _mean),
    Column("changed", "sparsity", min, _mean),
    Column("seconds", "seconds_per_row", min, _mean),
)
_RECOURSE = (
    Column("success", "actionable_success", max, _percent),
    Column("broken promises", "actionable_broken_promises", min, _percent),
    Column("p success", "actionable_success", None, _p),
    Column("success, all may be acted on", "recourse_success", None, _percent),
    Column("cost", "action_cost", None, _mean),
    Column("actions", "n_actions", None, _mean),
    Column("Gower", "gower_distance", None, _mean),
)
METRICS = frozenset(
    column.metric
    for columns in (_VALIDITY, _TIMES, _DISTANCES, _EQUAL, _RECOURSE)
    for column in columns
)
