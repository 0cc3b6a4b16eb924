"""Explaining rows beside pymoo's NSGA2, NICE and DiCE, on the same rows in one run.

Run: ``PROCE_DATA=... python benchmarks/explain.py [--rows 256] [--repeats 5] [--rivals 8]``
(pymoo, moocore and dice-ml: the ``bench`` extra). Adult, 8 features, the paper's first classifier,
one thread, CPU time, population 100 and 50 generations everywhere.

Targets per row. Against pymoo that evaluates with our code: 130 times less CPU without causes and
120 for the full problem in a call of 256 rows, 25 and 20 for a single row, at 0.998 of its
hypervolume. Against a pymoo problem that is vectorised by hand, whole ``explain`` calls: 90 and 60,
18 and 12. Against NICE 1.3, against DiCE random and genetic 20 and 50. CPU: one row 30 ms with
graph and rules and 20 without, 6 and 4 ms a row in a call of 256, ``what_if`` 5 ms, ``fit`` 5 s,
``with_graph`` 0.5 s.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from rivals.by_hand import Setting, front_by_hand
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from proce.classifier import TrainedNetwork, fit_network
from proce.datasets import Dataset, load_dataset
from proce.methods import Nearest, ProCE
from proce.methods.calls.options import Options
from proce.methods.phases.evolve import evolve
from proce.methods.pipeline import ProceCall
from proce.objective import CounterfactualProblem, genome_of, initial_population
from proce.schema import Codec


@dataclass(frozen=True)
class World:
    """The data, the model, and people whom it rejects.

    Attributes
    ----------
    data, train, label
        The data set, and the rows and labels that the model was trained on.
    codec, model
        The features and the model.
    rejected
        Test rows that the model rejects.
    """

    data: Dataset
    train: Any
    label: Any
    codec: Codec
    model: TrainedNetwork
    rejected: Any


def make_world() -> World:
    """Train the model and find the rejected test rows."""
    data = load_dataset("adult")
    train, test, label, _ = train_test_split(data.frame, data.label, test_size=0.2, random_state=0)
    codec = Codec.fit(data.schema, train)
    model = fit_network(codec, train, label)
    rejected = test[model.predict(codec.encode(test)) == 0]
    return World(data, train, label, codec, model, rejected)


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call, and what it returned."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Return the median of some values, and the lowest and the highest."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def full_length(explainer: ProCE) -> ProCE:
    """Return an explainer that never stops early, and is otherwise the same."""
    settings = replace(explainer.fitted_.settings, stop_improvement=None)
    parameters = {**explainer.get_params(deep=False), "settings": settings}
    other = ProCE(**parameters)
    other._set_fitted(replace(explainer.fitted_, settings=settings))
    return other


def pose_problem(explainer: ProCE, frame: Any) -> CounterfactualProblem:
    """Return the search problem of some rows."""
    call = ProceCall(explainer.fitted_, Options(), frame)
    return call.spec.problem(call.batch(np.arange(len(call))))


def pymoo_front(explainer: ProCE, frame: Any) -> tuple[float, np.ndarray]:
    """Return the CPU time of pymoo's NSGA2 on one row with our evaluation, and its front."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem
    from pymoo.core.repair import Repair
    from pymoo.operators.crossover.sbx import SBX
    from pymoo.operators.mutation.pm import PM
    from pymoo.optimize import minimize

    problem, settings = pose_problem(explainer, frame), explainer.fitted_.settings
    genome = genome_of(problem.codec, problem.batch.factual, problem.limits, problem.gene_map)

    class SameProblem(Problem):
        def __init__(self) -> None:
            super().__init__(
                n_var=genome.n_genes,
                n_obj=3,
                n_ieq_constr=1,
                xl=np.minimum(genome.lower, genome.anchor)[0],
                xu=np.maximum(genome.upper, genome.anchor)[0],
            )

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            answer = problem.evaluate(genome.repair(x[None]))
            out["F"], out["G"] = answer.losses[0], answer.violation[0, :, None]

    class OntoGrid(Repair):
        def _do(self, _: Any, x: np.ndarray, **__: Any) -> np.ndarray:
            return genome.repair(x[None])[0]

    start = initial_population(
        genome,
        problem.batch,
        problem.codec.reach,
        explainer.fitted_.rows,
        problem.gene_map,
        settings.population_size,
        0,
    )
    algorithm = NSGA2(
        pop_size=settings.population_size,
        sampling=start[0],
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
    seconds, searched = cpu(lambda: evolve(problem, explainer.fitted_))
    kept = searched.population.front
    losses = searched.population.losses
    fronts = [losses[row][kept[row]] for row in range(len(frame))]
    return seconds / len(frame), fronts


def share_of_hypervolume(front: np.ndarray, reference_front: np.ndarray) -> float:
    """Return the hypervolume of a front as a share of another's."""
    import moocore

    together = np.concatenate([reference_front, front])
    low, high = together.min(0), together.max(0)
    span = np.where(high > low, high - low, 1.0)
    volumes = [
        moocore.hypervolume((losses - low) / span, ref=np.full(3, 1.1))
        for losses in (front, reference_front)
    ]
    return float(volumes[0] / volumes[1])


def compare_searches(explainers: dict[str, ProCE], frame: Any, sizes: argparse.Namespace) -> None:
    """Print a line for each problem: pymoo with our evaluation, beside our search."""
    print("| problem | pymoo, ms a row | 1 row, ms | ratio | many rows, ms | ratio | volume |")
    print("|---|---|---|---|---|---|---|")
    for name, explainer in explainers.items():
        both = {"full length": full_length(explainer), "early stop": explainer}
        theirs: list[tuple[float, np.ndarray]] = []
        alone: dict[str, list[float]] = {length: [] for length in both}
        for row in range(sizes.rivals):
            theirs.append(pymoo_front(explainer, frame[row : row + 1]))
            for length, ours in both.items():
                alone[length] += [our_fronts(ours, frame[row : row + 1])[0] for _ in range(3)]
        pymoo = statistics.median(seconds for seconds, _ in theirs)
        for length, ours in both.items():
            together = []
            for _ in range(sizes.repeats):
                seconds, fronts = our_fronts(ours, frame[: sizes.rows])
                together.append(seconds)
            volume = np.mean(
                [
                    share_of_hypervolume(front, their_front)
                    for (_, their_front), front in zip(theirs, fronts, strict=False)
                ]
            )
            cells = [
                f"{statistics.median(times) * 1e3:.1f} | {spread([pymoo / t for t in times])}"
                for times in (alone[length], together)
            ]
            print(
                f"| {name}, {length} | {pymoo * 1e3:.0f} | {' | '.join(cells)} | {volume:.4f} |",
                flush=True,
            )


class ByHand:
    """The problem of an explainer's rows, written by hand for pymoo.

    Parameters
    ----------
    explainer
        The explainer, whose networks are used, and whose graph and rules if it has any.
    world
        The data.
    """

    def __init__(self, explainer: ProCE, world: World) -> None:
        self.parts, self.rejected = explainer.fitted_, world.rejected
        self.codec = self.parts.codec.by_range
        rows = self.parts.codec.on_range(self.parts.rows)
        edges = tuple(world.data.graph.edges) if self.parts.scm is not None else ()
        self.setting = Setting(self.codec, rows, world.model, self.parts.autoencoder, edges)

    def seconds(self, position: int) -> float:
        """Return the CPU time that pymoo takes for one rejected row."""
        names, parts = list(self.codec.schema.names), self.parts
        frame = self.rejected[position : position + 1]
        factual = self.codec.encode(frame)[0]
        latent = parts.autoencoder.encode(parts.codec.encode(frame))
        prototype = parts.index.prototype(latent, 1, parts.settings.n_neighbours).latents[0]
        lower = np.zeros(len(names))
        upper = np.where(self.setting.is_number, 1.0, np.array(self.setting.sizes) - 1.0)
        age, education = names.index("age"), names.index("education")
        fixed = [names.index("race"), names.index("gender")]
        lower[age], lower[fixed], upper[fixed] = factual[age], factual[fixed], factual[fixed]
        ranks = None
        if parts.rules:
            lower[education] = factual[education]
            ranks = education, age
        taken, front = front_by_hand(self.setting, factual, prototype, lower, upper, ranks)
        assert len(front), "pymoo found nothing"
        return taken


def compare_calls(explainers: dict[str, ProCE], world: World, sizes: argparse.Namespace) -> float:
    """Print whole calls beside pymoo by hand; return the seconds a row of the full problem.

    The two take turns, so that what else the machine does meets both.
    """
    frame = world.rejected
    print("\n| problem | pymoo by hand, ms a row | 1 row, ms | ratio | many rows, ms | ratio |")
    print("|---|---|---|---|---|---|")
    per_row = 0.0
    for name, explainer in explainers.items():
        by_hand = ByHand(explainer, world)
        theirs: list[float] = []
        alone: list[float] = []
        many: list[float] = []
        for row in range(sizes.singles):
            if row < sizes.rivals:
                theirs.append(by_hand.seconds(row))
            call = partial(explainer.explain, frame[row : row + 1])
            alone.append(statistics.median(cpu(call)[0] for _ in range(3)))
            if row < sizes.repeats:
                call = partial(explainer.explain, frame[: sizes.rows])
                many.append(cpu(call)[0] / sizes.rows)
        rival, one, per_row = map(statistics.median, (theirs, alone, many))
        print(
            f"| {name} | {spread([t * 1e3 for t in theirs], 0)} |"
            f" {spread([t * 1e3 for t in alone])} | {rival / one:.1f} |"
            f" {spread([t * 1e3 for t in many])} | {rival / per_row:.1f} |",
            flush=True,
        )
    return per_row


def measure_other_calls(full: ProCE, world: World, sizes: argparse.Namespace) -> None:
    """Print what a person waits for beside ``explain``."""
    data, rows = world.data, [world.rejected[row : row + 1] for row in range(sizes.singles)]
    fresh = ProCE(world.model, data.schema, data.graph, data.rules)
    calls: dict[str, list[Callable[[], Any]]] = {
        "`what_if`, ms": [partial(full.what_if, row, {"hours_per_week": 60}) for row in rows],
        "`fit`, ms": [partial(fresh.fit, world.train)],
        "`with_graph`, ms": [partial(full.with_graph, data.graph.edges[1:])] * 3,
        "`with_rules`, ms": [partial(full.with_rules, data.rules[:1])] * 3,
    }
    print("\n| call | CPU |\n|---|---|")
    for name, works in calls.items():
        works[0]()
        print(f"| {name} | {spread([cpu(work)[0] * 1e3 for work in works])} |", flush=True)


def compare_with_nice(world: World, ours: float, sizes: argparse.Namespace) -> None:
    """Print NICE's time per row over ours, the same rows in one call."""
    nearest = Nearest(world.model, world.data.schema).fit(world.train)
    frame = world.rejected[: sizes.rows]
    nearest.explain(frame[:2])
    taken = [cpu(lambda: nearest.explain(frame))[0] / sizes.rows for _ in range(sizes.repeats)]
    print("\n| method | ms a row | rows answered | ProCE with graph and rules, ms a row | ratio |")
    print("|---|---|---|---|---|")
    found = sum(item.outcome == "found" for item in nearest.explain(frame))
    print(
        f"| NICE (ours), {sizes.rows} rows | {spread([t * 1e3 for t in taken])} |"
        f" {found} of {sizes.rows} | {ours * 1e3:.1f} | {statistics.median(taken) / ours:.2f} |",
        flush=True,
    )


class NetworkForDice:
    """The network behind the interface of a scikit-learn model, which DiCE gives frames."""

    def __init__(self, model: TrainedNetwork, codec: Codec) -> None:
        self.model, self.codec = model, codec
        self.classes_ = np.array([0, 1])

    def predict_proba(self, frame: Any) -> np.ndarray:
        """Return the probabilities of both classes."""
        typed = frame[list(self.codec.schema.columns)].astype(self.codec.layout.dtypes)
        return self.model.predict_proba(self.codec.encode(typed))

    def predict(self, frame: Any) -> np.ndarray:
        """Return the likelier class."""
        return self.predict_proba(frame).argmax(1)


def dice_seconds(world: World, method: str, n_rows: int) -> tuple[list[float], int]:
    """Return DiCE's CPU time on each row, and how many rows it answered."""
    import dice_ml

    torch.set_num_threads(1)
    train = world.train
    plain = train.astype({name: str for name in train if train[name].dtype == "category"})
    numbers = [name for name in plain if plain[name].dtype.kind in "if"]
    data = dice_ml.Data(
        dataframe=plain.assign(outcome=world.label),
        continuous_features=numbers,
        outcome_name="outcome",
    )
    wrapped = dice_ml.Model(model=NetworkForDice(world.model, world.codec), backend="sklearn")
    finder = dice_ml.Dice(data, wrapped, method=method)
    times, n_answered, reasons = [], 0, []
    for position in range(n_rows):
        row = world.rejected[position : position + 1].astype(plain.dtypes)
        start = time.process_time()
        try:
            with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):  # DiCE draws bars
                answer = finder.generate_counterfactuals(
                    row, total_CFs=1, desired_class=1, verbose=False
                )
            n_answered += len(answer.cf_examples_list[0].final_cfs_df) > 0
        except Exception as error:  # DiCE raises where it finds nothing
            reasons.append(f"row {position}: {type(error).__name__}: {error}")
        times.append(time.process_time() - start)
    print(*reasons, sep="\n", end="", file=sys.stderr)
    return times, n_answered


def compare_with_dice(world: World, ours: float, n_rows: int) -> None:
    """Print DiCE's time per row over ours, one counterfactual each; in a process of its own."""
    for method in ("random", "genetic"):
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as process:
            times, n_answered = process.submit(dice_seconds, world, method, n_rows).result()
        print(
            f"| DiCE {method} | {spread([t * 1e3 for t in times], 0)} | {n_answered} of {n_rows} |"
            f" {ours * 1e3:.1f} | {statistics.median(times) / ours:.0f} |",
            flush=True,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=256, help="rows of a large call")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--singles", type=int, default=12, help="rows that are explained alone")
    parser.add_argument("--rivals", type=int, default=8, help="rows that pymoo explains")
    parser.add_argument("--dice", type=int, default=10, help="rows that DiCE explains; 0 for none")
    sizes = parser.parse_args()
    try:
        import pymoo  # noqa: F401
    except ImportError:
        sys.exit("pymoo is not installed: pip install -c constraints.txt '.[bench]'")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        world = make_world()
        data = world.data
        full = ProCE(world.model, data.schema, data.graph, data.rules).fit(world.train)
        plain = full.with_graph(None).with_rules(())
        explainers = {"no causes, no rules": plain, "graph and rules": full}
        for explainer in explainers.values():
            explainer.explain(world.rejected[:2])
        compare_searches(explainers, world.rejected, sizes)
        ours = compare_calls(explainers, world, sizes)
        measure_other_calls(full, world, sizes)
        compare_with_nice(world, ours, sizes)
    try:
        import dice_ml  # noqa: F401
    except ImportError:
        print("dice-ml is not installed: no comparison with DiCE")
        return
    if sizes.dice:
        compare_with_dice(world, ours, sizes.dice)


if __name__ == "__main__":
    main()
