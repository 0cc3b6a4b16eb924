"""Children come from their parents, vary as they should, and keep every limit."""

import math

import pytest
import torch

from proce.compiled import engine
from proce.search import GeneKind, Genome, NSGA2Settings, RowStreams
from proce.search.variation import mutate, offspring, random_pairs, tournament

REAL, GRID, LEVEL = GeneKind


def mixed_genome(n_instances: int) -> Genome:
    """Return a real, a narrow real, a grid, a level, a missing number, a missing level, a fixed."""
    lower = torch.tensor([0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    upper = torch.tensor([1.0, 0.6, 1.0, 4.0, 1.0, 3.0, 9.0])
    anchor = torch.tensor([0.25, 0.5, 0.3, 2.0, math.nan, -1.0, 7.0])
    return Genome.of(
        *(each.double().expand(n_instances, -1) for each in (lower, upper, anchor)),
        kind=torch.tensor([REAL, REAL, GRID, LEVEL, REAL, LEVEL, REAL]),
        step=torch.tensor([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]),
        snap=torch.tensor([1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        movable=torch.tensor([True] * 6 + [False]),
    )


def parents(genome: Genome, n: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    shape = genome.n_instances, n, genome.n_genes
    draw = torch.rand(shape, generator=generator, dtype=torch.float64)
    some = torch.rand(shape, generator=generator) < 0.3
    spread = genome.lower[:, None] + draw * (genome.upper - genome.lower)[:, None]
    return genome.repair(torch.where(some, genome.anchor[:, None], spread))


def children_of(genome, n=40, n_offspring=60, generation=2, **settings):
    streams = RowStreams.of(0, torch.arange(genome.n_instances))
    chosen = NSGA2Settings(**settings)
    return offspring(parents(genome, n), genome, streams, generation, n_offspring, chosen)


def same(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a == b) | (a.isnan() & b.isnan())


@pytest.mark.parametrize("mating", ["tournament", "random_pairs"])
@pytest.mark.parametrize("crossover", ["sbx", "swap"])
@pytest.mark.parametrize("eta", [0.0, 3.0, 15.0])
def test_both_implementations_have_the_same_children(monkeypatch, mating, crossover, eta):
    genome = mixed_genome(30)
    chosen = {"mating": mating, "crossover": crossover, "crossover_eta": eta, "mutation_eta": eta}
    compiled = children_of(genome, **chosen)
    monkeypatch.setattr(engine, "use_kernels", lambda device: False)
    plain = children_of(genome, **chosen)
    torch.testing.assert_close(compiled, plain, rtol=1e-12, atol=1e-14, equal_nan=True)


def test_every_child_keeps_every_limit(engine):
    genome = mixed_genome(50)
    for generation in range(2, 8):
        children = children_of(genome, generation=generation, mutation_rate=3.0)
        assert bool(same(genome.repair(children), children).all())
        assert bool((children[..., 6] == 7.0).all())


def test_every_gene_that_may_move_does(engine):
    genome = mixed_genome(50)
    moved = ~same(children_of(genome), genome.anchor[:, None])
    assert moved.any(1).any(0).tolist() == [True] * 6 + [False]


def test_without_crossover_and_mutation_children_are_copies(engine):
    genome = mixed_genome(4)
    children = children_of(genome, crossover_probability=0.0, mutation_rate=0.0, revert_rate=0.0)
    among = same(children[:, :, None], parents(genome, 40)[:, None]).all(-1).any(-1)
    assert bool(among.all())


def test_swapped_genes_are_the_parents(engine):
    genome = mixed_genome(4)
    children = children_of(genome, crossover="swap", mutation_rate=0.0, revert_rate=0.0)
    among = same(children[:, :, None], parents(genome, 40)[:, None])
    assert bool(among.any(2).all())  # each gene is some parent's
    assert not bool(among.all(-1).any(-1).all())  # but not all from the same one


def test_blended_children_keep_the_middle_of_their_parents(engine):
    """Away from the bounds simulated binary crossover moves both parents by the same."""
    genome = Genome.of(torch.full((8, 5), -1e9), torch.full((8, 5), 1e9), torch.full((8, 5), -1e8))
    chosen = NSGA2Settings(mutation_rate=0.0, revert_rate=0.0, mating="random_pairs")
    start = torch.rand(8, 20, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    streams = RowStreams.of(0, torch.arange(8))
    children = offspring(start, genome, streams, 2, 20, chosen)
    pairs = random_pairs(streams, 2, 20, 10)
    mean = start.gather(1, pairs.flatten(1)[..., None].expand(-1, -1, 5)).view(8, 10, 2, 5).mean(2)
    torch.testing.assert_close(children.view(8, 10, 2, 5).mean(2), mean, rtol=0, atol=1e-6)


def test_how_often_genes_mutate_and_revert(engine):
    """One of D genes mutates; a gene reverts with the chance 0.7 u³, a mean of 0.175."""
    n_genes, n = 10, 400
    low, high = torch.zeros(20, n_genes), torch.ones(20, n_genes)
    genome = Genome.of(low, high, torch.full((20, n_genes), 0.5))
    start = torch.full((20, n, n_genes), 0.3, dtype=torch.float64)
    streams = RowStreams.of(0, torch.arange(20))
    children = mutated_by(engine, start, genome, streams, NSGA2Settings())
    assert float((children == 0.5).double().mean()) == pytest.approx(0.175, abs=0.006)
    changed = (children != 0.3) & (children != 0.5)
    assert float(changed.double().mean()) == pytest.approx(0.1 * 0.825, abs=0.003)
    single = Genome.of(low[:, :1], high[:, :1], torch.full((20, 1), 0.5))
    children = mutated_by(engine, start[..., :1], single, streams, NSGA2Settings())
    assert float((children == 0.5).double().mean()) == pytest.approx(0.175, abs=0.02)


@pytest.mark.parametrize("n_genes", [10, 120])
def test_some_children_give_up_most_genes_and_most_hardly_any(engine, n_genes):
    """However many genes there are, the share that reverts is spread alike over the children."""
    low, high = torch.zeros(20, n_genes), torch.ones(20, n_genes)
    genome = Genome.of(low, high, torch.full((20, n_genes), 0.5))
    start = torch.full((20, 400, n_genes), 0.3, dtype=torch.float64)
    children = mutated_by(
        engine, start, genome, RowStreams.of(0, torch.arange(20)), NSGA2Settings()
    )
    share = (children == 0.5).double().mean(-1)
    assert 0.09 < float((share >= 0.5).double().mean()) < 0.16  # 0.7 u³ is above half for 0.106
    assert float((share <= 0.1).double().mean()) > 0.5


def mutated_by(engine, start, genome, streams, settings):
    if engine == "torch":
        return mutate(start, genome, streams, 2, settings)
    alone = NSGA2Settings(crossover_probability=0.0)  # copies of parents that are all alike
    return offspring(start, genome, streams, 2, start.shape[1], alone)


def test_levels_are_reset_to_any_other_level(engine):
    low, high = torch.zeros(5, 1), torch.full((5, 1), 4.0)
    genome = Genome.of(low, high, torch.zeros(5, 1), kind=torch.tensor([LEVEL]))
    start = torch.full((5, 4000, 1), 2.0, dtype=torch.float64)
    streams = RowStreams.of(0, torch.arange(5))
    children = mutated_by(engine, start, genome, streams, NSGA2Settings())
    counts = torch.bincount(children.flatten().long(), minlength=5).double() / children.numel()
    reset = 0.5 * 0.825 / 4  # half mutate, unless they revert to level 0
    assert counts[[1, 3, 4]].tolist() == pytest.approx([reset] * 3, abs=0.01)
    assert counts[2] == pytest.approx(0.5 * 0.825, abs=0.01)


def test_a_coarse_grid_moves_by_a_step_at_least(engine):
    """Polynomial mutation alone would round back three times of four."""
    low, high = torch.zeros(5, 1), torch.full((5, 1), 7.0)
    kind, step = torch.tensor([GRID]), torch.ones(1)
    genome = Genome.of(low, high, torch.full((5, 1), 3.0), kind=kind, step=step)
    start = torch.full((5, 1000, 1), 5.0, dtype=torch.float64)
    streams = RowStreams.of(0, torch.arange(5))
    children = mutated_by(engine, start, genome, streams, NSGA2Settings())
    stayed = float((children == 5.0).double().mean())
    assert stayed == pytest.approx(0.5 * 0.825, abs=0.03)


def test_a_tournament_takes_the_better_of_two_and_never_itself():
    pairs = tournament(RowStreams.of(0, torch.arange(200)), 3, 10, 500)
    assert bool((pairs[..., 0] != pairs[..., 1]).all())
    share = torch.bincount(pairs[..., 0].flatten(), minlength=10).double() / pairs[..., 0].numel()
    expected = [(2 * (10 - at) - 1) / 100 for at in range(10)]
    assert share.tolist() == pytest.approx(expected, abs=0.01)
    assert tournament(RowStreams.of(0, torch.arange(3)), 3, 1, 2).unique().tolist() == [0]


def test_random_pairs_use_everyone_before_anyone_twice():
    pairs = random_pairs(RowStreams.of(0, torch.arange(7)), 3, 10, 10).flatten(1)
    for half in (pairs[:, :10], pairs[:, 10:]):
        assert half.sort(-1).values.tolist() == [list(range(10))] * 7
    assert len({tuple(row) for row in pairs.tolist()}) == 7
