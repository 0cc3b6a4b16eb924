"""When a search ends: convergence, budgets, the caller."""

import math
import time

import numpy as np
import pytest

from proce.errors import SearchError
from proce.search import Evaluation, Genome, NSGA2Settings, Stop, nsga2
from proce.search.convergence import N_WEIGHTS, Convergence, front_values, tchebycheff_weights
from proce.search.survival import Population

SETTINGS = NSGA2Settings(population_size=20, n_offspring=20, n_generations=60)


def task(n_instances):
    low, high = np.zeros((n_instances, 3)), np.ones((n_instances, 3))
    start = np.random.default_rng(0).random((n_instances, 20, 3))
    return Genome.of(low, high, 0.5 * high), start


def trade(genes, instances):
    x, y, z = np.moveaxis(genes, -1, 0)
    losses = np.stack([x + (y - 0.5) ** 2, 1 - x + (z - 0.5) ** 2], -1)
    return Evaluation(losses, np.zeros_like(x))


def population(losses, violation=0.0) -> Population:
    losses = np.array([losses], dtype=np.float64)
    zeros = np.zeros(losses.shape[:2], dtype=np.float64)
    return Population(losses, losses, zeros + violation, zeros.astype(np.int64))


def test_a_converged_instance_stops_early():
    result = nsga2(trade, *task(4), SETTINGS, seed=0)
    assert result.ended_by(Stop.CONVERGED).all()
    assert bool((result.n_generations < 60).all())
    assert bool((result.n_generations % 5 == 0).all())
    assert bool((result.n_evaluations == 20 * result.n_generations).all())
    assert result.n_generations.dtype == result.n_evaluations.dtype == np.int64


def test_without_an_early_stop_all_generations_run():
    settings = NSGA2Settings(
        population_size=20, n_offspring=20, n_generations=60, stop_improvement=None
    )
    result = nsga2(trade, *task(2), settings, seed=0)
    assert result.ended_by(Stop.GENERATIONS).all()


def test_only_a_feasible_instance_converges():
    """Instance 1 is never feasible; instance 2 is so where x exceeds 0.999, which takes long."""

    def problem(genes, instances):
        answer = trade(genes, instances)
        late = np.maximum(0.999 - genes[..., 0], 0)
        never = np.ones_like(late)
        violation = np.stack([0 * late, never, late])[instances, range(len(instances))]
        return Evaluation(answer.losses, violation)

    result = nsga2(problem, *task(3), SETTINGS, seed=0)
    assert result.stop_codes[:2].tolist() == [Stop.CONVERGED.code, Stop.GENERATIONS.code]
    assert result.n_generations[1] == 60
    assert result.ended_by(Stop.CONVERGED, Stop.CALLER).tolist()[:2] == [True, False]
    assert result.ended_by(Stop.GENERATIONS).tolist()[:2] == [False, True]
    assert bool(result.archive.has_feasible[2])
    assert result.n_generations[2] > 10


def test_the_value_of_a_front_by_hand():
    """With the corners alone the value would be the mean gap to the best of each loss."""
    then = np.array([[[0.0, 1.0], [1.0, 0.0]]], dtype=np.float64)
    now = np.array([[[0.0, 0.0], [math.inf, math.inf]]], dtype=np.float64)
    before, after = front_values(then, now)
    weights = tchebycheff_weights(2)
    assert after.item() == 0.0
    assert before.item() == pytest.approx(float(weights.min(-1).sum()) / N_WEIGHTS)


def test_an_instance_has_converged_if_a_window_brought_less_than_a_percent():
    watch = Convergence(improvement=0.01, window=2)
    fronts = [[[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]], [[0.0, 2.0], [0.8, 0.8], [2.0, 0.0]]]
    said = [watch.check(population(fronts[at])).item() for at in (0, 0, 0, 1, 1, 1)]
    assert said == [False, False, True, False, False, True]


def test_an_instance_that_was_not_feasible_a_window_ago_has_not_converged():
    watch = Convergence(improvement=0.01, window=1)
    front = [[0.0, 2.0], [2.0, 0.0]]
    said = [watch.check(population(front, over)).item() for over in (0.1, 0.1, 0.0, 0.0)]
    assert said == [False, False, False, True]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 20])
def test_the_weights_are_sixteen_points_of_the_simplex(k):
    weights = tchebycheff_weights(k)
    assert weights.shape == (N_WEIGHTS, k)
    assert weights.sum(-1).tolist() == pytest.approx([1.0] * N_WEIGHTS)
    assert k == 1 or len(np.unique(weights, axis=0)) == N_WEIGHTS


@pytest.mark.parametrize(
    ("budget", "sizes"), [(50, [20, 20, 10]), (20, [20]), (7, [7]), (21, [20, 1])]
)
def test_evaluations_are_met_exactly(budget, sizes):
    asked = []

    def problem(genes, instances):
        asked.append(genes.shape[1])
        return trade(genes, instances)

    result = nsga2(problem, *task(2), SETTINGS, seed=0, max_evaluations=budget)
    assert asked == sizes
    assert result.n_evaluations.tolist() == [budget] * 2
    assert result.ended_by(Stop.EVALUATIONS).all()
    assert result.population.genes.shape == (2, 20, 3)


def test_time_runs_out_after_a_generation_and_is_said():
    def slow(genes, instances):
        time.sleep(0.05)
        return trade(genes, instances)

    result = nsga2(slow, *task(2), SETTINGS, seed=0, budget_seconds=0.12)
    assert result.ended_by(Stop.OUT_OF_TIME).all()
    assert result.elapsed_seconds >= 0.12
    assert 1 <= int(result.n_generations[0]) <= 3
    assert bool(result.archive.has_feasible.all())
    none = nsga2(slow, *task(2), SETTINGS, seed=0, budget_seconds=0.0)
    assert none.n_generations.tolist() == [1, 1]


def test_progress_is_told_after_each_generation():
    told = []
    result = nsga2(trade, *task(3), SETTINGS, seed=0, progress=told.append)
    assert [each.generation for each in told] == list(range(1, len(told) + 1))
    assert len(told[0].instances) == told[0].n_instances == 3
    assert told[0].n_generations == 60
    assert len(told[-1].instances) <= 3
    assert np.array_equal(told[-1].best_losses, result.archive.losses)
    assert np.array_equal(told[-1].front_size, result.population.front.sum(-1))
    losses = np.stack([each.best_losses[:, 0] for each in told])
    assert bool((np.diff(losses, axis=0) <= 0).all())


def test_the_caller_can_stop():
    result = nsga2(trade, *task(2), SETTINGS, seed=0, progress=lambda at: at.generation < 4)
    assert result.ended_by(Stop.CALLER).all()
    assert result.n_generations.tolist() == [4, 4]
    assert bool(result.archive.has_feasible.all())


def test_a_callback_that_returns_nothing_does_not_stop():
    result = nsga2(trade, *task(1), SETTINGS, seed=0, progress=lambda at: None)
    assert result.n_generations.item() > 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"population_size": 0}, "population_size is 0; expected a whole number from 1 on"),
        ({"mutation_rate": -1.0}, "mutation_rate is -1.0; expected 0 or more"),
        ({"crossover_probability": 2.0}, "expected 0 to 1"),
        ({"stop_window": 7}, "a multiple of stop_every, which is 5"),
        ({"crowding": "none"}, "expected one of 'deb', 'paper'"),
        ({"mating": "love"}, "expected one of 'tournament', 'random_pairs'"),
    ],
)
def test_wrong_settings_are_said(setting, message):
    with pytest.raises(SearchError, match=message):
        NSGA2Settings(**setting)


def test_the_settings_of_the_paper():
    paper = NSGA2Settings.paper()
    assert (paper.population_size, paper.n_offspring, paper.n_generations) == (200, 50, 100)
    assert (paper.crossover_eta, paper.mutation_eta, paper.crowding) == (3.0, 3.0, "deb")
    assert paper.stop_improvement is None
