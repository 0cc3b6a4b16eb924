"""The columns of the tables: which statistic of which metric they show, and how."""

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from proce.benchmark.reporting.summary import NOT_APPLICABLE

_PRINTED_NAMES = {  # of the metrics, in the file of the paper's values
    "target_class_validity": "tcv",
    "causal_constraint_validity": "ccv",
    "im1": "im1",
    "im2": "im2",
    "seconds_per_row": "seconds",
}
NO_VALUE = "–"

Line = dict[Any, Any]  # of a summary


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: one statistic of one metric."""

    title: str  # the heading of the column
    metric: str  # the metric that it shows
    # max or min, which finds the best value; None to mark no value
    better: Callable[..., Any] | None
    show: Callable[[Line], str]  # turns a line of the summary into text
    statistic: str = "mean"  # the column of the summary by which values are compared


def _percent(line: Line) -> str:
    return _with_sd(line["mean"], line["sd"], _format_share)


def _format_share(value: float) -> str:
    return f"{100 * value:.1f}"


def _mean(line: Line) -> str:
    return _with_sd(line["mean"], line["sd"], format_number)


def _with_sd(mean: float, sd: float, show: Callable[[float], str]) -> str:
    if not math.isfinite(mean):
        return NO_VALUE
    return f"{show(mean)} ± {show(sd)}" if math.isfinite(sd) else show(mean)


def _median(line: Line) -> str:
    return format_number(line["median"]) if math.isfinite(line["median"]) else NO_VALUE


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
    return NO_VALUE if not math.isfinite(difference) else "all alike"


def _printed(line: Line) -> str:
    name = _PRINTED_NAMES[line["metric"]]
    value = read_printed_values().get((line["dataset"], line["classifier"], line["variant"], name))
    if value is None:
        return NO_VALUE
    return _with_sd(*value, (lambda x: f"{x:.2f}") if name in ("tcv", "ccv") else format_number)


_TCV = Column("%Tcv", "target_class_validity", max, _percent)
_CCV = Column("%Ccv", "causal_constraint_validity", max, _percent)
_STRICT = Column("%Ccv strict", "strict_constraint_validity", max, _percent)
_IM1 = Column("IM1", "im1", min, _mean)
_IM2 = Column("IM2", "im2", min, _mean)
_SECONDS = Column("seconds", "seconds_per_row", min, _mean)
_GOWER = Column("Gower", "gower_distance", min, _mean)
_GOWER_P = Column("p Gower", "gower_distance", None, _p_value)
_CONTINUOUS = Column("continuous", "continuous_proximity", max, _mean)
_CHANGED = Column("changed", "sparsity", min, _mean)
_NEAREST = Column("nearest target row", "nearest_target_row", min, _mean)
_REFITS = Column("valid after refits", "robustness", max, _percent)
_BY_PAPER = (_TCV, _CCV, _IM1, _IM2)  # what the paper prints too
VALIDITY = (
    *(_TCV, _CCV, _STRICT, _IM1),
    Column("IM1 median", "im1", min, _median, "median"),
    _IM2,
    Column("IM2 median", "im2", min, _median, "median"),
    *(Column(f"p {own.title}", own.metric, None, _p_value) for own in _BY_PAPER),
    *(Column(f"paper {own.title}", own.metric, None, _printed) for own in _BY_PAPER),
)
TIMES = (
    _SECONDS,
    Column("fitting, seconds", "fit_seconds", None, _mean),
    Column("candidates", "evaluations_per_row", None, _mean),
    Column("paper, seconds", "seconds_per_row", None, _printed),
)
DISTANCES = (
    Column("categorical kept", "categorical_proximity", max, _mean),
    *(_CONTINUOUS, _CHANGED, _GOWER),
    Column("MAD-L1", "mad_l1", min, _mean),
    _NEAREST,
    Column("outlier factor", "local_outlier_factor", min, _mean),
    _REFITS,
)
EQUAL_TERMS = (_TCV, _CCV, _STRICT, _GOWER, _GOWER_P, _CONTINUOUS, _CHANGED, _SECONDS)
RECOURSE = (
    Column("success", "actionable_success", max, _percent),
    Column("broken promises", "actionable_broken_promises", min, _percent),
    Column("p success", "actionable_success", None, _p_value),
    Column("success, all may be acted on", "recourse_success", None, _percent),
    Column("cost", "action_cost", None, _mean),
    Column("actions", "n_actions", None, _mean),
    Column("Gower", "gower_distance", None, _mean),
)
LIMITED = (
    _TCV,
    Column("within limits", "within_limits", max, _percent),
    *(_GOWER, _GOWER_P),
    Column("robust distance", "robust_distance", min, _mean),
    Column("actions", "n_actions", min, _mean),
    *(_NEAREST, _REFITS, _SECONDS),
)
OUT_OF_TIME = (Column("out of time", "out_of_time_share", None, _percent),)
_COLUMNS = (
    *(*VALIDITY, *TIMES, *DISTANCES, *EQUAL_TERMS),
    *(*RECOURSE, *LIMITED, *OUT_OF_TIME),
)
SHOWN_METRICS = frozenset(column.metric for column in _COLUMNS) | {NOT_APPLICABLE}
_SHARES = frozenset(column.metric for column in _COLUMNS if column.show is _percent)


def as_shown(metric: str, value: float) -> float:
    """Return a value of a metric rounded as the tables show it: what looks equal is equal."""
    if not math.isfinite(value):
        return value
    shown = _format_share(value) if metric in _SHARES else format_number(value)
    return float(shown.replace(",", ""))


@lru_cache(maxsize=1)
def read_printed_values() -> dict[tuple[str, str, str, str], tuple[float, float]]:
    """Return (mean, standard deviation) by data set, classifier, row of the table and metric."""
    with files("proce.benchmark.reporting").joinpath("printed.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return {
        (line["dataset"], line["classifier"], line["row"], line["metric"]): (
            float(line["mean"]),
            float(line["sd"] or "nan"),
        )
        for line in lines
    }
