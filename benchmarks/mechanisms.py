"""How far fitted equations are from the true ones, where these are known.

Run: ``python benchmarks/mechanisms.py``. Every number that can be acted on is set, in each
test row, to the value of a random training row; what follows is compared with the truth. The
error is the mean absolute difference of each number that follows, in standard deviations of
the feature; for levels the share that differs. What a level leaves open of a person is drawn
anew in the truth, so that some levels differ whatever the equations. Random worlds are means over
five of them. ``--times`` prints the CPU time of fitting alone.
"""

import argparse
import time
from statistics import mean

import numpy as np
from sklearn.model_selection import train_test_split

from proce.causal import StructuralCausalModel
from proce.datasets import Dataset, load_dataset
from proce.datasets.worlds import KINDS as WORLDS
from proce.datasets.worlds import random_world
from proce.schema import Action, Codec, Continuous

KINDS = ("linear", "quadratic", "spline", "boosting", "auto")
SMOOTH_KINDS = ("linear", "quadratic", "spline", "auto")
N_WORLDS, N_PEOPLE = 5, 4_000
N_REPEATS = 3


def errors(data: Dataset, kind: str, seed: int = 0) -> tuple[list[float], list[float]]:
    """Return the errors of numbers and of levels, one for each pair of cause and effect."""
    train, test = train_test_split(data.frame, test_size=0.2, random_state=seed)
    codec = Codec.fit(data.schema, train)
    rows, factual = codec.encode(train), codec.encode(test)
    fitted = StructuralCausalModel.fit(data.graph, rows, codec, mechanism=kind)
    truth = data.truth.with_codec(codec)
    draw = np.random.default_rng(seed)
    numbers, levels = [], []
    for name in data.graph.nodes:
        position, feature = codec.schema.position(name), codec.schema[name]
        effects = data.graph.descendants(name)
        if not effects or not isinstance(feature, Continuous) or feature.action is Action.FIXED:
            continue
        start = factual.copy()
        drawn = draw.integers(0, len(rows), len(start))
        start[:, position] = rows[drawn, position]
        acted_on = np.arange(len(codec.schema)) == position
        learned = fitted.propagate(start, fitted.abduct(factual, seed=0), acted_on)
        true = truth.propagate(start, truth.abduct(factual, seed=1), acted_on)
        for effect in effects:
            column = codec.schema.position(effect)
            if isinstance(codec.schema[effect], Continuous):
                gap = np.abs(learned[:, column] - true[:, column]).mean()
                numbers.append(float(gap / rows[:, column].std(ddof=1)))
            else:
                levels.append(float((learned[:, column] != true[:, column]).mean()))
    return numbers, levels


def print_errors() -> None:
    """Compare kinds of equations with the truth."""
    print("| data set | mechanism | mean error, sd | largest, sd | levels that differ |")
    print("|---|---|---|---|---|")
    for name in ("simple_bn", "sangiovese", "loan"):
        data = load_dataset(name)
        for kind in KINDS:
            _print_line(name, kind, [errors(data, kind)])
    for world in WORLDS:
        places = [random_world(world, number, n=N_PEOPLE) for number in range(N_WORLDS)]
        for kind in SMOOTH_KINDS:
            _print_line(f"random {world}", kind, [errors(data, kind) for data in places])


def _print_line(name: str, kind: str, found: list[tuple[list[float], list[float]]]) -> None:
    numbers = [gap for gaps, _ in found for gap in gaps]
    levels = [share for _, shares in found for share in shares]
    share = f"{mean(levels):.1%}" if levels else "none"
    print(f"| {name} | {kind} | {mean(numbers):.4f} | {max(numbers):.4f} | {share} |", flush=True)


def print_times() -> None:
    """Measure how long the equations of a data set take to fit."""
    print("| data set | rows | equations | fit, CPU s |")
    print("|---|---|---|---|")
    for name in ("adult", "loan", "simple_bn", "sangiovese", "law"):
        data = load_dataset(name)
        train, _ = train_test_split(data.frame, test_size=0.2, random_state=0)
        codec = Codec.fit(data.schema, train)
        rows, taken = codec.encode(train), []
        for _ in range(N_REPEATS):
            start = time.process_time()
            scm = StructuralCausalModel.fit(data.graph, rows, codec)
            taken.append(time.process_time() - start)
        size = len(scm.mechanisms)
        print(f"| {name} | {len(rows):,} | {size} | {min(taken):.2f} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", action="store_true")
    if parser.parse_args().times:
        print_times()
    else:
        print_errors()


if __name__ == "__main__":
    main()
