"""Mean ranks of the rows of the tables over the criteria by which methods are compared.

In every problem (a data set with a classifier) the rows are ranked by each measure, 1 being the
best; values that the tables show alike share the mean of their ranks. A criterion with several
measures takes the mean of its ranks, then the mean over problems; the mean rank of a row is the
mean over criteria, each of which counts the same. What a row lacks is treated so:

- Where it has no counterfactual for some of the people, its mean is filled up with the worst mean
  of the problem for these people: who answers the easy ones alone is not closer for it. Without any
  value it is ranked last. Shares count such people as failures anyway.
- A problem that it cannot be used on (a gradient method on trees) does not count, for or against
  it; ranks among fewer rows are stretched to the same scale.
- Where it was not measured by a criterion at all, its mean is over the others and it has no place,
  since that mean is of something else.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from proce.benchmark.reporting.columns import as_shown

_SWEPT = r"^\w+ = .+$"  # a variant that changes a setting, which is no method of its own


@dataclass(frozen=True, slots=True)
class RankedMeasure:
    """A measure to rank by: its name, which way is better, and the statistic of the summary."""

    metric: str
    higher: bool = False
    statistic: str = "mean"


@dataclass(frozen=True, slots=True)
class Criterion:
    """What methods are compared by."""

    title: str  # the heading of its column
    measures: tuple[RankedMeasure, ...]  # the measures that it consists of
    use: str = "paper"  # how the rows are used that it is measured on: as paper, or for recourse


CRITERIA = (
    Criterion("validity", (RankedMeasure("target_class_validity", higher=True),)),
    Criterion("%Ccv", (RankedMeasure("causal_constraint_validity", higher=True),)),
    Criterion("%Ccv strict", (RankedMeasure("strict_constraint_validity", higher=True),)),
    Criterion("distance", (RankedMeasure("gower_distance"),)),
    Criterion(
        "looking real",
        (
            RankedMeasure("im1", statistic="median"),
            RankedMeasure("im2", statistic="median"),
            RankedMeasure("nearest_target_row"),
            RankedMeasure("local_outlier_factor"),
        ),
    ),
    Criterion(
        "recourse success", (RankedMeasure("actionable_success", higher=True),), use="recourse"
    ),
    Criterion("robustness", (RankedMeasure("robustness", higher=True),)),
    Criterion("time", (RankedMeasure("seconds_per_row"),)),
)


def mean_rank_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a line per row of the tables, the best first; empty where nothing can be ranked."""
    paper = summary[summary["group"] == "paper"]
    paper = paper[~paper["variant"].str.match(_SWEPT)]
    measured = paper[paper["n"] > 0]
    names = list(dict.fromkeys(measured["variant"]))
    columns = {criterion.title: _ranks(summary, criterion, names) for criterion in CRITERIA}
    ranks = pd.DataFrame(columns, index=names).dropna(axis=1, how="all")
    if ranks.empty:
        return ranks
    mean = ranks.mean(axis=1)
    place = mean.where(ranks.notna().all(axis=1)).rank(method="min")
    used = measured[["variant", "dataset", "classifier"]].drop_duplicates()
    problems = used.groupby("variant").size()
    table = ranks.assign(place=place, mean=mean, problems=problems)
    return table.sort_values("mean", kind="stable")[["place", "mean", *ranks, "problems"]]


def _ranks(summary: pd.DataFrame, criterion: Criterion, names: list[str]) -> pd.Series:
    """Return the mean rank of each row by one criterion, over the problems that it is used on."""
    by_problem: dict[Any, list[pd.Series]] = {}
    for measure in criterion.measures:
        lines = summary[(summary["group"] == criterion.use) & (summary["metric"] == measure.metric)]
        if criterion.use == "recourse":
            own = lines["variant"].str.removesuffix(", recourse")
            lines = lines.assign(variant=own)[own != lines["variant"]]
        lines = lines[lines["variant"].isin(names)]
        for problem, part in lines.groupby(["dataset", "classifier"], sort=False):
            if len(part) > 1 and (ranked := _rank(part, measure, len(names))) is not None:
                by_problem.setdefault(problem, []).append(ranked)
    means = [pd.concat(parts, axis=1).mean(axis=1) for parts in by_problem.values()]
    if not means:
        return pd.Series(math.nan, index=names)
    return pd.concat(means, axis=1).mean(axis=1).reindex(names)


def _rank(part: pd.DataFrame, measure: RankedMeasure, n_names: int) -> pd.Series | None:
    """Return the ranks of the rows of one problem by one measure, on the scale 1 to ``n_names``."""
    sign = -1.0 if measure.higher else 1.0
    loss = sign * part.set_index("variant")[measure.statistic].astype(float)
    if loss.isna().all():
        return None
    missing = part.set_index("variant")["missing"].astype(float)
    filled = (1 - missing) * loss + missing * loss.max()
    rounded = filled.map(partial(as_shown, measure.metric)).fillna(math.inf)
    ranks = np.asarray(stats.rankdata(rounded))
    stretched = 1 + (ranks - 1) * (n_names - 1) / (len(ranks) - 1)
    return pd.Series(stretched, index=loss.index)


def critical_difference(n_methods: int, n_cells: int, alpha: float = 0.05) -> float:
    """Return by how much mean ranks must differ to be significant (Nemenyi; Demsar 2006)."""
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_cells)))
