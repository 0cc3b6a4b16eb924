"""What a search promises, whatever it minimises."""

import math

import numpy as np
import pytest

from proce.errors import SearchError
from proce.search import (
    Evaluation,
    GeneKind,
    Genome,
    NSGA2Settings,
    Purpose,
    RowStreams,
    Stop,
    nsga2,
)

N_GENES = 6
SMALL = NSGA2Settings(population_size=20, n_offspring=20, n_generations=12, stop_improvement=None)


def bowls(genes, instances):
    """Three losses and a constraint, gene by gene, so that no sum depends on the batch."""
    shift = instances.astype(np.float64)[:, None] / 10
    far = near = np.zeros_like(genes[..., 0])
    for position, gene in enumerate(np.moveaxis(genes, -1, 0)):
        far = far + (gene - 0.9) ** 2 * (1 + position)
        near = near + np.abs(gene - 0.1 - 0.05 * shift)
    return Evaluation(np.stack([far, near, (far - near) ** 2], -1), 1.0 + shift - far)


def task(n_instances, n=20, movable=None):
    low, high = np.zeros((n_instances, N_GENES)), np.ones((n_instances, N_GENES))
    kind = np.array([GeneKind.REAL] * 4 + [GeneKind.GRID, GeneKind.LEVEL])
    step = np.array([0.0] * 4 + [0.125, 0.0])
    anchor = np.tile([0.2, 0.3, 0.5, 0.7, 0.375, 1.0], (n_instances, 1))
    genome = Genome.of(low, high, anchor, kind=kind, step=step, movable=movable)
    draw = RowStreams.of(9, np.arange(n_instances)).uniforms(1, Purpose.START, n * N_GENES)
    return genome, draw.reshape(n_instances, n, N_GENES)


class Recorder:
    """Keeps all that a problem was asked and answered."""

    def __init__(self, problem=bowls):
        self.problem, self.asked, self.answered = problem, [], []

    def __call__(self, genes, instances):
        answer = self.problem(genes, instances)
        self.asked.append((genes.copy(), instances.copy()))
        self.answered.append(answer)
        return answer


def test_the_population_leaves_sorted_and_its_front_undominated():
    result = nsga2(bowls, *task(3), SMALL, seed=0)
    losses, front = result.population.losses, result.population.front
    assert bool((np.diff(result.population.rank, axis=1) >= 0).all())
    for row in range(3):
        members = losses[row][front[row]]
        assert len(members) > 1
        below = (members[:, None] <= members).all(-1) & (members[:, None] < members).any(-1)
        assert not bool(below.any())
    assert result.n_generations.tolist() == [12] * 3
    assert result.n_evaluations.tolist() == [240] * 3
    assert result.ended_by(Stop.GENERATIONS).all()


def test_it_gets_better():
    genome, initial = task(4)
    result = nsga2(bowls, genome, initial, SMALL, seed=0)
    first = bowls(genome.repair(initial), np.arange(4))
    before = np.where(first.violation <= 0, first.losses[..., 0], math.inf).min(1)
    assert bool((result.archive.losses[:, 0] < before).all())


@pytest.mark.parametrize("by", [0, 1, 2])
def test_the_archive_is_never_worse_than_a_feasible_row_evaluated(by):
    problem = Recorder()
    settings = NSGA2Settings(population_size=6, n_offspring=30, crowding="paper")
    result = nsga2(problem, *task(3), settings, seed=1, archive_by=by)
    for row in range(3):
        seen, archived = [], []
        for (genes, instances), answer in zip(problem.asked, problem.answered, strict=True):
            position = np.flatnonzero(instances == row)
            good = (answer.violation <= 0)[position]
            seen.append(answer.losses[position][good][:, by])
            same = (genes[position] == result.archive.genes[row]).all(-1)
            archived.append(answer.losses[position][same])
        assert result.archive.losses[row, by] == np.concatenate(seen).min()
        assert len(np.concatenate(archived))
        assert bool((np.concatenate(archived) == result.archive.losses[row]).all())


def test_where_nothing_is_feasible_the_first_row_is_the_nearest_miss():
    problem = Recorder(lambda g, i: Evaluation(bowls(g, i).losses, 1 + g[..., 0]))
    result = nsga2(problem, *task(2), SMALL, seed=0)
    assert result.archive.has_feasible.tolist() == [False, False]
    assert bool(np.isinf(result.archive.losses).all())
    least = np.stack([answer.violation for answer in problem.answered]).min((0, 2))
    assert np.array_equal(result.population.violation[:, 0], least)
    assert not bool(result.population.front.any())


def test_immovable_genes_never_move_and_bounds_hold():
    movable = np.array([True, False, True, True, False, True])
    genome, initial = task(5, movable=movable)
    problem = Recorder()
    nsga2(problem, genome, initial, SMALL, seed=0)
    for genes, instances in problem.asked:
        part = genome.take(instances)
        assert np.array_equal(part.repair(genes), genes)
        assert bool((genes == part.anchor[:, None])[..., ~movable].all())


def test_where_nothing_may_move_the_anchor_comes_back():
    result = nsga2(bowls, *task(2, movable=np.zeros(N_GENES, dtype=np.bool_)), SMALL, seed=0)
    genome, _ = task(2)
    assert np.array_equal(result.population.genes[:, 0], genome.anchor)
    assert bool(np.isinf(result.population.violation[:, 1:]).all())  # copies
    assert result.ended_by(Stop.NOTHING_MOVES).all()
    assert result.n_generations.tolist() == [1, 1]


@pytest.mark.parametrize(("n", "n_offspring"), [(20, 7), (7, 20), (1, 1), (2, 3), (30, 30)])
def test_sizes_need_not_agree(n, n_offspring):
    settings = NSGA2Settings(population_size=n, n_offspring=n_offspring, n_generations=8)
    problem = Recorder()
    result = nsga2(problem, *task(2), settings, seed=0)
    assert result.population.genes.shape == (2, n, N_GENES)
    assert problem.asked[1][0].shape == (2, n_offspring, N_GENES)


def test_a_start_smaller_than_the_population_is_filled_up():
    genome, initial = task(2, n=3)
    result = nsga2(bowls, genome, initial, SMALL, seed=0)
    assert bool(np.isfinite(result.population.losses).all())
    one = nsga2(bowls, genome, initial, NSGA2Settings(n_generations=1), seed=0)
    assert np.isfinite(one.population.violation).sum(1).tolist() == [3, 3]


def test_a_single_candidate_is_start_enough():
    result = nsga2(bowls, *task(2, n=1), SMALL, seed=0)
    assert bool(np.isfinite(result.population.losses).all())
    assert result.n_evaluations.tolist() == [1 + 11 * 20] * 2


@pytest.mark.parametrize("n_objectives", [1, 2, 5])
def test_any_number_of_losses_and_a_single_gene(n_objectives):
    def problem(genes, instances):
        losses = [(genes[..., 0] - number / 4) ** 2 for number in range(n_objectives)]
        return Evaluation(np.stack(losses, -1), np.zeros_like(genes[..., 0]))

    one = np.ones((1, 1))
    genome = Genome.of(0 * one, one, 0.8 * one)
    start = np.linspace(0, 1, 20).reshape(1, 20, 1)
    result = nsga2(problem, genome, start, SMALL, seed=0)
    assert result.archive.genes.item() == pytest.approx(0.0, abs=1e-3)
    inside = result.population.genes[result.population.front]
    assert float(inside.max()) <= (n_objectives - 1) / 4 + 0.02


def test_losses_that_are_no_numbers_lose_to_all_others():
    def problem(genes, instances):
        answer = bowls(genes, instances)
        bad = genes[..., :1] > 0.5
        return Evaluation(np.where(bad, math.nan, answer.losses), answer.violation)

    result = nsga2(problem, *task(2), SMALL, seed=0)
    assert bool((result.population.genes[..., 0] <= 0.5).all())
    assert bool((result.archive.genes[:, 0] <= 0.5).all())


def test_an_exception_names_its_generation():
    def problem(genes, instances):
        if len(calls) == 3:
            raise KeyError("no such model")
        calls.append(1)
        return bowls(genes, instances)

    calls = []
    with pytest.raises(KeyError) as caught:
        nsga2(problem, *task(1), SMALL, seed=0)
    assert caught.value.__notes__ == ["raised while generation 4 of the search was evaluated"]


def test_wrong_shapes_are_said():
    genome, initial = task(2)
    with pytest.raises(SearchError, match=r"expected \(2, candidates, 6\)"):
        nsga2(bowls, genome, initial[:1], SMALL, seed=0)
    with pytest.raises(SearchError, match="max_evaluations is 0"):
        nsga2(bowls, genome, initial, SMALL, seed=0, max_evaluations=0)
    with pytest.raises(SearchError, match=r"generation 1: .* expected \(2, 20, objectives\)"):
        nsga2(lambda g, i: Evaluation(g[..., 0], g[..., 0]), genome, initial, SMALL, seed=0)


def test_neither_start_nor_genome_is_written():
    genome, initial = task(2)
    before, anchor = initial.copy(), genome.anchor.copy()
    nsga2(bowls, genome, initial, SMALL, seed=0)
    assert np.array_equal(initial, before)
    assert np.array_equal(genome.anchor, anchor)
