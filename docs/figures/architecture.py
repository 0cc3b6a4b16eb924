"""Draw the rooms of the package and the way of one ``explain``, from the tree and the layers.

Run: ``python docs/figures/architecture.py``. A test draws both again and compares, and holds every
arrow to an import.
"""

import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
FIGURES = Path(__file__).parent
INK, GREY, PAPER, TINT, LINE = "#1b2733", "#5b6b7a", "#ffffff", "#eef3f8", "#41719c"
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"
WIDTH = 980


@dataclass(frozen=True)
class Step:
    """A module on the way of one ``explain``, and those that it calls in turn."""

    module: str
    words: str
    then: tuple["Step", ...] = ()


EXPLAIN = Step(
    "proce.methods.proce",
    "ProCE.explain: a frame and options in, explanations out",
    (
        Step("proce.methods.calls.options", "what the caller wants, checked"),
        Step(
            "proce.methods.pipeline",
            "the call, from top to bottom: every phase in its order",
            (
                Step(
                    "proce.methods.calls.call",
                    "read: frame to rows, the model's answers, the wanted classes",
                    (
                        Step("proce.schema.codec", "raw units to the unit range, levels to codes"),
                        Step("proce.explanation.record.rows", "what was found so far, as columns"),
                        Step("proce.explanation.result.explanations", "the result, with verbs"),
                    ),
                ),
                Step(
                    "proce.methods.phases.plan",
                    "pose: limits, rules, efforts and margin, read once",
                    (
                        Step("proce.objective.limits", "where each feature may end"),
                        Step("proce.objective.instances", "prototype (Eqs. 3-5), own noise"),
                        Step(
                            "proce.objective.problem",
                            "realise, ask, score (Eq. 10)",
                            (
                                Step("proce.objective.waiting", "done, held, or following"),
                                Step(
                                    "proce.objective.terms",
                                    "what needs no model, for many candidates",
                                    (Step("proce.objective.limits", "reached, with the margin"),),
                                ),
                                Step("proce.objective.distance", "how far from the row (Eqs. 7-9)"),
                            ),
                        ),
                    ),
                ),
                Step("proce.methods.phases.plan", "plan: which searches, for which rows"),
                Step("proce.methods.phases.scan", "scan: ways of one, two, three actions"),
                Step(
                    "proce.methods.phases.evolve",
                    "evolve",
                    (
                        Step("proce.objective.genes", "genes, and where the search starts"),
                        Step("proce.search.nsga2", "Algorithm 1, over all rows at once"),
                    ),
                ),
                Step("proce.methods.phases.prune", "prune: no action that is not needed"),
                Step("proce.methods.phases.polish", "polish: drawn to the person"),
                Step("proce.methods.phases.robustify", "robustify: sure in refits"),
                Step(
                    "proce.methods.phases.shortlist",
                    "select: what is worth showing",
                    (Step("proce.methods.phases.choosing", "recommended first"),),
                ),
                Step(
                    "proce.methods.phases.check",
                    "check on the model, at the values shown",
                    (Step("proce.methods.calls.call", "the model and the rules again"),),
                ),
                Step("proce.methods.phases.prune", "prune once more, on the values shown"),
                Step(
                    "proce.methods.phases.annotate",
                    "annotate: what is recorded beside the values, and how far they may be missed",
                ),
                Step(
                    "proce.methods.diagnosing.blockers",
                    "diagnose: where nothing was found, which limit blocks",
                    (Step("proce.methods.diagnosing.lifted_limits", "one limit lifted at a time"),),
                ),
            ),
        ),
    ),
)


def layers() -> list[list[str]]:
    """Return the packages and modules of each layer, the highest layer first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (contract,) = [contract for contract in contracts if contract["id"] == "layers"]
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def rooms(package: str) -> list[str]:
    """Return the rooms of a package, or its modules where it has none."""
    folder = SOURCE / "proce" / package
    if not folder.is_dir():
        return []
    inside = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    modules = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return [f"{room}/" for room in inside] + modules


def draw_rooms() -> str:
    """Return the picture of all layers, each package with what is inside."""
    parts, y = [], 12
    for layer in layers():
        columns = [WIDTH - 24] if len(layer) == 1 else _widths(layer)
        texts = [
            _wrapped(rooms(name), int(width / 6.6))
            for name, width in zip(layer, columns, strict=True)
        ]
        height = 34 + 15 * max(len(lines) for lines in texts)
        x = 12.0
        for name, width, lines in zip(layer, columns, texts, strict=True):
            parts.append(_box(x, y, width - 8, height, TINT))
            parts.append(_text(x + 10, y + 20, name, 14, bold=True))
            for place, line in enumerate(lines):
                parts.append(_text(x + 10, y + 38 + 15 * place, line, 11, color=GREY))
            x += width
        y += height + 12
    return _picture(y, "The layers of the package, the highest first, and what each holds", parts)


def draw_explain() -> str:
    """Return the picture of the way of one explain: who calls whom, from top to bottom."""
    parts: list[str] = []
    end = _draw_step(EXPLAIN, 0, 12, parts)
    return _picture(end + 4, "The modules that one explain passes, from top to bottom", parts)


def _draw_step(step: Step, depth: int, y: int, parts: list[str]) -> int:
    """Draw a step and those below it; return where the next one starts."""
    x = 12 + 34 * depth
    name = step.module.removeprefix("proce.").replace(".", "/") + ".py"
    parts.append(_box(x, y, WIDTH - 24 - 34 * depth, 28, TINT if step.then else PAPER))
    parts.append(_text(x + 10, y + 19, name, 13, bold=True))
    parts.append(_text(470, y + 19, step.words, 12, color=GREY))
    below = y + 36
    for child in step.then:
        middle = below + 14
        parts.append(
            f"<path d='M {x + 14} {y + 28} V {middle} H {x + 32}' fill='none' stroke='{LINE}'"
            " marker-end='url(#head)'/>"
        )
        below = _draw_step(child, depth + 1, below, parts)
    return below


def _widths(layer: list[str]) -> list[float]:
    """Return widths in proportion to what the packages hold, none too narrow for its name."""
    weights = [max(8, sum(len(name) + 2 for name in rooms(package))) ** 0.5 for package in layer]
    return [(WIDTH - 24) * weight / sum(weights) for weight in weights]


def _wrapped(words: list[str], longest: int) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) + 3 > longest:
            lines.append("")
        lines[-1] = f"{lines[-1]} · {word}" if lines[-1] else word
    return [line for line in lines if line]


def _box(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f"<rect x='{x:.0f}' y='{y}' width='{width:.0f}' height='{height}' rx='5' fill='{fill}'"
        f" stroke='{LINE}'/>"
    )


def _text(
    x: float, y: float, words: str, size: int, *, bold: bool = False, color: str = INK
) -> str:
    weight = " font-weight='bold'" if bold else ""
    look = f"font-size='{size}' fill='{color}'{weight}"
    return f"<text x='{x:.0f}' y='{y}' {look}>{escape(words)}</text>"


def _picture(height: int, title: str, parts: list[str]) -> str:
    head = (
        "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7'"
        f" markerHeight='7' orient='auto'><path d='M 0 0 L 8 4 L 0 8 z' fill='{LINE}'/>"
        "</marker></defs>"
    )
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}'"
            f" {FONT} role='img'>",
            f"<title>{escape(title)}</title>",
            head,
            f"<rect width='{WIDTH}' height='{height}' fill='{PAPER}'/>",
            *parts,
            "</svg>\n",
        ]
    )


PICTURES = {"rooms.svg": draw_rooms, "explain.svg": draw_explain}


if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (FIGURES / name).write_text(draw(), "utf-8")
