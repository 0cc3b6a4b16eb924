"""Is anybody closer? Every method under the same rules, schema and budget, one counterfactual each.

Run: ``PROCE_DATA=... python benchmarks/closest.py --seeds 0-4 [--rows 60] [--cells adult/first]``.
Margin 0, no demand that consequences be sure, the paper's schema, and the rules that %Ccv checks: a
published method respects one-way features and drops candidates that break a rule. The others may
ask the model 50,000 times a row; ProCE has its other settings by default, and ends by itself long
before. Every line is kept in a file once it is measured, so that a run that was stopped goes on
where it was; cells can be measured by processes of their own that write into the same folder.
Settings are chosen on seeds from 1000 on.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import torch
from cpu_time import cpu_seconds
from numpy.typing import NDArray

from proce.benchmark.measuring.contenders import Contenders
from proce.benchmark.measuring.world import World
from proce.benchmark.plan import Plan, Variant
from proce.metrics import evaluate

DATASETS = ("simple_bn", "sangiovese", "adult", "law", "loan")
CELLS = tuple(f"{name}/{classifier}" for name in DATASETS for classifier in ("first", "second"))
UNSURE = {"n_refits": 0}  # equal terms: nobody else is asked whether the consequences are sure
VARIANTS = (
    # First, since the others take over its fit and leave its refits out.
    Variant(name="ProCE soft, sure", method="ProCE", causal="soft", ruled=True),
    Variant(name="ProCE soft", method="ProCE", causal="soft", ruled=True, settings=UNSURE),
    Variant(name="ProCE off", method="ProCE", causal="off", ruled=True, settings=UNSURE),
    Variant(name="ProCE hard", method="ProCE", causal="hard", ruled=True, settings=UNSURE),
    Variant(name="Growing Spheres", method="GrowingSpheres", ruled=True),
    Variant(name="CERTIFAI", method="Certifai", ruled=True),
    Variant(name="Wachter", method="Wachter", ruled=True),
    Variant(name="Nearest", method="Nearest", ruled=True),
    Variant(name="FACE", method="Face", ruled=True),
    Variant(name="C-CHVAE", method="Cchvae", ruled=True),
    Variant(name="DiCE random", method="Dice", ruled=True, settings={"method": "random"}),
)
OURS = VARIANTS[1].name
MEASURES = {
    "gower": "gower_distance",
    "valid": "causal_constraint_validity",
    "strict": "strict_constraint_validity",
    "reached": "target_class_validity",
    "kept": "categorical_proximity",
    "continuous": "continuous_proximity",
    "changed": "sparsity",
}
N_BOOTSTRAPS = 10_000


class Fitted(Contenders):
    """The methods of a world; ProCE is used as by default, without a limit on evaluations."""

    def _max_evaluations(self, variant: Variant) -> int | None:
        return None if variant.method == "ProCE" else super()._max_evaluations(variant)


@dataclass(frozen=True)
class Line:
    """One method in one cell with one seed, row by row.

    Attributes
    ----------
    cell, seed, method
        What was measured.
    cpu
        Seconds of CPU for each row, those of processes that the method starts included.
    values
        By the short name of a measure, a value for each row; ``None`` where it is not defined.
    """

    cell: str
    seed: int
    method: str
    cpu: float
    values: dict[str, list[float | None]]

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells lines apart."""
        return self.cell, self.seed, self.method


def measure(world: World, contenders: Contenders, variant: Variant, cell: str) -> Line:
    """Explain the rows of a world with one method, and measure every row."""
    contender = contenders.contender(variant)
    contender.explain(world.factual.iloc[:1])  # compiles and fills caches, so that neither is timed
    start = cpu_seconds()
    result = contender.explain(world.factual)
    cpu = (cpu_seconds() - start) / len(world.factual)
    rules = world.data.rules
    frame = evaluate(result, model=world.model, rules=rules, graph=world.equations).frame
    values = {}
    for short, name in MEASURES.items():
        column = frame[frame["metric"] == name].sort_values("row")["value"]
        values[short] = [None if np.isnan(value) else float(value) for value in column]
    return Line(cell, world.seed, variant.name, cpu, values)


def lines_of(folder: Path, cells: Sequence[str]) -> dict[tuple[str, int, str], Line]:
    """Return the lines that are measured already."""
    known = {}
    for cell in cells:
        path = folder / f"{cell.replace('/', '_')}.jsonl"
        for text in path.read_text().splitlines() if path.exists() else ():
            line = Line(**json.loads(text))
            known[line.key] = line
    return known


def run(
    folder: Path, cells: Sequence[str], seeds: Sequence[int], rows: int, variants: Sequence[Variant]
) -> None:
    """Measure what is not measured yet, cell by cell, and keep every line at once."""
    folder.mkdir(parents=True, exist_ok=True)
    known = lines_of(folder, cells)
    for cell in cells:
        dataset, classifier = cell.split("/")
        for seed in seeds:
            missing = [v for v in variants if (cell, seed, v.name) not in known]
            if not missing:
                continue
            plan = Plan(
                name="closest",
                datasets=(dataset,),
                classifiers=(classifier,),
                variants=tuple(missing),
                repetitions=1,
                rows=rows,
                seed=seed,
            )
            world = World.prepare(plan, dataset, classifier, 0)
            contenders = Fitted(world, plan)
            for variant in missing:
                start = time.perf_counter()
                line = measure(world, contenders, variant, cell)
                with (folder / f"{cell.replace('/', '_')}.jsonl").open("a") as file:
                    file.write(json.dumps(line.__dict__) + "\n")
                seconds = time.perf_counter() - start
                print(f"{cell} seed {seed}, {variant.name}: {seconds:.0f} s", file=sys.stderr)


def table(lines: Sequence[Line], cells: Sequence[str]) -> Iterator[str]:
    """Yield the table: of each cell first ProCE, then the others from near to far."""
    yield (
        "| cell | method | Gower | valid | valid, strict | levels kept | continuous | changed |"
        " ms CPU | ProCE soft is closer by (95%) |"
    )
    yield "|" + "---|" * 10
    for cell in cells:
        by_method: dict[str, list[Line]] = {}
        for line in sorted(lines, key=lambda line: line.seed):
            if line.cell == cell:
                by_method.setdefault(line.method, []).append(line)
        if OURS not in by_method:
            continue
        ours = by_method[OURS]
        for method in sorted(
            by_method, key=lambda name: (name != OURS, mean(by_method[name], "gower"))
        ):
            own = by_method[method]
            shares = [100 * mean(own, name, missing=0.0) for name in ("valid", "strict")]
            yield (
                f"| {cell} | {method} | {mean(own, 'gower'):.4f} | {shares[0]:.1f} |"
                f" {shares[1]:.1f} | {mean(own, 'kept'):.2f} | {mean(own, 'continuous'):.4f} |"
                f" {mean(own, 'changed'):.2f} | {1e3 * fmean(line.cpu for line in own):.0f} |"
                f" {'' if method == OURS else closer_by(ours, own)} |"
            )


def column(lines: Sequence[Line], name: str) -> NDArray[np.float64]:
    """Return a measure of the rows of some lines, NaN where it is not defined."""
    values = [value for line in lines for value in line.values[name]]
    return np.array([np.nan if value is None else value for value in values])


def mean(lines: Sequence[Line], name: str, missing: float | None = None) -> float:
    """Return the mean of a measure over the rows that have it; NaN where none has."""
    values = column(lines, name)
    values = values[~np.isnan(values)] if missing is None else np.nan_to_num(values, nan=missing)
    return float(values.mean()) if len(values) else float("nan")


def closer_by(ours: Sequence[Line], others: Sequence[Line]) -> str:
    """Return how much closer the first are than the second, as a share, with its interval."""
    seeds = {line.seed for line in ours} & {line.seed for line in others}
    first, second = (
        column([line for line in lines if line.seed in seeds], "gower") for lines in (ours, others)
    )
    both = ~(np.isnan(first) | np.isnan(second))
    first, second = first[both], second[both]
    if not len(first):
        return "–"
    drawn = np.random.default_rng(0).integers(len(first), size=(N_BOOTSTRAPS, len(first)))
    low, high = np.quantile(1 - first[drawn].mean(1) / second[drawn].mean(1), (0.025, 0.975))
    return f"{1 - first.mean() / second.mean():.1%} ({low:.1%} to {high:.1%})"


def verdict(lines: Sequence[Line], cells: Sequence[str]) -> Iterator[str]:
    """Yield for each cell the nearest other method that is valid for all rows in both readings."""
    for cell in cells:
        own = [line for line in lines if line.cell == cell]
        rivals = {
            line.method: [other for other in own if other.method == line.method]
            for line in own
            if not line.method.startswith("ProCE")
        }
        valid = {
            name: mean(rival, "gower")
            for name, rival in rivals.items()
            if min(mean(rival, reading, missing=0.0) for reading in ("valid", "strict")) == 1
        }
        ours = [line for line in own if line.method == OURS]
        if not ours or not valid:
            continue
        best = min(valid, key=valid.__getitem__)
        yield f"- {cell}: closer than {best} by {closer_by(ours, rivals[best])}"


def seeds_of(text: str) -> list[int]:
    """Read ``0-4`` or ``1000,1003``."""
    first, _, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if last else [int(t) for t in text.split(",")]


def main() -> None:
    """Parse, measure and print."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=seeds_of, default=[0])
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=list(CELLS))
    names = [variant.name for variant in VARIANTS]
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    parser.add_argument("--folder", type=Path, default=Path("build/closest"))
    arguments = parser.parse_args()
    variants = [variant for variant in VARIANTS if variant.name in arguments.methods]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the packages behind a method
        run(arguments.folder, arguments.cells, arguments.seeds, arguments.rows, variants)
    measured = lines_of(arguments.folder, arguments.cells).values()
    lines = [line for line in measured if line.seed in arguments.seeds]
    for text in (*table(lines, arguments.cells), "", *verdict(lines, arguments.cells)):
        print(text)


if __name__ == "__main__":
    main()
