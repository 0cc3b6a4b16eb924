"""Time the search, part by part and whole, beside pymoo's NSGA2 where that is installed.

Run: ``python benchmarks/search.py``. One thread, CPU time, best of several runs. The problem
looks like Adult: 12 genes (4 numbers, 8 features of 7 levels), a classifier of 64-32-16 and
an encoder of 128-256 as float32 networks, three losses, feasible where the classifier says
yes. Its weights are random, since only their shape costs time.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from unittest import mock

import torch
from torch import Tensor, nn

from proce.compiled import engine
from proce.search import (
    Evaluation,
    GeneKind,
    Genome,
    NSGA2Settings,
    Purpose,
    RowStreams,
    nsga2,
)
from proce.search.survival import Candidates, survive
from proce.search.variation import offspring

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
        keys = torch.arange(n_rows)
        kind = torch.tensor([GeneKind.GRID] * N_NUMBERS + [GeneKind.LEVEL] * N_CATEGORICAL)
        upper = torch.where(kind == GeneKind.LEVEL, N_LEVELS - 1.0, 1.0).double()
        upper = upper.expand(n_rows, -1)
        draw = RowStreams.of(1, keys).uniforms(0, Purpose.START, N_GENES)
        step = torch.full((N_GENES,), 0.01)
        lower = torch.zeros_like(upper)
        rough = Genome.of(lower, upper, draw * upper, kind=kind, step=step)
        anchor = rough.repair((draw * upper)[:, None] + 1e-9)[:, 0]
        self.genome = Genome.of(lower, upper, anchor.round(decimals=2), kind=kind, step=step)
        start = RowStreams.of(2, keys).uniforms(1, Purpose.START, 100 * N_GENES)
        coin = RowStreams.of(3, keys).uniforms(1, Purpose.START, 100 * N_GENES)
        start, coin = (tensor.view(n_rows, 100, N_GENES) for tensor in (start, coin))
        mixed = torch.where(coin < 0.5, self.genome.anchor[:, None], start * upper[:, None])
        self.initial = self.genome.repair(mixed)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            width = N_NUMBERS + N_LEVELS * N_CATEGORICAL
            self.classifier = _network(width, 64, 32, 16, 1)
            self.encoder = _network(width, 128, 256)
        with torch.no_grad():
            score = self.classifier(self._inputs(self.initial)).flatten()
            self.threshold = float(score.quantile(0.9))  # one random candidate in ten is feasible
            self.scale = float(score.std())
            latents = self.encoder(self._inputs(self.initial)).view(n_rows, 100, -1)
        self.prototype = latents[:, -10:].mean(1)  # (i, e)

    def _inputs(self, genes: Tensor) -> Tensor:
        rows = genes.flatten(0, 1)
        codes = rows[:, N_NUMBERS:].long() + N_LEVELS * torch.arange(N_CATEGORICAL)
        hot = torch.zeros(len(rows), N_LEVELS * N_CATEGORICAL).scatter_(1, codes, 1.0)
        return torch.cat([rows[:, :N_NUMBERS].float(), hot], dim=1)

    def __call__(self, genes: Tensor, instances: Tensor) -> Evaluation:
        """Return three losses and the violation of candidates ``(i, c, g)``."""
        shape = genes.shape[:2]
        parts = [self._answers(part) for part in torch.split(genes, 64)]
        score, latent = (torch.cat(part).view(*shape, -1) for part in zip(*parts, strict=True))
        p = torch.sigmoid((score[..., 0] - self.threshold) / self.scale)
        typical = (latent - self.prototype[instances][:, None]).square().mean(-1)
        offset = (genes - self.genome.anchor[instances][:, None]).abs()
        numbers = offset[..., :N_NUMBERS].sum(-1)
        distance = numbers + (offset[..., N_NUMBERS:] > 0).sum(-1)
        losses = torch.stack([-p.clamp(min=1e-7).log().double(), typical.double(), distance], -1)
        return Evaluation(losses, (0.5 - p).clamp(min=0).double())

    def _answers(self, genes: Tensor) -> tuple[Tensor, Tensor]:
        inputs = self._inputs(genes)
        return self.classifier(inputs), self.encoder(inputs)


def _network(*sizes: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1]).eval()


def time_parts(n_rows: int) -> dict[str, float]:
    """Return microseconds per row and generation of each part."""
    problem = AdultLike(n_rows)
    genome, streams = problem.genome, RowStreams.of(0, torch.arange(n_rows))
    with torch.no_grad():
        evaluation = problem(problem.initial, torch.arange(n_rows))
        first = Candidates(problem.initial, evaluation.losses, evaluation.violation)
        population = survive([first], 100, "deb")
        children = offspring(population.genes, genome, streams, 2, 100, SETTINGS)
        evaluation = problem(children, torch.arange(n_rows))
        second = Candidates(children, evaluation.losses, evaluation.violation)
        repeats = 300 if n_rows == 1 else 10
        work: dict[str, Callable[[], object]] = {
            "random numbers": lambda: streams.uniforms(2, Purpose.START, 100 * N_GENES),
            "variation": lambda: offspring(population.genes, genome, streams, 2, 100, SETTINGS),
            "survival": lambda: survive([population, second], 100, "deb"),
            "survival, paper": lambda: survive([population, second], 100, "paper"),
            "evaluation": lambda: problem(children, torch.arange(n_rows)),
        }
        for call in work.values():
            call()  # compiles
        seconds = {name: cpu_seconds(call, repeats) for name, call in work.items()}
        with mock.patch.object(engine, "use_kernels", return_value=False):
            for name in ("variation", "survival"):
                seconds[f"{name}, torch"] = cpu_seconds(work[name], 3)
        return {name: 1e6 * value / n_rows for name, value in seconds.items()}


def time_search(n_rows: int, settings: NSGA2Settings) -> tuple[float, float, float]:
    """Return milliseconds per row, the share of evaluation in them, and mean generations."""
    problem = AdultLike(n_rows)
    inside = 0.0

    def timed(genes: Tensor, instances: Tensor) -> Evaluation:
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
    generations = float(result.n_generations.double().mean())
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
            bounds = {"xl": genome.lower[row].numpy(), "xu": genome.upper[row].numpy()}
            super().__init__(n_var=N_GENES, n_obj=3, n_ieq_constr=1, **bounds)
            self.row = torch.tensor([row])

        def _evaluate(self, x: object, out: dict[str, object], *_: object, **__: object) -> None:
            with torch.no_grad():
                answer = problem(torch.as_tensor(x)[None], self.row)
            out["F"], out["G"] = answer.losses[0].numpy(), answer.violation[0, :, None].numpy()

    class Rounded(Repair):  # type: ignore[misc]
        def _do(self, one: OneRow, x: object, **_: object) -> object:
            return problem.genome.take(one.row).repair(torch.as_tensor(x)[None])[0].numpy()

    times = []
    for row in range(min(n_rows, 5)):
        algorithm = NSGA2(pop_size=100, sampling=problem.initial[row].numpy(), repair=Rounded())
        start = time.process_time()
        minimize(OneRow(row), algorithm, ("n_gen", SETTINGS.n_generations), seed=row)
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times)


if __name__ == "__main__":
    torch.set_num_threads(1)
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
