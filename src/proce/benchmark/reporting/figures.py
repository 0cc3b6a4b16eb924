"""The figures of a run, from its summary alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from proce.benchmark.folder import RunFolder
from proce.benchmark.reporting.ranks import critical_difference, mean_rank_table
from proce.benchmark.reporting.summary import NOT_APPLICABLE, summarise
from proce.benchmark.reporting.tables import DATASET_TITLES
from proce.errors import BenchmarkError
from proce.files import atomic_write, make_folder
from proce.paths import path_of

_CLASSIFIER_COLOURS = {"first": "C0", "second": "C1", "trees": "C2"}
_SETTING_TITLES = {"latent_size": "embedding size", "n_neighbours": "neighbours K"}
_SENSITIVITY_TITLES = {
    "continuous_proximity": "continuous proximity",
    "categorical_proximity": "categorical proximity",
    "im1": "IM1 (median)",
    "im2": "IM2 (median)",
    "causal_constraint_validity": "%Ccv, share",
    "strict_constraint_validity": "%Ccv strict, share",
    "robustness": "valid after refits, share",
    "seconds_per_row": "seconds a row",
}
_PANELS_IN_A_LINE = 4
_METADATA: dict[str, Any] = {"png": {}, "svg": {"Date": None}}  # an SVG without its date


def write_figures(path: str | Path) -> list[Path]:
    """Draw every figure of a run into its folder ``figures``."""
    folder = RunFolder.open(path)
    return draw_figures(summarise(folder), folder.path / "figures")


def draw_figures(summary: pd.DataFrame, folder: str | Path) -> list[Path]:
    """Draw every figure that a summary has the values for, as PNG and SVG."""
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
        if len(ranks := mean_rank_table(summary)) > 1:
            yield "ranks", _draw_ranks(ranks)
    for name in swept[0].dropna().unique():
        part = paper[swept[0] == name].assign(value=swept[1].astype(float))
        title = _SETTING_TITLES.get(name, name.replace("_", " "))
        yield f"sensitivity_{name}", _draw_sensitivity(part, title)


def _draw_proximity(summary: pd.DataFrame) -> Any:
    """Draw categorical proximity on Adult and continuous proximity on every data set."""
    from matplotlib import pyplot

    summary = summary[summary["metric"] != NOT_APPLICABLE]
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
            colour = _CLASSIFIER_COLOURS.get(classifier)  # the same in every panel
            label = f"{classifier} classifier" if classifier != "trees" else "trees"
            ax.barh(places, table[classifier], height=height, color=colour, label=label)
        ax.set_yticks(np.arange(len(table)), variants if ax is axes[0][0] else [])
        ax.invert_yaxis()
        ax.set_title(f"{DATASET_TITLES[dataset]}\n{metric.replace('_', ' ')}", fontsize=9)
        ax.tick_params(labelsize=8)
    _place_legend(figure, axes)
    return figure


def _draw_ranks(ranks: pd.DataFrame) -> Any:
    """Draw mean ranks with Nemenyi's critical difference, and the rank by every criterion."""
    from matplotlib import pyplot

    criteria = ranks.drop(columns=["place", "mean", "problems"])
    figure, (dots, grid) = pyplot.subplots(
        1,
        2,
        figsize=(5.0 + 0.75 * criteria.shape[1], 0.32 * len(ranks) + 2.0),
        width_ratios=(3.2, 0.75 * criteria.shape[1]),
        layout="constrained",
    )
    places = np.arange(len(ranks))
    complete = ranks["place"].notna()
    dots.hlines(places, 1, ranks["mean"], color="0.85", zorder=1)
    dots.scatter(ranks["mean"][complete], places[complete], zorder=2)
    dots.scatter(ranks["mean"][~complete], places[~complete], zorder=2, fc="none", ec="C0")
    n_problems = int(ranks["problems"].max())
    critical = critical_difference(len(ranks), n_problems)
    first = ranks["mean"].min()
    dots.axvspan(first, first + critical, color="C1", alpha=0.15, lw=0)
    dots.set_yticks(places, list(ranks.index))
    dots.set_xlim(1, len(ranks))
    dots.set_ylim(len(ranks) - 0.5, -0.5)
    dots.set_xlabel("mean rank, 1 is best")
    dots.set_title(
        f"{n_problems} data sets with a classifier; the band is\nNemenyi's critical difference"
        f" ({critical:.1f}); hollow: not all criteria",
        fontsize=8,
    )
    grid.imshow(criteria, cmap="RdYlGn_r", vmin=1, vmax=len(ranks), aspect="auto", alpha=0.6)
    for place, line in enumerate(criteria.to_numpy(float)):
        for column, rank in enumerate(line):
            text = f"{rank:.1f}" if np.isfinite(rank) else "–"
            grid.text(column, place, text, ha="center", va="center", fontsize=8)
    grid.set_xticks(range(criteria.shape[1]), list(criteria), rotation=40, ha="right", fontsize=8)
    grid.set_yticks([])
    grid.set_title("mean rank by each criterion", fontsize=8)
    return figure


def _draw_sensitivity(summary: pd.DataFrame, title: str) -> Any:
    """Draw the measures over the values of one setting, a line for each data set."""
    from matplotlib import pyplot

    shown = [metric for metric in _SENSITIVITY_TITLES if metric in set(summary["metric"])]
    n_across = min(len(shown), _PANELS_IN_A_LINE)
    n_down = -(-len(shown) // _PANELS_IN_A_LINE)
    figure, axes = pyplot.subplots(
        *(n_down, n_across),
        figsize=(3.1 * n_across, 2.5 * n_down + 0.4),
        squeeze=False,
        layout="constrained",
    )
    for ax in axes.flat[len(shown) :]:
        ax.set_axis_off()
    for ax, metric in zip(axes.flat, shown, strict=False):
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
    _place_legend(figure, axes)
    return figure


def _place_legend(figure: Any, axes: Any) -> None:
    """Put one legend of all panels under them, where it hides nothing."""
    handles: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        *(handles.values(), handles), fontsize=8, loc="outside lower center", ncol=len(handles)
    )


def _label_axes(ax: Any, x: str, title: str, ticks: Sequence[float]) -> None:
    ax.set_xlabel(x)
    ax.set_title(title, fontsize=9)
    if min(ticks) > 0 and max(ticks) / min(ticks) >= 8:
        ax.set_xscale("log", base=2 if max(ticks) > 20 else 10)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.tick_params(labelsize=8)
