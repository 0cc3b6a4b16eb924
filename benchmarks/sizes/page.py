"""The tables and the figure of how it grows, from the file of points alone."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from proce.files import atomic_write
from sizes.laws import Law
from sizes.records import ROOT, SWEEPS, Records, size_of
from sizes.table import Shape

PAGE = ROOT / "docs" / "performance.md"
FIGURE = ROOT / "docs" / "figures" / "scaling.svg"
TITLES = {
    "columns": "columns",
    "levels": "levels, in the graph",
    "levels outside the graph": "levels, outside the graph",
    "rules": "rules",
    "edges": "edges, 100 columns",
    "rows": "rows in a call",
    "training": "training rows",
    "all at once": "all at once",
}
QUANTITIES = {
    "fit, s": "fit_seconds",
    "one row alone, ms": "alone_ms",
    "a row of many, ms": "row_ms",
    "memory of the fit, MB": "fit_mb",
    "memory of explaining, MB": "explain_mb",
}
_OF_TABLE = ("fit_seconds", "alone_ms", "fit_mb")  # which the rows of a call do not change
_WHOLE_CALL = "the whole call, ms"
_PANELS = {
    "milliseconds a row": {"row_ms": "explaining many rows", "alone_ms": "explaining one row"},
    "seconds of a fit": {"fit_seconds": "fitting"},
    "peak memory, MB": {"explain_mb": "explaining many rows", "fit_mb": "fitting"},
}
_COLOURS = {"explaining many rows": "C0", "explaining one row": "C1", "fitting": "C2"}
_PORTFOLIO, _REFUSED = 100_000_000, 0.1  # rows, and the share of them that is explained
_NIGHT_HOURS, _CORES = 8, 32  # of a machine
_MIN_POINTS = 3  # with which there is no law: it could not be judged


def points_of(sweep: str, known: Records, name: str) -> tuple[list[int], list[float]]:
    """Return the sizes of a sweep that were measured, and what was measured there."""
    shapes = [shape for shape in SWEEPS[sweep] if shape in known]
    pairs = [(size_of(sweep, shape), known[shape][name]) for shape in shapes]
    pairs = [(size, value) for size, value in pairs if math.isfinite(value)]
    return [size for size, _ in pairs], [value for _, value in pairs]


def law_of(sweep: str, known: Records, name: str) -> Law | None:
    """Return the law of a sweep; ``None`` where there are too few points to judge one.

    Over the rows of a call it is the whole call that has a law, not one of its rows.
    """
    sizes, values = points_of(sweep, known, name)
    if is_of_call(sweep, name):
        values = [size * value for size, value in zip(sizes, values, strict=True)]
    return Law.fit(sizes, values) if len(sizes) > _MIN_POINTS else None


def is_of_call(sweep: str, name: str) -> bool:
    """Return whether a law is that of a whole call."""
    return sweep == "rows" and name == "row_ms"


def grows(sweep: str, name: str) -> bool:
    """Return whether a quantity can depend on the size that a sweep varies."""
    return sweep != "rows" or name not in _OF_TABLE


def tables(known: Records) -> dict[str, str]:
    """Return the tables of the page by name."""
    return {
        "scaling": _points_table(known),
        "laws": _laws_table(known),
        "portfolio": _portfolio_table(known),
    }


def fill(page: str, known: Records) -> str:
    """Return the page with the text between ``<!-- name -->`` and ``<!-- end -->`` replaced."""
    for name, text in tables(known).items():
        block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        page = block.sub(lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}", page)
    return page


def _points_table(known: Records) -> str:
    lines = [
        "| grows with | size | fit, s | one row alone, ms | rows in a call | a row of these, ms |"
        " found | memory of the fit, MB | of explaining, MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for sweep, shapes in SWEEPS.items():
        for shape in shapes:
            if shape in known:
                size = f"{size_of(sweep, shape):,}"
                lines.append(f"| {TITLES[sweep]} | {size} | {_cells(shape, known[shape])} |")
    return "\n".join(lines) + _missing(known)


def _missing(known: Records) -> str:
    """Return a sentence about the points that the file lacks; nothing where it has all."""
    parts = []
    for sweep, shapes in SWEEPS.items():
        sizes = [f"{size_of(sweep, shape):,}" for shape in shapes if shape not in known]
        if sizes:
            parts.append(f"{TITLES[sweep]} {', '.join(sizes)}")
    return f"\n\nNot measured yet: {'; '.join(parts)}." if parts else ""


def _cells(shape: Shape, values: dict[str, float]) -> str:
    if not math.isfinite(values["row_ms"]):
        return f"– | – | {shape.rows:,} | – | – | – | –"
    return " | ".join(
        (
            f"{values['fit_seconds']:.1f}",
            _digits(values["alone_ms"]),
            f"{shape.rows:,}",
            _digits(values["row_ms"]),
            f"{values['found']:.0%}",
            f"{values['fit_mb']:,.0f}",
            f"{values['explain_mb']:,.0f}",
        )
    )


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _laws_table(known: Records) -> str:
    lines = [
        "| n | quantity | law | points left out are foretold within, median (all) |",
        "|---|---|---|---|",
    ]
    for sweep in SWEEPS:
        for title, name in QUANTITIES.items():
            law = law_of(sweep, known, name)
            if law is not None and grows(sweep, name):
                title = _WHOLE_CALL if is_of_call(sweep, name) else title
                formula = law.formula("n")
                lines.append(f"| {TITLES[sweep]} | {title} | {formula} | {law.judgement} |")
    return "\n".join(lines)


def cost_model(columns: int, candidates: float) -> float:
    """Return the milliseconds of a row by the formula of ``docs/howto/batches.md``."""
    return 0.57 + 0.20 * columns + candidates * (1.1 + 0.044 * columns) / 1000


def _portfolio_table(known: Records) -> str:
    lines = [
        f"| columns | ms a row | by the cost model | core-hours | machines of {_CORES} cores for a"
        f" night of {_NIGHT_HOURS} hours | memory of a worker, MB | of {_CORES} workers, GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for shape in SWEEPS["columns"]:
        if shape in known and math.isfinite(known[shape]["row_ms"]):
            values = known[shape]
            hours = values["row_ms"] / 3.6e6 * _PORTFOLIO * _REFUSED
            n_machines = math.ceil(hours / _CORES / _NIGHT_HOURS)
            by_model = cost_model(shape.columns, values["candidates"])
            lines.append(
                f"| {shape.columns:,} | {_digits(values['row_ms'])} | {_digits(by_model)} |"
                f" {hours:,.0f} | {n_machines:,} | {values['explain_mb']:,.0f} |"
                f" {values['explain_mb'] * _CORES / 1024:.0f} |"
            )
    return "\n".join(lines)


def draw(known: Records, path: Path) -> None:
    """Draw time and memory over each size: points, and the law where there is one."""
    from matplotlib import pyplot

    sweeps = [name for name in SWEEPS if name != "all at once"]
    figure, axes = pyplot.subplots(
        *(len(_PANELS), len(sweeps)),
        figsize=(2.3 * len(sweeps), 2.3 * len(_PANELS) + 0.4),
        sharey="row",
        sharex="col",
        squeeze=False,
        layout="constrained",
    )
    for line, (title, names) in zip(axes, _PANELS.items(), strict=True):
        for ax, sweep in zip(line, sweeps, strict=True):
            for name, label in names.items():
                if grows(sweep, name):
                    _draw_one(ax, sweep, known, name, label)
            _set_axes(ax, sweep)
            if not any(grows(sweep, name) for name in names):
                ax.set_axis_off()
        line[0].set_ylabel(title, fontsize=9)
    for ax, sweep in zip(axes[-1], sweeps, strict=True):
        ax.set_xlabel(TITLES[sweep], fontsize=9)
    handles: dict[str, Any] = {}
    for ax in axes[:, 0]:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        *(handles.values(), handles), fontsize=8, loc="outside lower center", ncol=len(handles)
    )
    with (
        pyplot.rc_context({"svg.hashsalt": "proce"}),  # or the file would differ each time
        atomic_write(path) as draft,
        draft.open("wb") as stream,
    ):
        figure.savefig(stream, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def _draw_one(ax: Any, sweep: str, known: Records, name: str, label: str) -> None:
    sizes, values = points_of(sweep, known, name)
    ax.plot(sizes, values, "o", ms=4, color=_COLOURS[label], label=label)
    law = law_of(sweep, known, name)
    if law is not None:
        between = np.linspace(np.sqrt(min(sizes)), np.sqrt(max(sizes)), 200) ** 2
        foretold = law(between) / (between if is_of_call(sweep, name) else 1)
        ax.plot(between, foretold, "-", lw=1, color=_COLOURS[label], alpha=0.7)


def _set_axes(ax: Any, sweep: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    sizes = [size_of(sweep, shape) for shape in SWEEPS[sweep]]
    ax.set_yscale("log")
    if min(sizes) > 0:
        ax.set_xscale("log")
    else:  # a size of nothing has a place of its own
        ax.set_xscale("symlog", linthresh=sorted(sizes)[1])
    ax.set_xticks(sizes, [_short(size) for size in sizes], rotation=60)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    ax.minorticks_off()
    ax.tick_params(labelsize=7)
    ax.grid(axis="y", color="0.92", lw=0.6)


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 and not size % 1000 else f"{size}"
