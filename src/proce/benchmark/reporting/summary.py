"""A run as one small table, from which all tables and figures are made, and that table as a file.

The first line of the file says what it is of. A file of another version, or of which lines were
lost, is refused: tables made of it would be wrong without looking so.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from proce import __version__
from proce.arrays import Floats
from proce.benchmark.folder import RunFolder
from proce.benchmark.plan import Plan, Variant
from proce.errors import BenchmarkError
from proce.files import read_text, write_text
from proce.json_reading import parse_json
from proce.metrics.evaluation import MEASURES
from proce.paths import path_of

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
            key = dict(zip(_KEY_COLUMNS, (dataset, classifier, name, metric), strict=True))
            compared_with = asdict(comparison)
            del compared_with["n"]
            yield key | compared_with | {"holm_p": p}


def group_of(variant: Variant) -> str:
    """Return how a variant is used; variants of one group are compared with each other."""
    if variant.setting == "recourse":
        return "recourse"
    return "rules" if variant.ruled else "paper"


def _array(column: Any) -> Any:
    return np.asarray(column, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two methods on the same rows."""

    n: int  # how many rows have a value for both methods
    difference: float  # the mean of the first method's values minus the second's
    # t_p, wilcoxon_p: two-sided p-values of the paired t-test and of Wilcoxon's signed-rank test;
    # None where all differences are the same, so that no test applies
    t_p: float | None
    wilcoxon_p: float | None
    # cohen's d of the differences: their mean over their standard deviation; None where all
    # differences are the same
    effect: float | None


def compare(first: Floats, second: Floats) -> Comparison:
    """Compare paired values ``(n,)``; a pair with NaN in either does not count."""
    known = ~(np.isnan(first) | np.isnan(second))
    differences = (first - second)[known]
    n = len(differences)
    if n == 0:
        return Comparison(0, float("nan"), None, None, None)
    mean = float(differences.mean())
    if n < 2 or np.ptp(differences) == 0:
        return Comparison(n, mean, None, None, None)
    return Comparison(
        n,
        mean,
        float(stats.ttest_1samp(differences, 0.0).pvalue),
        float(stats.wilcoxon(differences, method="asymptotic").pvalue),
        mean / float(differences.std(ddof=1)),
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for how many they are (Holm 1979); ``None`` stays ``None``.

    The smallest of m is multiplied by m, the next by m - 1, and so on; no corrected value is
    smaller than the one before it.
    """
    tested = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, position) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        corrected[position] = largest
    return corrected


SUMMARY_FORMAT = 2
_FIRST_WORDS = "# summary of a proce benchmark: "


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What a summary is of, as its first line has it."""

    # plan, repetitions, rows: the name and the size of the run's plan
    plan: str
    repetitions: int
    rows: int
    # proce, code: the version that the run was made with, and the checksum of its code
    proce: str
    code: str

    @classmethod
    def of(cls, folder: RunFolder) -> "Origin":
        """Return what the summary of a run's folder is of."""
        plan, environment = folder.plan, folder.environment()
        return cls(
            plan=plan.name,
            repetitions=plan.repetitions,
            rows=plan.rows,
            proce=str(dict(environment.get("versions", {})).get("proce", "")),
            code=str(environment.get("code", ""))[:12],
        )


def write_summary(
    path: str | Path, summary: pd.DataFrame, origin: Origin, float_format: str
) -> None:
    """Write a summary with the line that says what it is of."""
    first = {"format": SUMMARY_FORMAT, "lines": len(summary), **asdict(origin)}
    table = summary.to_csv(index=False, float_format=float_format)
    write_text(path_of(path), f"{_FIRST_WORDS}{json.dumps(first)}\n{table}")


def read_summary(path: str | Path) -> tuple[pd.DataFrame, Origin]:
    """Read a summary and what it is of; refuse a file of another version, or with lines lost."""
    first, _, table = read_text(path_of(path), "the summary").partition("\n")
    about = _read_first_line(path, first)
    try:
        summary = pd.read_csv(io.StringIO(table))
    except ValueError as error:  # pandas' own errors of parsing are ValueErrors
        raise BenchmarkError(f"{path} cannot be read as a summary: {error}. {_AGAIN}") from error
    if missing := [name for name in COLUMNS if name not in summary]:
        raise BenchmarkError(f"{path} is no summary of a run: it lacks {', '.join(missing)}.")
    if len(summary) != about.pop("lines"):
        raise BenchmarkError(
            f"{path} has {len(summary):,} lines, not as many as it was written with: lines were"
            f" lost or added. {_AGAIN}"
        )
    return summary, Origin(**about)


_AGAIN = "Make it again with 'proce benchmark tables RUN_FOLDER'."
_KINDS = {field.name: field.type for field in fields(Origin)} | {"lines": int}


def _read_first_line(path: str | Path, line: str) -> dict[str, Any]:
    """Return what the first line of a summary says, but for the format, which is checked."""
    if not line.startswith(_FIRST_WORDS):
        raise BenchmarkError(
            f"{path} is no summary of a run, or one of a version of proce before {__version__}:"
            f" its first line does not begin with {_FIRST_WORDS.strip()!r}. {_AGAIN}"
        )
    try:
        about = parse_json(line.removeprefix(_FIRST_WORDS))
    except ValueError:
        about = None
    if not isinstance(about, dict):
        raise BenchmarkError(f"{path}: its first line is damaged. {_AGAIN}")
    if (number := about.pop("format", None)) != SUMMARY_FORMAT:
        raise BenchmarkError(
            f"{path} has format {number!r}, of proce {about.get('proce', '?')}; proce"
            f" {__version__} reads {SUMMARY_FORMAT}. Use the version that wrote it, or make the run"
            " and its tables again."
        )
    if {name: type(value) for name, value in about.items()} != _KINDS:
        raise BenchmarkError(f"{path}: its first line is damaged. {_AGAIN}")
    return about
