"""It finds the fronts of standard problems, as well as pymoo's NSGA2 does.

ZDT (Zitzler, Deb and Thiele 2000), DTLZ2 (Deb et al. 2002) and BNH (Binh and Korn 1997).
"""

import math
from itertools import pairwise

import numpy as np
import pytest

from proce.search import Evaluation, Genome, NSGA2Settings, Purpose, RowStreams, nsga2

N = 100


def hypervolume(points, reference) -> float:
    """Return the exact volume between points and a reference, in two or three losses."""
    inside = sorted(
        tuple(p) for p in points if all(x < r for x, r in zip(p, reference, strict=True))
    )
    if len(reference) == 2:
        area, best = 0.0, reference[1]
        for x, y in inside:
            if y < best:
                area += (reference[0] - x) * (best - y)
                best = y
        return area
    levels = [*sorted({p[2] for p in inside}), reference[2]]
    return sum(
        (above - level) * hypervolume([p[:2] for p in inside if p[2] <= level], reference[:2])
        for level, above in pairwise(levels)
    )


def zdt(x, second):
    """Return the two losses of a ZDT problem; ``second(f1, g) / g`` is its shape."""
    first, g = x[..., 0], 1 + 9 * x[..., 1:].mean(-1)
    return np.stack([first, g * second(first, g)], -1), np.zeros_like(first)


def zdt1(x):
    return zdt(x, lambda f, g: 1 - np.sqrt(f / g))


def zdt2(x):
    return zdt(x, lambda f, g: 1 - (f / g) ** 2)


def zdt3(x):
    return zdt(x, lambda f, g: 1 - np.sqrt(f / g) - f / g * np.sin(10 * math.pi * f))


def dtlz2(x):
    a, b = x[..., 0] * math.pi / 2, x[..., 1] * math.pi / 2
    radius = 1 + ((x[..., 2:] - 0.5) ** 2).sum(-1)
    losses = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)], -1)
    return losses * radius[..., None], np.zeros_like(a)


def bnh(x):
    a, b = np.moveaxis(x, -1, 0)
    losses = np.stack([4 * (a * a + b * b), (a - 5) ** 2 + (b - 5) ** 2], -1)
    over = np.maximum((a - 5) ** 2 + b * b - 25, 0) / 25
    return losses, over + np.maximum(7.7 - (a - 8) ** 2 - (b + 3) ** 2, 0) / 7.7


#                problem, upper bounds, generations, reference, share of the true volume
PROBLEMS = {
    "zdt1": (zdt1, [1.0] * 30, 200, (1.1, 1.1), 0.985),
    "zdt2": (zdt2, [1.0] * 30, 200, (1.1, 1.1), 0.97),
    "zdt3": (zdt3, [1.0] * 30, 200, (1.1, 1.1), 0.97),
    "dtlz2": (dtlz2, [1.0] * 12, 150, (1.1, 1.1, 1.1), 0.83),
    "bnh": (bnh, [5.0, 3.0], 50, (140.0, 50.0), 0.99),
}


def true_volume(name) -> float:
    """Return the volume of a dense sample of the true front."""
    x = np.linspace(0, 1, 5001)
    if name == "dtlz2":
        return 1.1**3 - math.pi / 6
    if name == "bnh":
        rows = np.stack([5 * x, np.minimum(5 * x, 3)], -1)
    else:
        rows = np.concatenate([x[:, None], np.zeros((len(x), 29))], -1)
    problem, _, _, reference, _ = PROBLEMS[name]
    return hypervolume(problem(rows)[0].tolist(), reference)


def our_volumes(name, n_seeds) -> list[float]:
    problem, upper, n_generations, reference, _ = PROBLEMS[name]
    high = np.tile(np.array(upper, np.float64), (n_seeds, 1))
    genome = Genome.of(np.zeros_like(high), high, np.zeros_like(high))
    streams = RowStreams.of(7, np.arange(n_seeds))
    start = streams.uniforms(1, Purpose.START, N * len(upper)).reshape(n_seeds, N, -1)
    settings = NSGA2Settings(n_generations=n_generations, revert_rate=0.0, stop_improvement=None)
    result = nsga2(
        lambda x, _: Evaluation(*problem(x)), genome, start * high[:, None], settings, seed=1
    )
    losses, front = result.population.losses, result.population.front
    return [hypervolume(losses[row][front[row]].tolist(), reference) for row in range(n_seeds)]


def pymoo_volume(name, seed) -> float:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    problem, upper, n_generations, reference, _ = PROBLEMS[name]

    class Same(Problem):
        def _evaluate(self, x, out, *_, **__):
            losses, violation = problem(x)
            out["F"], out["G"] = losses, violation[:, None]

    same = Same(n_var=len(upper), n_obj=len(reference), n_ieq_constr=1, xl=0.0, xu=upper)
    found = minimize(same, NSGA2(pop_size=N), ("n_gen", n_generations), seed=seed)
    return hypervolume(found.F.tolist(), reference)


def test_the_volume_by_hand():
    assert hypervolume([(0.0, 1.0), (1.0, 0.0), (3.0, 0.0)], (2.0, 2.0)) == 3.0
    assert hypervolume([(0.0, 0.0, 0.0)], (1.0, 2.0, 3.0)) == 6.0
    assert hypervolume([(0.0, 1.0, 0.0), (1.0, 0.0, 1.0)], (2.0, 2.0, 2.0)) == 4.0 + 1.0


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_covers_the_true_front(name):
    volumes = our_volumes(name, 3)
    share = PROBLEMS[name][-1] * true_volume(name)
    assert sum(volumes) / 3 >= share
    assert max(volumes) <= true_volume(name) * 1.001


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_as_well_as_pymoo(name):
    """Within one percent of its hypervolume at as many evaluations, mean of ten seeds."""
    pytest.importorskip("pymoo")
    ours, theirs = our_volumes(name, 10), [pymoo_volume(name, seed) for seed in range(10)]
    ratio = sum(ours) / sum(theirs)
    assert ratio >= 0.99
