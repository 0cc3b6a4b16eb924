"""Time the search, part by part and whole, beside pymoo's NSGA2 where that is installed.

Run: ``python benchmarks/search.py``. One thread, CPU time, best of several runs. The problem
looks like Adult: 12 genes (4 numbers, 8 features of 7 levels), a classifier of 64-32-16 and
an encoder of 128-256 as float32 networks, three losses, feasible where the classifier says
yes. Their weights are random, since only their shape costs time.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from proce.arrays import Array, Floats, Ints
from proce.compiled.cells import CellKind
from proce.compiled.elementary import exponentials, logarithms
from proce.compiled.row_network import CellInput, Layer, RowNetwork
from proce.search import (
    Evaluation,
    GeneKind,
    Genome,
    NSGA2Settings,
    Purpose,
    RowStreams,
    nsga2,
)
from proce.search.genome import offspring
from proce.search.survival import Candidates, survive

N_NUMBERS, N_LEVELS, N_CATEGORICAL = 4, 7, 8
N_GENES = N_NUMBERS + N_CATEGORICAL
SETTINGS = NSGA2Settings(stop_improvement=None)


def cpu_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of several calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


class AdultLike:
    """A problem with the shapes of Adult.

    Parameters
    ----------
    n_rows
        How many instances are searched.
    """

    def __init__(self, n_rows: int) -> None:
        keys = np.arange(n_rows)
        kind = np.array([GeneKind.GRID] * N_NUMBERS + [GeneKind.LEVEL] * N_CATEGORICAL)
        upper = np.tile(np.where(kind == GeneKind.LEVEL, N_LEVELS - 1.0, 1.0), (n_rows, 1))
        draw = RowStreams.of(1, keys).uniforms(0, Purpose.START, N_GENES)
        step = np.full(N_GENES, 0.01)
        lower = np.zeros_like(upper)
        rough = Genome.of(lower, upper, draw * upper, kind=kind, step=step)
        anchor = rough.repair((draw * upper)[:, None] + 1e-9)[:, 0]
        self.genome = Genome.of(lower, upper, anchor.round(2), kind=kind, step=step)
        start = RowStreams.of(2, keys).uniforms(1, Purpose.START, 100 * N_GENES)
        coin = RowStreams.of(3, keys).uniforms(1, Purpose.START, 100 * N_GENES)
        start, coin = (numbers.reshape(n_rows, 100, N_GENES) for numbers in (start, coin))
        mixed = np.where(coin < 0.5, self.genome.anchor[:, None], start * upper[:, None])
        self.initial = self.genome.repair(mixed)
        weights = np.random.default_rng(0)
        self.classifier = _network(weights, 64, 32, 16, 1)
        self.encoder = _network(weights, 128, 256)
        score = self.classifier.outputs(self.initial)
        self.threshold = float(np.quantile(score, 0.9))  # one random candidate in ten is feasible
        self.scale = float(score.std())
        self.prototype = self.encoder.outputs(self.initial[:, -10:]).mean(1)  # (i, e)

    def __call__(self, genes: Floats, instances: Ints) -> Evaluation:
        """Return three losses and the violation of candidates ``(i, c, g)``."""
        score = (self.classifier.outputs(genes)[..., 0] - self.threshold) / self.scale
        p = 1 / (1 + exponentials(-score))
        typical = self.encoder.mean_squared_offsets(genes, self.prototype[instances])
        offset = np.abs(genes - self.genome.anchor[instances][:, None])
        numbers = offset[..., :N_NUMBERS].sum(-1)
        distance = numbers + (offset[..., N_NUMBERS:] > 0).sum(-1)
        losses = np.stack([-logarithms(np.maximum(p, 1e-7)), typical, distance], axis=-1)
        return Evaluation(losses, np.maximum(0.5 - p, 0))


def _network(weights: np.random.Generator, *sizes: int) -> RowNetwork:
    """Return a network on the genes, whose hidden layers set to 0 what is negative."""
    width = N_NUMBERS + N_LEVELS * N_CATEGORICAL

    def drawn(n_inputs: int, *shape: int) -> Array:
        return weights.uniform(-1, 1, shape) * n_inputs**-0.5

    inputs = [CellInput(CellKind.NUMBER, drawn(width, 1, sizes[0]), None)] * N_NUMBERS
    inputs += [
        CellInput(CellKind.LEVEL, drawn(width, N_LEVELS, sizes[0]), None)
        for _ in range(N_CATEGORICAL)
    ]
    layers = [
        Layer(drawn(before, after, before), drawn(before, after), after != sizes[-1])
        for before, after in pairwise(sizes)
    ]
    return RowNetwork.of(inputs, drawn(width, sizes[0]), True, layers)


def time_parts(n_rows: int) -> dict[str, float]:
    """Return microseconds per row and generation of each part."""
    problem = AdultLike(n_rows)
    genome, streams = problem.genome, RowStreams.of(0, np.arange(n_rows))
    evaluation = problem(problem.initial, np.arange(n_rows))
    first = Candidates(problem.initial, evaluation.losses, evaluation.violation)
    population = survive([first], 100, "deb")
    children = offspring(population.genes, genome, streams, 2, 100, SETTINGS)
    evaluation = problem(children, np.arange(n_rows))
    second = Candidates(children, evaluation.losses, evaluation.violation)
    repeats = 300 if n_rows == 1 else 10
    work: dict[str, Callable[[], object]] = {
        "random numbers": lambda: streams.uniforms(2, Purpose.START, 100 * N_GENES),
        "variation": lambda: offspring(population.genes, genome, streams, 2, 100, SETTINGS),
        "survival": lambda: survive([population, second], 100, "deb"),
        "survival, paper": lambda: survive([population, second], 100, "paper"),
        "evaluation": lambda: problem(children, np.arange(n_rows)),
    }
    for call in work.values():
        call()  # compiles
    seconds = {name: cpu_seconds(call, repeats) for name, call in work.items()}
    return {name: 1e6 * value / n_rows for name, value in seconds.items()}


def time_search(n_rows: int, settings: NSGA2Settings) -> tuple[float, float, float]:
    """Return milliseconds per row, the share of evaluation in them, and mean generations."""
    problem = AdultLike(n_rows)
    inside = 0.0

    def timed(genes: Floats, instances: Ints) -> Evaluation:
        nonlocal inside
        start = time.process_time()
        answer = problem(genes, instances)
        inside += time.process_time() - start
        return answer

    runs = []
    for _ in range(5 if n_rows == 1 else 3):
        inside, start = 0.0, time.process_time()
        result = nsga2(timed, problem.genome, problem.initial, settings, seed=0, archive_by=2)
        runs.append((time.process_time() - start, inside))
    seconds, evaluating = min(runs)
    generations = float(result.n_generations.mean())
    return 1e3 * seconds / n_rows, evaluating / seconds, generations


def time_pymoo(n_rows: int) -> float | None:
    """Return milliseconds per row of pymoo on the same problem, row after row."""
    try:
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.core.problem import Problem
        from pymoo.core.repair import Repair
        from pymoo.optimize import minimize
    except ImportError:
        return None
    problem = AdultLike(n_rows)

    class OneRow(Problem):  # type: ignore[misc]
        def __init__(self, row: int) -> None:
            genome = problem.genome
            bounds = {"xl": genome.lower[row], "xu": genome.upper[row]}
            super().__init__(n_var=N_GENES, n_obj=3, n_ieq_constr=1, **bounds)
            self.row = np.array([row])

        def _evaluate(self, x: Array, out: dict[str, object], *_: object, **__: object) -> None:
            answer = problem(x[None], self.row)
            out["F"], out["G"] = answer.losses[0], answer.violation[0, :, None]

    class Rounded(Repair):  # type: ignore[misc]
        def _do(self, one: OneRow, x: Array, **_: object) -> Array:
            return problem.genome.take(one.row).repair(x[None])[0]

    times = []
    for row in range(min(n_rows, 5)):
        algorithm = NSGA2(pop_size=100, sampling=problem.initial[row], repair=Rounded())
        start = time.process_time()
        minimize(OneRow(row), algorithm, ("n_gen", SETTINGS.n_generations), seed=row)
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times)


if __name__ == "__main__":
    start = time.process_time()
    small = AdultLike(1)
    brief = replace(SETTINGS, n_generations=2)
    nsga2(small, small.genome, small.initial, brief, seed=0)
    print(f"first search, compiled or from the cache: {time.process_time() - start:.1f} s")
    print("\n| µs per row and generation | 1 row | 256 rows |\n|---|---|---|")
    one, many = time_parts(1), time_parts(256)
    for name in one:
        print(f"| {name} | {one[name]:.1f} | {many[name]:.1f} |")
    print("\n| ms per row, 50 generations | 1 row | 256 rows |\n|---|---|---|")
    cells = {n: time_search(n, SETTINGS) for n in (1, 256)}
    print("| all |", " | ".join(f"{cells[n][0]:.1f}" for n in cells), "|")
    print("| of it evaluation |", " | ".join(f"{cells[n][1]:.0%}" for n in cells), "|")
    early = {n: time_search(n, NSGA2Settings()) for n in (1, 256)}
    print("| with early stop |", " | ".join(f"{early[n][0]:.1f}" for n in early), "|")
    print("| mean generations |", " | ".join(f"{early[n][2]:.0f}" for n in early), "|")
    theirs = time_pymoo(5)
    if theirs is not None:
        ratios = " | ".join(f"{theirs:.0f} ({theirs / cells[n][0]:.0f}x)" for n in cells)
        print(f"| pymoo, as many evaluations | {ratios} |")
