"""What a search promises, whatever it minimises."""

import math

import pytest
import torch

from proce.search import (
    Evaluation,
    GeneKind,
    Genome,
    NSGA2Settings,
    Purpose,
    RowStreams,
    SearchError,
    Stop,
    nsga2,
)

N_GENES = 6
SMALL = NSGA2Settings(population_size=20, n_offspring=20, n_generations=12, stop_improvement=None)


def bowls(genes, instances):
    """Three losses and a constraint, gene by gene, so that no sum depends on the batch."""
    shift = instances.double()[:, None] / 10
    far = near = torch.zeros_like(genes[..., 0])
    for position, gene in enumerate(genes.unbind(-1)):
        far = far + (gene - 0.9).square() * (1 + position)
        near = near + (gene - 0.1 - 0.05 * shift).abs()
    return Evaluation(torch.stack([far, near, (far - near).square()], -1), 1.0 + shift - far)


def task(n_instances, n=20, movable=None):
    low, high = torch.zeros(n_instances, N_GENES), torch.ones(n_instances, N_GENES)
    kind = torch.tensor([GeneKind.REAL] * 4 + [GeneKind.GRID, GeneKind.LEVEL])
    step = torch.tensor([0.0] * 4 + [0.125, 0.0])
    anchor = torch.tensor([0.2, 0.3, 0.5, 0.7, 0.375, 1.0]).expand(n_instances, -1)
    genome = Genome.of(low, high, anchor, kind=kind, step=step, movable=movable)
    draw = RowStreams.of(9, torch.arange(n_instances)).uniforms(1, Purpose.START, n * N_GENES)
    return genome, draw.view(n_instances, n, N_GENES)


class Recorder:
    """Keeps all that a problem was asked and answered."""

    def __init__(self, problem=bowls):
        self.problem, self.asked, self.answered = problem, [], []

    def __call__(self, genes, instances):
        answer = self.problem(genes, instances)
        self.asked.append((genes.clone(), instances.clone()))
        self.answered.append(answer)
        return answer


def test_the_population_leaves_sorted_and_its_front_undominated(engine):
    result = nsga2(bowls, *task(3), SMALL, seed=0)
    losses, front = result.population.losses, result.population.front
    assert bool((result.population.rank.diff(dim=1) >= 0).all())
    for row in range(3):
        members = losses[row][front[row]]
        assert len(members) > 1
        below = (members[:, None] <= members).all(-1) & (members[:, None] < members).any(-1)
        assert not bool(below.any())
    assert result.n_generations.tolist() == [12] * 3
    assert result.n_evaluations.tolist() == [240] * 3
    assert result.stopped == (Stop.GENERATIONS,) * 3


def test_it_gets_better(engine):
    genome, initial = task(4)
    result = nsga2(bowls, genome, initial, SMALL, seed=0)
    first = bowls(genome.repair(initial), torch.arange(4))
    before = first.losses[..., 0].where(first.violation <= 0, math.inf).amin(1)
    assert bool((result.archive.losses[:, 0] < before).all())


@pytest.mark.parametrize("by", [0, 1, 2])
def test_the_archive_is_never_worse_than_a_feasible_row_evaluated(engine, by):
    problem = Recorder()
    settings = NSGA2Settings(population_size=6, n_offspring=30, crowding="paper")
    result = nsga2(problem, *task(3), settings, seed=1, archive_by=by)
    for row in range(3):
        seen, archived = [], []
        for (genes, instances), answer in zip(problem.asked, problem.answered, strict=True):
            position = (instances == row).nonzero().flatten()
            good = (answer.violation <= 0)[position]
            seen.append(answer.losses[position][good][:, by])
            same = (genes[position] == result.archive.genes[row]).all(-1)
            archived.append(answer.losses[position][same])
        assert result.archive.losses[row, by] == torch.cat(seen).min()
        assert len(torch.cat(archived))
        assert bool((torch.cat(archived) == result.archive.losses[row]).all())


def test_where_nothing_is_feasible_the_first_row_is_the_nearest_miss(engine):
    problem = Recorder(lambda g, i: Evaluation(bowls(g, i).losses, 1 + g[..., 0]))
    result = nsga2(problem, *task(2), SMALL, seed=0)
    assert result.archive.has_feasible.tolist() == [False, False]
    assert bool(torch.isinf(result.archive.losses).all())
    least = torch.stack([answer.violation for answer in problem.answered]).amin((0, 2))
    assert torch.equal(result.population.violation[:, 0], least)
    assert not bool(result.population.front.any())


def test_immovable_genes_never_move_and_bounds_hold(engine):
    movable = torch.tensor([True, False, True, True, False, True])
    genome, initial = task(5, movable=movable)
    problem = Recorder()
    nsga2(problem, genome, initial, SMALL, seed=0)
    for genes, instances in problem.asked:
        part = genome.take(instances)
        assert torch.equal(part.repair(genes), genes)
        assert bool((genes == part.anchor[:, None])[..., ~movable].all())


def test_where_nothing_may_move_the_anchor_comes_back(engine):
    result = nsga2(bowls, *task(2, movable=torch.zeros(N_GENES, dtype=torch.bool)), SMALL, seed=0)
    genome, _ = task(2)
    assert torch.equal(result.population.genes[:, 0], genome.anchor)
    assert bool(torch.isinf(result.population.violation[:, 1:]).all())  # copies
    assert result.stopped == (Stop.NOTHING_MOVES,) * 2
    assert result.n_generations.tolist() == [1, 1]


@pytest.mark.parametrize(("n", "n_offspring"), [(20, 7), (7, 20), (1, 1), (2, 3), (30, 30)])
def test_sizes_need_not_agree(engine, n, n_offspring):
    settings = NSGA2Settings(population_size=n, n_offspring=n_offspring, n_generations=8)
    problem = Recorder()
    result = nsga2(problem, *task(2), settings, seed=0)
    assert result.population.genes.shape == (2, n, N_GENES)
    assert problem.asked[1][0].shape == (2, n_offspring, N_GENES)


def test_a_start_smaller_than_the_population_is_filled_up(engine):
    genome, initial = task(2, n=3)
    result = nsga2(bowls, genome, initial, SMALL, seed=0)
    assert bool(torch.isfinite(result.population.losses).all())
    one = nsga2(bowls, genome, initial, NSGA2Settings(n_generations=1), seed=0)
    assert torch.isfinite(one.population.violation).sum(1).tolist() == [3, 3]


def test_a_single_candidate_is_start_enough(engine):
    result = nsga2(bowls, *task(2, n=1), SMALL, seed=0)
    assert bool(torch.isfinite(result.population.losses).all())
    assert result.n_evaluations.tolist() == [1 + 11 * 20] * 2


@pytest.mark.parametrize("n_objectives", [1, 2, 5])
def test_any_number_of_losses_and_a_single_gene(engine, n_objectives):
    def problem(genes, instances):
        losses = [(genes[..., 0] - number / 4).square() for number in range(n_objectives)]
        return Evaluation(torch.stack(losses, -1), torch.zeros_like(genes[..., 0]))

    one = torch.ones(1, 1)
    genome = Genome.of(0 * one, one, 0.8 * one)
    start = torch.linspace(0, 1, 20, dtype=torch.float64).view(1, 20, 1)
    result = nsga2(problem, genome, start, SMALL, seed=0)
    assert result.archive.genes.item() == pytest.approx(0.0, abs=1e-3)
    inside = result.population.genes[result.population.front]
    assert float(inside.max()) <= (n_objectives - 1) / 4 + 0.02


def test_losses_that_are_no_numbers_lose_to_all_others(engine):
    def problem(genes, instances):
        answer = bowls(genes, instances)
        bad = genes[..., :1] > 0.5
        return Evaluation(answer.losses.where(~bad, math.nan), answer.violation)

    result = nsga2(problem, *task(2), SMALL, seed=0)
    assert bool((result.population.genes[..., 0] <= 0.5).all())
    assert bool((result.archive.genes[:, 0] <= 0.5).all())


def test_an_exception_names_its_generation(engine):
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


def test_neither_start_nor_genome_is_written(engine):
    genome, initial = task(2)
    before, anchor = initial.clone(), genome.anchor.clone()
    nsga2(bowls, genome, initial, SMALL, seed=0)
    assert torch.equal(initial, before)
    assert torch.equal(genome.anchor, anchor)
