"""A run as one small table: what everything printed or drawn is made from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Variant
from proce.benchmark.significance import compare, holm
from proce.errors import BenchmarkError
from proce.metrics.measures import MEASURES

REFERENCES = {"paper": "ProCE", "rules": "ProCE, rules", "recourse": "ProCE, recourse"}
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
_OF_A_CELL = ("seconds_per_row", "cpu_seconds_per_row", "fit_seconds", "evaluations_per_row")
_KEY = ["dataset", "classifier", "variant", "metric"]


def summarise(folder: RunFolder) -> pd.DataFrame:
    """Return one line per data set, classifier, variant and metric.

    Rows of a cell that failed count as rows without a counterfactual. ``group`` says how the
    variant is used: as in the paper, with its rules, or for recourse.
    ``mean`` and ``median`` are over all rows of all repetitions, ``sd`` is that of the
    repetitions' means, ``missing`` the share of rows without a value. The other columns compare
    the variant with ProCE used the same way, on the same rows: the mean difference (variant less
    ProCE), two p-values, the first corrected over the variants of a metric (Holm), and Cohen's d.
    """
    measured = folder.metrics()
    parts = [measured, _failures(folder, measured), _cell_values(folder)]
    values = pd.concat([part for part in parts if len(part)], ignore_index=True)
    values = values[values["rank"] <= 1]
    lines = [_line(key, part) for key, part in values.groupby(_KEY, sort=False)]
    summary = pd.DataFrame(lines)
    compared = pd.DataFrame(list(_comparisons(values, folder.plan.variants)))
    if len(compared):
        summary = summary.merge(compared, on=_KEY, how="left")
    groups = {variant.name: group_of(variant) for variant in folder.plan.variants}
    summary["group"] = summary["variant"].map(groups)
    return summary.reindex(columns=list(COLUMNS))


def read_summary(path: str | Path) -> pd.DataFrame:
    """Read a summary that was written as csv."""
    summary = pd.read_csv(path)
    if missing := [name for name in COLUMNS if name not in summary]:
        raise BenchmarkError(f"{path} is no summary of a run: it lacks {', '.join(missing)}.")
    return summary


def _failures(folder: RunFolder, measured: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of cells that failed: a counterfactual for none of them.

    They count as such in every measure that another variant has on the same rows.
    """
    counts_as = {measure.name: measure.missing for measure in MEASURES}
    records = folder.records()
    world = ["dataset", "classifier", "repetition"]
    failed = records.loc[records["status"] == "failed", [*world, "variant"]]
    asked = measured.loc[measured["rank"] <= 1, [*world, "row", "metric"]].drop_duplicates()
    lines = failed.merge(asked, on=world)
    return lines.assign(rank=1, value=lines["metric"].map(counts_as).astype(float))


def _cell_values(folder: RunFolder) -> pd.DataFrame:
    records = folder.records()
    names = [name for name in _OF_A_CELL if name in records]
    long = records.melt(
        id_vars=["dataset", "classifier", "repetition", "variant"],
        value_vars=names,
        var_name="metric",
    )
    return long.dropna(subset="value").assign(row=-1, rank=1)


def _line(key: tuple[Any, ...], part: pd.DataFrame) -> dict[str, Any]:
    known = part["value"].dropna()
    by_repetition = part.groupby("repetition")["value"].mean()
    return dict(zip(_KEY, key, strict=True)) | {
        "n": len(part),
        "missing": 1 - len(known) / len(part),
        "mean": known.mean(),
        "sd": by_repetition.std(ddof=1),
        "median": known.median(),
    }


def _comparisons(values: pd.DataFrame, variants: tuple[Variant, ...]) -> Iterator[dict[str, Any]]:
    """Yield how every variant compares with the ProCE that is used the same way."""
    reference = {variant.name: REFERENCES[group_of(variant)] for variant in variants}
    wide = values.pivot_table(
        index=["repetition", "row"],
        columns=["dataset", "classifier", "metric", "variant"],
        values="value",
        dropna=False,
    )
    pairs: dict[tuple[Any, ...], list[str]] = {}
    for dataset, classifier, metric, variant in list[Any](wide.columns):
        against = reference.get(variant)
        if against not in (None, variant) and (dataset, classifier, metric, against) in wide:
            pairs.setdefault((dataset, classifier, metric, against), []).append(variant)
    for (dataset, classifier, metric, against), names in pairs.items():
        base = wide[dataset, classifier, metric]
        found = [compare(_array(base[name]), _array(base[against])) for name in names]
        corrected = holm([each.t_p for each in found])
        for name, each, p in zip(names, found, corrected, strict=True):
            yield {
                "dataset": dataset,
                "classifier": classifier,
                "variant": name,
                "metric": metric,
                "difference": each.difference,
                "t_p": each.t_p,
                "wilcoxon_p": each.wilcoxon_p,
                "holm_p": p,
                "effect": each.effect,
            }


def group_of(variant: Variant) -> str:
    """Return with which others a variant is compared: those used the same way."""
    if variant.setting == "recourse":
        return "recourse"
    return "rules" if variant.ruled else "paper"


def _array(column: Any) -> Any:
    return np.asarray(column, dtype=np.float64)
