"""The figures of a run, from its summary alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from proce.benchmark.significance import critical_difference, mean_ranks
from proce.benchmark.tables import DATASET_TITLES
from proce.errors import BenchmarkError
from proce.files import atomic_write, make_folder
from proce.paths import path_of

_LOSS_SIGNS = {  # 1 where a smaller value is better, -1 where a larger one is
    "target_class_validity": -1,
    "causal_constraint_validity": -1,
    "gower_distance": 1,
    "im1": 1,
    "im2": 1,
    "nearest_target_row": 1,
    "robustness": -1,
}
_SETTING_TITLES = {"latent_size": "embedding size", "n_neighbours": "neighbours K"}
_SENSITIVITY_TITLES = {
    "continuous_proximity": "continuous proximity",
    "categorical_proximity": "categorical proximity",
    "im1": "IM1 (median)",
    "im2": "IM2 (median)",
}
_METADATA: dict[str, Any] = {"png": {}, "svg": {"Date": None}}  # an SVG without its date


def draw_figures(summary: pd.DataFrame, folder: str | Path) -> list[Path]:
    """Draw every figure that a summary has the values for, as PNG and SVG.

    Returns
    -------
    list of Path
        The files that were written.
    """
    from matplotlib import pyplot

    folder = path_of(folder)
    make_folder(folder)
    written = []
    for name, figure in _figures(summary):
        for suffix in ("png", "svg"):
            written.append(folder / f"{name}.{suffix}")
            metadata = _METADATA[suffix]
            with (
                pyplot.rc_context({"svg.hashsalt": "proce"}),  # or an SVG would differ each time
                atomic_write(written[-1]) as draft,
                draft.open("wb") as stream,
            ):
                figure.savefig(
                    stream, format=suffix, dpi=150, bbox_inches="tight", metadata=metadata
                )
        pyplot.close(figure)
    if not written:
        raise BenchmarkError("the run has no values for any figure yet; let it finish first.")
    return written


def _figures(summary: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield each figure with the name of its files."""
    paper = summary[summary["group"] == "paper"]
    swept = paper["variant"].str.extract(r"^(\w+) = (.+)$")  # the setting, and its value
    compared = paper[swept[0].isna()]
    if len(compared):
        yield "proximity", _draw_proximity(compared)
        if compared["variant"].nunique() > 2:
            yield "ranks", _draw_ranks(compared)
    for name in swept[0].dropna().unique():
        part = paper[swept[0] == name].assign(value=swept[1].astype(float))
        title = _SETTING_TITLES.get(name, name.replace("_", " "))
        yield f"sensitivity_{name}", _draw_sensitivity(part, title)


def _draw_proximity(summary: pd.DataFrame) -> Any:
    """Draw categorical proximity on Adult and continuous proximity on every data set."""
    from matplotlib import pyplot

    datasets = [name for name in DATASET_TITLES if name in set(summary["dataset"])]
    panels = [("categorical_proximity", "adult")] if "adult" in datasets else []
    panels += [("continuous_proximity", name) for name in datasets]
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(2.6 * len(panels), 4.2), squeeze=False, layout="constrained"
    )
    variants = list(dict.fromkeys(summary["variant"]))
    for ax, (metric, dataset) in zip(axes[0], panels, strict=True):
        part = summary[(summary["metric"] == metric) & (summary["dataset"] == dataset)]
        table = part.pivot_table(index="variant", columns="classifier", values="mean")
        table = table.reindex(variants)
        height = 0.8 / max(1, len(table.columns))
        for position, classifier in enumerate(table.columns):
            places = np.arange(len(table)) + (position - (len(table.columns) - 1) / 2) * height
            ax.barh(places, table[classifier], height=height, label=f"{classifier} classifier")
        ax.set_yticks(np.arange(len(table)), variants if ax is axes[0][0] else [])
        ax.invert_yaxis()
        ax.set_title(f"{DATASET_TITLES[dataset]}\n{metric.replace('_', ' ')}", fontsize=9)
        ax.tick_params(labelsize=8)
    _place_legend(figure, axes[0][0])
    return figure


def _draw_ranks(summary: pd.DataFrame) -> Any:
    """Draw mean ranks over all cells and measures, with Nemenyi's critical difference."""
    from matplotlib import pyplot

    scores = []
    for (_, _, metric), part in summary.groupby(["dataset", "classifier", "metric"]):
        if metric in _LOSS_SIGNS:
            statistic = "median" if metric in ("im1", "im2") else "mean"
            scores.append(_LOSS_SIGNS[metric] * part.set_index("variant")[statistic])
    table = pd.concat(scores, axis=1).T.dropna(axis=0)
    ranks = pd.Series(mean_ranks(table.to_numpy(float)), index=table.columns).sort_values()
    n_cells = summary.groupby(["dataset", "classifier"]).ngroups
    critical = critical_difference(len(ranks), n_cells)
    figure, ax = pyplot.subplots(figsize=(6.4, 0.32 * len(ranks) + 1.3), layout="constrained")
    ax.scatter(ranks, range(len(ranks)), zorder=2)
    ax.hlines(range(len(ranks)), 1, ranks, color="0.85", zorder=1)
    ax.set_yticks(range(len(ranks)), list(ranks.index))
    ax.invert_yaxis()
    ax.set_xlim(1, len(ranks))
    ax.set_xlabel("mean rank, 1 is best")
    ax.axvspan(ranks.iloc[0], ranks.iloc[0] + critical, color="C1", alpha=0.15, lw=0)
    ax.set_title(
        f"{len(table)} comparisons in {n_cells} cells; the band is Nemenyi's critical difference"
        f" ({critical:.1f})",
        fontsize=9,
    )
    return figure


def _draw_sensitivity(summary: pd.DataFrame, title: str) -> Any:
    """Draw the measures over the values of one setting, a line for each data set."""
    from matplotlib import pyplot

    shown = [metric for metric in _SENSITIVITY_TITLES if metric in set(summary["metric"])]
    figure, axes = pyplot.subplots(
        1, len(shown), figsize=(3.1 * len(shown), 2.9), squeeze=False, layout="constrained"
    )
    for ax, metric in zip(axes[0], shown, strict=True):
        statistic = "median" if metric in ("im1", "im2") else "mean"
        for dataset, part in summary[summary["metric"] == metric].groupby("dataset", sort=False):
            line = part.groupby("value")[statistic].mean()
            if line.notna().any():
                colour = f"C{list(DATASET_TITLES).index(str(dataset))}"  # the same in every panel
                label = DATASET_TITLES[str(dataset)]
                ax.plot(line.index, line, color=colour, marker="o", ms=3, label=label)
        if statistic == "median":
            ax.set_yscale("log")
        _label_axes(ax, title, _SENSITIVITY_TITLES[metric], sorted(summary["value"].unique()))
    _place_legend(figure, axes[0][0])
    return figure


def _place_legend(figure: Any, ax: Any) -> None:
    """Put the legend of one panel under all of them, where it hides nothing."""
    handles = ax.get_legend_handles_labels()
    figure.legend(*handles, fontsize=8, loc="outside lower center", ncol=len(handles[0]))


def _label_axes(ax: Any, x: str, title: str, ticks: Sequence[float]) -> None:
    ax.set_xlabel(x)
    ax.set_title(title, fontsize=9)
    if min(ticks) > 0 and max(ticks) / min(ticks) >= 8:
        ax.set_xscale("log", base=2 if max(ticks) > 20 else 10)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.tick_params(labelsize=8)
