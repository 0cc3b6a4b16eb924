"""A run as one small table, from which all tables and figures are made."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Plan, Variant
from proce.benchmark.reporting.significance import compare, holm
from proce.metrics.evaluation import MEASURES

# By group, the variant that the others of the group are compared with.
_REFERENCES = {"paper": "ProCE", "rules": "ProCE, rules", "recourse": "ProCE, recourse"}
COLUMNS = (
    "group",
    "dataset",
    "classifier",
    "variant",
    "metric",
    "n",
    "missing",
    "mean",
    "sd",
    "median",
    "difference",
    "t_p",
    "wilcoxon_p",
    "holm_p",
    "effect",
)
NOT_APPLICABLE = "not_applicable"  # a line of no values: the variant cannot be used there
_CELL_METRICS = (
    "seconds_per_row",
    "cpu_seconds_per_row",
    "fit_seconds",
    "evaluations_per_row",
    "out_of_time_share",
)
_KEY_COLUMNS = ["dataset", "classifier", "variant", "metric"]


def summarise(folder: RunFolder) -> pd.DataFrame:
    """Return one line per data set, classifier, variant and metric, with :data:`COLUMNS`.

    Rows of a cell that failed count as rows without a counterfactual. A variant that cannot be used
    with a data set and a classifier has one line there, of the metric :data:`NOT_APPLICABLE` and
    with an ``n`` of 0. ``group`` says how the
    variant is used: as in the paper, with its rules, or for recourse. ``mean`` and ``median`` are
    over all rows of all repetitions, ``sd`` is the standard deviation of the repetitions' means,
    and ``missing`` the share of rows without a value.

    The other columns compare the variant with ProCE used the same way, on the same rows: the mean
    ``difference`` (variant minus ProCE); ``t_p`` and ``wilcoxon_p``, the p-values of two tests;
    ``holm_p``, which is ``t_p`` corrected over the variants of a metric; and ``effect``, which is
    Cohen's d.
    """
    folder.require_finished()
    measured = folder.metrics()
    parts = [measured, _failed_values(folder, measured), _cell_values(folder)]
    values = pd.concat([part for part in parts if len(part)], ignore_index=True)
    values = lift_ceiling(values[values["rank"] <= 1], folder.plan.variants)
    lines = [_summary_line(key, part) for key, part in values.groupby(_KEY_COLUMNS, sort=False)]
    summary = pd.DataFrame(lines)
    comparisons = pd.DataFrame(list(_comparisons(values, folder.plan.variants)))
    if len(comparisons):
        summary = summary.merge(comparisons, on=_KEY_COLUMNS, how="left")
    summary = pd.concat([summary, _not_applicable(folder.plan)], ignore_index=True)
    groups = {variant.name: group_of(variant) for variant in folder.plan.variants}
    summary["group"] = summary["variant"].map(groups)
    return summary.reindex(columns=list(COLUMNS))


def lift_ceiling(values: pd.DataFrame, variants: tuple[Variant, ...]) -> pd.DataFrame:
    """Return the values with everybody under the ceiling whom any method of the run has helped.

    Advice that worked in the true world shows that somebody can be helped, whether or not the
    search of the ceiling has found a way. ``ceiling_missed`` counts for whom it had not.
    """
    ceilings = [variant.name for variant in variants if variant.method == "Ceiling"]
    names = [variant.name for variant in variants if variant.setting == "recourse"]
    person = ["dataset", "classifier", "repetition", "row"]
    success = values["metric"] == "actionable_success"
    helped = values[success & values["variant"].isin(names)].groupby(person)["value"].max()
    is_ceiling = success & values["variant"].isin(ceilings)
    own = values[is_ceiling]
    if not len(own):
        return values
    best = own[person].join(helped, on=person)["value"]
    missed = own.assign(metric="ceiling_missed", value=(best > own["value"]).astype(float))
    lifted = own.assign(value=np.maximum(best, own["value"]))
    return pd.concat([values[~is_ceiling], lifted, missed], ignore_index=True)


def _not_applicable(plan: Plan) -> pd.DataFrame:
    """Return the lines of what cannot be measured, so that no table passes over it."""
    return pd.DataFrame(
        [
            {
                "dataset": left.dataset,
                "classifier": left.classifier,
                "variant": left.variant.name,
                "metric": NOT_APPLICABLE,
                "n": 0,
            }
            for left in plan.left_out()
        ],
        columns=[*_KEY_COLUMNS, "n"],
    )


def _failed_values(folder: RunFolder, measured: pd.DataFrame) -> pd.DataFrame:
    """Return values for the rows of cells that failed: those of rows without a counterfactual.

    A failed cell gets a value in every measure that another variant has on the same rows.
    """
    missing_values = {measure.name: measure.missing for measure in MEASURES}
    records = folder.records()
    world = ["dataset", "classifier", "repetition"]
    failed = records.loc[records["status"] == "failed", [*world, "variant"]]
    measured_rows = measured.loc[measured["rank"] <= 1, [*world, "row", "metric"]].drop_duplicates()
    lines = failed.merge(measured_rows, on=world)
    return lines.assign(rank=1, value=lines["metric"].map(missing_values).astype(float))


def _cell_values(folder: RunFolder) -> pd.DataFrame:
    """Return the times and counts that are recorded once per cell, as lines like the measures."""
    records = folder.records()
    names = [name for name in _CELL_METRICS if name in records]
    long = records.melt(
        id_vars=["dataset", "classifier", "repetition", "variant"],
        value_vars=names,
        var_name="metric",
    )
    return long.dropna(subset="value").assign(row=-1, rank=1)


def _summary_line(key: tuple[Any, ...], part: pd.DataFrame) -> dict[str, Any]:
    """Return the statistics of one metric of one variant."""
    known = part["value"].dropna()
    by_repetition = part.groupby("repetition")["value"].mean()
    return dict(zip(_KEY_COLUMNS, key, strict=True)) | {
        "n": len(part),
        "missing": 1 - len(known) / len(part),
        "mean": known.mean(),
        "sd": by_repetition.std(ddof=1),
        "median": known.median(),
    }


def _comparisons(values: pd.DataFrame, variants: tuple[Variant, ...]) -> Iterator[dict[str, Any]]:
    """Yield the comparison of every variant with ProCE used the same way."""
    reference = {variant.name: _REFERENCES[group_of(variant)] for variant in variants}
    wide = values.pivot_table(
        index=["repetition", "row"],
        columns=["dataset", "classifier", "metric", "variant"],
        values="value",
        dropna=False,
    )
    pairs: dict[tuple[Any, ...], list[str]] = {}
    for dataset, classifier, metric, variant in list[Any](wide.columns):
        baseline = reference.get(variant)
        if baseline not in (None, variant) and (dataset, classifier, metric, baseline) in wide:
            pairs.setdefault((dataset, classifier, metric, baseline), []).append(variant)
    for (dataset, classifier, metric, baseline), names in pairs.items():
        columns = wide[dataset, classifier, metric]
        compared = [compare(_array(columns[name]), _array(columns[baseline])) for name in names]
        corrected = holm([comparison.t_p for comparison in compared])
        for name, comparison, p in zip(names, compared, corrected, strict=True):
            yield {
                "dataset": dataset,
                "classifier": classifier,
                "variant": name,
                "metric": metric,
                "difference": comparison.difference,
                "t_p": comparison.t_p,
                "wilcoxon_p": comparison.wilcoxon_p,
                "holm_p": p,
                "effect": comparison.effect,
            }


def group_of(variant: Variant) -> str:
    """Return how a variant is used; variants of one group are compared with each other."""
    if variant.setting == "recourse":
        return "recourse"
    return "rules" if variant.ruled else "paper"


def _array(column: Any) -> Any:
    return np.asarray(column, dtype=np.float64)
