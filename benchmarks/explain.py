"""ProCE's search beside pymoo's NSGA2 on the same problem, and DiCE on the same rows.

Run: ``PROCE_DATA=... python benchmarks/explain.py`` (pymoo, moocore and dice-ml: the ``bench``
extra). Adult, 8 features, the paper's first classifier, one thread, CPU time, the same number
of evaluations. Targets per row: without causes and rules 25 times less than pymoo at 256 rows
and 7 times for a single row, at 0.998 of its hypervolume; for the full problem 15 and 4 times,
with early stop 25 times; 8 and 20 times less than DiCE random and genetic, early stop on.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import train_test_split

from proce.classifier import TrainedNetwork, fit_network
from proce.datasets import load_dataset
from proce.methods import ProCE, SearchSettings
from proce.methods.calls.options import Options
from proce.methods.explaining.proce_call import ProceCall
from proce.methods.searching.solve import search
from proce.objective import CounterfactualProblem, genome_of, initial_population
from proce.schema import Codec

REPEATS, PYMOO_ROWS, MANY, DICE_ROWS = 5, 4, 256, 10


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call, and what it returned."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def pose_problem(explainer: ProCE, frame: Any) -> CounterfactualProblem:
    """Return the search problem of some rows."""
    call = ProceCall(explainer.fitted_, Options(), frame)
    return call.terms.problem(call.query(torch.arange(len(call))))


def pymoo_front(explainer: ProCE, frame: Any) -> tuple[float, np.ndarray]:
    """Return the CPU time of pymoo's NSGA2 on one row, and the front that it finds."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.core.repair import Repair
    from pymoo.operators.crossover.sbx import SBX
    from pymoo.operators.mutation.pm import PM
    from pymoo.optimize import minimize

    problem, settings = pose_problem(explainer, frame), explainer.fitted_.settings
    genome = genome_of(problem.codec, problem.query.factual, problem.limits, problem.gene_map)
    only = torch.zeros(1, dtype=torch.long)

    class SameProblem(Problem):
        def __init__(self) -> None:
            super().__init__(
                n_var=genome.n_genes,
                n_obj=3,
                n_ieq_constr=1,
                xl=torch.minimum(genome.lower, genome.anchor)[0].numpy(),
                xu=torch.maximum(genome.upper, genome.anchor)[0].numpy(),
            )

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            answer = problem(genome.repair(torch.from_numpy(x)[None]), only)
            out["F"], out["G"] = answer.losses[0].numpy(), answer.violation[0, :, None].numpy()

    class OntoGrid(Repair):
        def _do(self, _: Any, x: np.ndarray, **__: Any) -> np.ndarray:
            return genome.repair(torch.from_numpy(x)[None])[0].numpy()

    start = initial_population(
        genome,
        problem.query,
        problem.codec.reach,
        explainer.fitted_.rows,
        problem.gene_map,
        settings.population_size,
        0,
    )
    algorithm = NSGA2(
        pop_size=settings.population_size,
        sampling=start[0].numpy(),
        crossover=SBX(eta=15, prob=0.9),
        mutation=PM(eta=20),
        repair=OntoGrid(),
        eliminate_duplicates=True,
    )
    seconds, result = cpu(
        lambda: minimize(SameProblem(), algorithm, ("n_gen", settings.n_generations), seed=1)
    )
    return seconds, result.F if result.F is not None else np.empty((0, 3))


def our_fronts(explainer: ProCE, frame: Any) -> tuple[float, list[np.ndarray]]:
    """Return the CPU time of our search per row, and the front of each row."""
    problem = pose_problem(explainer, frame)
    seconds, searched = cpu(
        lambda: search(problem, torch.arange(len(frame)), explainer.fitted_, Options())
    )
    kept = searched.population.front
    losses = searched.population.losses
    fronts = [losses[row][kept[row]].numpy() for row in range(len(frame))]
    return seconds / len(frame), fronts


def compare_with_pymoo(explainer: ProCE, frame: Any, name: str) -> None:
    """Print one line: pymoo's time over ours, and the ratio of hypervolumes."""
    import moocore

    theirs = [pymoo_front(explainer, frame[row : row + 1]) for row in range(PYMOO_ROWS)]
    pymoo = statistics.median(seconds for seconds, _ in theirs)
    ratios: dict[int, list[float]] = {1: [], MANY: []}
    for _ in range(REPEATS):
        for size in ratios:
            seconds, fronts = our_fronts(explainer, frame[:size])
            ratios[size].append(pymoo / seconds)
    volumes = []
    for (_, their_front), front in zip(theirs, fronts, strict=False):
        together = np.concatenate([their_front, front])
        low, high = together.min(0), together.max(0)
        span = np.where(high > low, high - low, 1.0)
        reference = np.full(3, 1.1)
        volume, their_volume = (
            moocore.hypervolume((losses - low) / span, ref=reference)
            for losses in (front, their_front)
        )
        volumes.append(volume / their_volume)
    cells = [f"{statistics.median(r):.1f} ({min(r):.1f}-{max(r):.1f})" for r in ratios.values()]
    print(f"| {name} | {pymoo * 1e3:.0f} | {cells[0]} | {cells[1]} | {np.mean(volumes):.4f} |")


class NetworkForDice:
    """The network behind the interface of a scikit-learn model, which DiCE gives frames."""

    def __init__(self, model: TrainedNetwork, codec: Codec) -> None:
        self.model, self.codec = model, codec
        self.classes_ = np.array([0, 1])

    def predict_proba(self, frame: Any) -> np.ndarray:
        """Return the probabilities of both classes."""
        typed = frame[list(self.codec.schema.columns)].astype(self.codec.layout.dtypes)
        return self.model.predict_proba(self.codec.encode(typed)).numpy()

    def predict(self, frame: Any) -> np.ndarray:
        """Return the likelier class."""
        return self.predict_proba(frame).argmax(1)


def compare_with_dice(
    explainer: ProCE, model: TrainedNetwork, codec: Codec, train: Any, label: Any, frame: Any
) -> None:
    """Print DiCE's time per row over ours, one counterfactual each, the same rows."""
    import dice_ml

    ours = cpu(lambda: explainer.explain(frame[:MANY], n=1))[0] / MANY
    plain = train.astype({name: str for name in train if train[name].dtype == "category"})
    numbers = [name for name in plain if plain[name].dtype.kind in "if"]
    data = dice_ml.Data(
        dataframe=plain.assign(outcome=label), continuous_features=numbers, outcome_name="outcome"
    )
    wrapped = dice_ml.Model(model=NetworkForDice(model, codec), backend="sklearn")
    print("\n| DiCE | ms a row | rows answered | ours, ms a row | ratio |")
    print("|---|---|---|---|---|")
    for method in ("random", "genetic"):
        finder = dice_ml.Dice(data, wrapped, method=method)
        times, answered = [], 0
        for position in range(DICE_ROWS):
            row = frame[position : position + 1].astype(plain.dtypes)
            start = time.process_time()
            try:
                answer = finder.generate_counterfactuals(
                    row, total_CFs=1, desired_class=1, verbose=False
                )
                answered += len(answer.cf_examples_list[0].final_cfs_df) > 0
            except Exception as error:  # DiCE raises where it finds nothing
                reason = f"{type(error).__name__}: {error}"
                print(f"  {method}, row {position}: {reason}", file=sys.stderr)
            times.append(time.process_time() - start)
        theirs = statistics.median(times)
        print(
            f"| {method} | {theirs * 1e3:.0f} | {answered} of {DICE_ROWS} | {ours * 1e3:.1f} |"
            f" {theirs / ours:.0f} |"
        )


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    data = load_dataset("adult")
    train, test, label, _ = train_test_split(data.frame, data.label, test_size=0.2, random_state=0)
    codec = Codec.fit(data.schema, train)
    model = fit_network(codec, train, label)
    rejected = test[(model.predict(codec.encode(test)) == 0).numpy()]
    full_length = SearchSettings(stop_improvement=None)
    plain = ProCE(model, data.schema, causal="off", settings=full_length).fit(train)
    full = ProCE(model, data.schema, data.graph, data.rules, settings=full_length).fit(train)
    stopping = ProCE(model, data.schema, data.graph, data.rules).fit(train)
    plain.explain(rejected[:2])
    full.explain(rejected[:2])
    try:
        import pymoo  # noqa: F401
    except ImportError:
        sys.exit("pymoo is not installed: pip install -c constraints.txt '.[bench]'")
    print("| problem | pymoo, ms a row | ours: 1 row | ours: 256 rows | hypervolume |")
    print("|---|---|---|---|---|")
    compare_with_pymoo(plain, rejected, "no causes, no rules")
    compare_with_pymoo(full, rejected, "full")
    compare_with_pymoo(stopping, rejected, "full, early stop")
    try:
        import dice_ml  # noqa: F401
    except ImportError:
        sys.exit("dice-ml is not installed: pip install -c constraints.txt '.[bench]'")
    compare_with_dice(stopping, model, codec, train, label, rejected)


if __name__ == "__main__":
    main()
