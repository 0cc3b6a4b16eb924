"""The two pictures of the page of claims, from ``docs/results.csv`` alone.

Run: ``python docs/figures/claims.py``.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot

from proce.benchmark.reporting.columns import read_printed_values
from proce.benchmark.reporting.summary import read_summary

HERE = Path(__file__).parent
ROWS = {  # of the tables: how it is called in the picture
    "ProCE": "ProCE, ours",
    "ProCE as printed, LiNGAM": "ProCE, as printed",
    "Wachter": "Wachter",
    "Growing Spheres": "Growing Spheres",
    "CERTIFAI": "CERTIFAI",
    "DiCE": "DiCE",
    "FACE": "FACE",
}
DATASETS = {"simple_bn": "Simple-BN", "sangiovese": "Sangiovese", "adult": "Adult", "law": "Law"}
WORLDS = {"simple_bn": "Simple-BN", "sangiovese": "Sangiovese", "loan": "loan"}
FOUND, PAPER = "#1f6fb4", "#b4531f"


def value(summary: pd.DataFrame, group: str, dataset: str, variant: str, metric: str) -> float:
    """Return a mean for the first classifier; not a number where there is none."""
    lines = summary[
        (summary["group"] == group)
        & (summary["dataset"] == dataset)
        & (summary["classifier"] == "first")
        & (summary["variant"] == variant)
        & (summary["metric"] == metric)
    ]
    return 100 * float(lines["mean"].iloc[0]) if len(lines) else float("nan")


def draw_constraints(summary: pd.DataFrame) -> Any:
    """Draw the shares that satisfy the causal constraints: as the paper prints them, as found."""
    printed = read_printed_values()
    figure, axes = pyplot.subplots(
        1, len(DATASETS), figsize=(10.5, 3.0), sharey=True, layout="constrained"
    )
    places = np.arange(len(ROWS))
    for ax, (dataset, title) in zip(axes, DATASETS.items(), strict=True):
        found = [
            value(summary, "paper", dataset, row, "causal_constraint_validity") for row in ROWS
        ]
        paper = [
            printed.get((dataset, "first", "ProCE" if "printed" in row else row, "ccv"), (np.nan,))[
                0
            ]
            for row in ROWS
        ]
        paper[0] = np.nan  # the paper's figure is that of the method as printed
        ax.hlines(places, found, paper, color="0.8", zorder=1)
        ax.scatter(paper, places, fc="white", ec=PAPER, zorder=2, label="printed in the paper")
        ax.scatter(found, places, color=FOUND, zorder=3, label="found here")
        ax.set_title(title, fontsize=10)
        ax.set_xlim(-4, 104)
        ax.set_xlabel("% of counterfactuals", fontsize=9)
        ax.grid(axis="x", color="0.93")
        ax.tick_params(labelsize=9)
    axes[0].set_yticks(places, list(ROWS.values()))
    axes[0].set_ylim(len(ROWS) - 0.5, -0.5)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=2, fontsize=9
    )
    return figure


def draw_success(summary: pd.DataFrame) -> Any:
    """Draw what was promised, and what works when a person does it in the true world."""
    figure, axes = pyplot.subplots(
        1, len(WORLDS), figsize=(10.5, 3.0), sharey=True, layout="constrained"
    )
    names = {"ProCE default margin": "ProCE, default margin", **ROWS}
    places = np.arange(len(names))
    for ax, (dataset, title) in zip(axes, WORLDS.items(), strict=True):
        rows = [f"{row}, recourse" for row in names]
        kept = [value(summary, "recourse", dataset, row, "actionable_success") for row in rows]
        told = [value(summary, "recourse", dataset, row, "target_class_validity") for row in rows]
        limit = value(summary, "recourse", dataset, "ceiling, recourse", "actionable_success")
        ax.barh(places, kept, height=0.55, color=FOUND, label="works")
        ax.scatter(told, places, marker="|", s=160, color=PAPER, lw=2, label="was promised")
        ax.axvline(limit, color="0.4", ls="--", lw=1, label="can be helped at all")
        ax.set_title(title, fontsize=10)
        ax.set_xlim(0, 104)
        ax.set_xlabel("% of the people", fontsize=9)
        ax.tick_params(labelsize=9)
    axes[0].set_yticks(places, list(names.values()))
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncol=3, fontsize=9
    )
    return figure


def main() -> None:
    """Draw both."""
    summary, _ = read_summary(HERE.parent / "results.csv")
    for name, draw in (("constraints", draw_constraints), ("success", draw_success)):
        with pyplot.rc_context({"svg.hashsalt": "proce"}):
            draw(summary).savefig(
                HERE / f"claims_{name}.svg", metadata={"Date": None}, bbox_inches="tight"
            )


if __name__ == "__main__":
    main()
