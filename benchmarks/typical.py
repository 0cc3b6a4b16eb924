"""Does the pick ``typical`` look like the target class? A table of ``docs/quality.md``.

Run: ``PROCE_DATA=... python benchmarks/typical.py [--seeds 0 1 2 3 4] [--rows 12] [--out FILE]``.
The paper's four data sets and two classifiers; each seed is another split. IM1 and IM2 are
measured by auto-encoders that no method has seen. Settings were chosen on seeds from 1000 on.

Every method in a world is one line of JSON in ``--out`` and is not run again. ``--table`` prints
the table of such a file and runs nothing.
"""

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch

from proce.benchmark.measuring.contenders import Contenders
from proce.benchmark.measuring.world import World
from proce.benchmark.plan import Plan, Variant
from proce.explanation import Explanations
from proce.metrics import Judges
from proce.metrics.inputs import CounterfactualColumns
from proce.schema import MixedDistance

DATASETS = ("simple_bn", "sangiovese", "adult", "law")
CLASSIFIERS = ("first", "second")
TYPICAL = Variant(name="ProCE typical", method="ProCE", causal="soft", pick="typical")
VARIANTS = (
    TYPICAL,
    Variant(name="ProCE closest", method="ProCE", causal="soft"),
    Variant(name="Wachter", method="Wachter"),
    Variant(name="Growing Spheres", method="GrowingSpheres"),
    Variant(name="CERTIFAI", method="Certifai"),
    Variant(name="DiCE", method="Dice"),
    Variant(name="C-CHVAE", method="Cchvae"),
    Variant(name="Nearest", method="Nearest"),
    Variant(name="FACE", method="Face"),
)
REAL_ROWS = "FACE"  # its counterfactuals are training rows of the target class
Line = dict[str, Any]


def measure(result: Explanations, judges: Judges) -> Line:
    """Return IM1, IM2, Gower's distance and the number of actions of each counterfactual."""
    codec = result.context.codec
    found = CounterfactualColumns.of(result).on_range(codec)
    return {
        "rows": len(found.searched),
        "im1": judges.im1(found.rows, found.target, found.predicted).tolist(),
        "im2": judges.im2(found.rows, found.target).tolist(),
        "gower": MixedDistance.gower(codec.by_range).mean(found.rows, found.factual).tolist(),
        "actions": found.by_hand.sum(-1).tolist(),
    }


def run_world(plan: Plan, dataset: str, classifier: str, done: set[str], out: Path) -> None:
    """Measure every method that is not done in a world, and append a line for each."""
    missing = [variant for variant in plan.variants if variant.name not in done]
    if not missing:
        return
    world = World.prepare(plan, dataset, classifier, 0)
    contenders = Contenders(world, plan)
    for variant in missing:
        explain = contenders.contender(variant).explain
        start = time.process_time()
        first = explain(world.factual.iloc[:1])  # what is learned or compiled once is timed apart
        once, start = time.process_time() - start, time.process_time()
        result = explain(world.factual)
        cpu = time.process_time() - start
        assert len(first) == 1
        line = {
            "dataset": dataset,
            "classifier": classifier,
            "seed": plan.seed,
            "method": variant.name,
            "once_cpu_seconds": once,
            "cpu_ms": 1000 * cpu / len(world.factual),
            **measure(result, world.judges),
        }
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")


def read_lines(path: Path) -> list[Line]:
    """Return the lines of a file; none where it is not there."""
    return [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []


def print_table(lines: list[Line]) -> None:
    """Print medians over all rows of a data set and classifier, and where ``typical`` is lowest."""
    cells: dict[tuple[str, str], dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        cells[line["dataset"], line["classifier"]][line["method"]].append(line)
    print("| data set | classifier | method | rows | found | IM1 | IM2 | Gower | actions | ms |")
    print("|" + "---|" * 10)
    lowest: dict[str, int] = defaultdict(int)
    for (dataset, classifier), methods in cells.items():
        medians: dict[str, dict[str, float]] = {}
        for variant in VARIANTS:
            if not (parts := methods.get(variant.name)):
                continue
            values = {
                name: [value for part in parts for value in part[name]]
                for name in ("im1", "im2", "gower", "actions")
            }
            medians[variant.name] = {name: median(values[name]) for name in ("im1", "im2")}
            n_rows, n_found = sum(part["rows"] for part in parts), len(values["im1"])
            print(
                f"| {dataset} | {classifier} | {variant.name} | {n_rows} | {n_found} |"
                f" {medians[variant.name]['im1']:.3g} | {medians[variant.name]['im2']:.3g} |"
                f" {mean(values['gower']):.4f} | {mean(values['actions']):.2f} |"
                f" {mean(part['cpu_ms'] for part in parts):.0f} |"
            )
        others = [name for name in medians if name not in (TYPICAL.name, REAL_ROWS)]
        for name in ("im1", "im2"):
            ours = medians.get(TYPICAL.name, {}).get(name, float("inf"))
            lowest[name] += bool(others) and all(ours < medians[other][name] for other in others)
    typical = [line for line in lines if line["method"] == TYPICAL.name]
    print(
        f"\nProCE typical is below all but {REAL_ROWS} in IM1 in {lowest['im1']} and in IM2 in"
        f" {lowest['im2']} of {len(cells)} cells; its first row took"
        f" {mean(line['once_cpu_seconds'] for line in typical) if typical else 0:.1f} s of CPU."
    )


def main() -> None:
    """Parse, measure what is not done, and print."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--rows", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path("typical.jsonl"))
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    for seed in [] if arguments.table else arguments.seeds:
        for dataset in arguments.datasets:
            for classifier in CLASSIFIERS:
                plan = Plan(
                    name="typical",
                    datasets=(dataset,),
                    classifiers=(classifier,),
                    variants=VARIANTS,
                    repetitions=1,
                    rows=arguments.rows,
                    seed=seed,
                )
                key = (dataset, classifier, seed)
                done = {
                    line["method"]
                    for line in read_lines(arguments.out)
                    if (line["dataset"], line["classifier"], line["seed"]) == key
                }
                run_world(plan, dataset, classifier, done, arguments.out)
    print_table(read_lines(arguments.out))


if __name__ == "__main__":
    main()
