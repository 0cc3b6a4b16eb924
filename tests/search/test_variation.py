"""Children come from their parents, vary as they should, and keep every limit."""

import math

import numpy as np
import pytest

from proce.arrays import Array
from proce.search import GeneKind, Genome, NSGA2Settings, Purpose, RowStreams, genome
from proce.search.genome import offspring, random_pairs

from ..compiled.parts import whole

REAL, GRID, LEVEL = GeneKind
blend, shift = whole(genome._blend), whole(genome._shift)
tournament = whole(genome.tournament)


def mixed_genome(n_instances: int) -> Genome:
    """Return a real, a narrow real, a grid, a level, a missing number, a missing level, a fixed."""
    lower = np.array([0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    upper = np.array([1.0, 0.6, 1.0, 4.0, 1.0, 3.0, 9.0])
    anchor = np.array([0.25, 0.5, 0.3, 2.0, math.nan, -1.0, 7.0])
    return Genome.of(
        *(np.tile(each, (n_instances, 1)) for each in (lower, upper, anchor)),
        kind=np.array([REAL, REAL, GRID, LEVEL, REAL, LEVEL, REAL]),
        step=np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0]),
        snap=np.array([1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        movable=np.array([True] * 6 + [False]),
    )


def parents(genome: Genome, n: int) -> Array:
    generator = np.random.default_rng(0)
    shape = genome.n_instances, n, genome.n_genes
    draw = generator.random(shape)
    some = generator.random(shape) < 0.3
    spread = genome.lower[:, None] + draw * (genome.upper - genome.lower)[:, None]
    return genome.repair(np.where(some, genome.anchor[:, None], spread))


def children_of(genome, n=40, n_offspring=60, generation=2, **settings):
    streams = RowStreams.of(0, np.arange(genome.n_instances))
    chosen = NSGA2Settings(**settings)
    return offspring(parents(genome, n), genome, streams, generation, n_offspring, chosen)


def same(a: Array, b: Array) -> Array:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def blended(low, high, lower, upper, u, eta):
    """Return the children of two parents by bounded simulated binary crossover, as NumPy has it."""

    def factor(room):
        share = u * (2 - room ** -(eta + 1))
        return (share if share <= 1 else 1 / (2 - share)) ** (1 / (eta + 1))

    gap, middle = high - low, low + high
    down, up = factor(1 + 2 * (low - lower) / gap), factor(1 + 2 * (upper - high) / gap)
    return (middle - down * gap) / 2, (middle + up * gap) / 2


@pytest.mark.parametrize("eta", [0.0, 3.0, 15.0])
def test_crossover_by_definition(eta):
    draw = np.random.default_rng(0)
    for _ in range(200):
        lower, low, high, upper = np.sort(draw.random(4))
        u, ample = draw.random(), 2 ** (54 / (eta + 1))
        found = blend(low, high, lower, upper, u, eta, ample)
        assert found == pytest.approx(blended(low, high, lower, upper, u, eta), rel=1e-12)
        assert lower - 1e-12 <= found[0] <= found[1] <= upper + 1e-12


def shifted(value, lower, upper, u, eta):
    """Return a value after polynomial mutation (Deb and Agrawal 1999)."""
    width = upper - lower
    if u < 0.5:
        rest = (1 - (value - lower) / width) ** (eta + 1)
        return value + ((2 * u + (1 - 2 * u) * rest) ** (1 / (eta + 1)) - 1) * width
    rest = (1 - (upper - value) / width) ** (eta + 1)
    return value + (1 - (2 * (1 - u) + 2 * (u - 0.5) * rest) ** (1 / (eta + 1))) * width


@pytest.mark.parametrize("eta", [0.0, 3.0, 20.0])
def test_mutation_by_definition(eta):
    draw = np.random.default_rng(1)
    for _ in range(200):
        lower, value, upper = np.sort(draw.random(3))
        u = draw.random()
        found = shift(value, lower, upper, 0.0, u, eta)
        assert found == pytest.approx(shifted(value, lower, upper, u, eta), rel=1e-12)
        assert abs(shift(value, lower, upper, 0.3, u, eta) - value) >= 0.3 - 1e-12


def slow_children(i, genes, genome, streams, generation, n_offspring, chosen):
    """Return the children of instance ``i``, pair by pair and gene by gene."""
    (n, g), n_pairs = genes.shape[1:], -(-n_offspring // 2)
    own, alone = genome.take(np.array([i])), streams.take(np.array([i]))
    lower, upper, anchor, movable = (
        each[0] for each in (own.lower, own.upper, own.anchor, own.movable)
    )

    def bits(purpose, position):
        return int(alone.bits(generation, purpose, position + 1)[0, position])

    def uniform(word):
        return ((word >> 12) + 0.5) * 2.0**-52

    def better(word, n):
        return min((word >> 32) * n >> 32, (word & (2**32 - 1)) * n >> 32)

    def parents_of(pair):
        if chosen.mating == "random_pairs":
            return random_pairs(alone, generation, n, n_pairs)[0, pair]
        one = better(bits(Purpose.MATING, 2 * pair), n)
        others = [c for c in range(n) if c != one]
        return one, others[better(bits(Purpose.MATING, 2 * pair + 1), n - 1)]

    children = []
    for pair in range(n_pairs):
        both = genes[i, list(parents_of(pair))].copy()
        if uniform(bits(Purpose.CROSSING, pair)) < chosen.crossover_probability:
            for j in range(g):
                word, (low, high) = bits(Purpose.CROSSOVER, pair * g + j), np.sort(both[:, j])
                blends = chosen.crossover == "sbx" and word & 1 and own.kind[j] != LEVEL
                if blends and low < high:
                    u, eta = uniform(word), chosen.crossover_eta
                    both[:, j] = blended(low, high, lower[j], upper[j], u, eta)
                if word & 2:
                    both[:, j] = both[::-1, j].copy()
        children.extend(both)
    chance = chosen.mutation_rate * min(0.5, 1 / movable.sum())
    for c, child in enumerate(children):
        whim = uniform(bits(Purpose.CHANGE, len(children) * g + c))
        for j in range(g):
            word = bits(Purpose.CHANGE, c * g + j)
            if (word >> 32) / 2**32 < chosen.revert_rate * whim**3:
                child[j] = anchor[j]
            elif movable[j] and (word & (2**32 - 1)) / 2**32 < chance:
                u = uniform(bits(Purpose.MUTATION, c * g + j))
                if own.kind[j] == LEVEL:
                    levels = np.arange(lower[j], upper[j] + 1)
                    others = levels[levels != child[j]]
                    child[j] = others[int(u * len(others))]
                elif np.isnan(child[j]):
                    child[j] = lower[j] + u * (upper[j] - lower[j])
                else:
                    moved = shifted(child[j], lower[j], upper[j], u, chosen.mutation_eta)
                    shift = max(abs(moved - child[j]), own.step[j])
                    child[j] += -shift if u < 0.5 else shift
    return own.repair(np.array(children)[None])[0, :n_offspring]


@pytest.mark.parametrize("mating", ["tournament", "random_pairs"])
@pytest.mark.parametrize("crossover", ["sbx", "swap"])
@pytest.mark.parametrize("eta", [0.0, 3.0, 15.0])
def test_children_are_those_of_a_slow_loop(mating, crossover, eta):
    genome, streams = mixed_genome(6), RowStreams.of(0, np.arange(6))
    chosen = NSGA2Settings(
        mating=mating, crossover=crossover, crossover_eta=eta, mutation_eta=eta, mutation_rate=3.0
    )
    genes = parents(genome, 12)
    found = offspring(genes, genome, streams, 2, 15, chosen)
    for i in range(6):
        slow = slow_children(i, genes, genome, streams, 2, 15, chosen)
        np.testing.assert_allclose(found[i], slow, rtol=1e-12, atol=1e-14)


def test_every_child_keeps_every_limit():
    genome = mixed_genome(50)
    for generation in range(2, 8):
        children = children_of(genome, generation=generation, mutation_rate=3.0)
        assert bool(same(genome.repair(children), children).all())
        assert bool((children[..., 6] == 7.0).all())


def test_every_gene_that_may_move_does():
    genome = mixed_genome(50)
    moved = ~same(children_of(genome), genome.anchor[:, None])
    assert moved.any(1).any(0).tolist() == [True] * 6 + [False]


def test_without_crossover_and_mutation_children_are_copies():
    genome = mixed_genome(4)
    children = children_of(genome, crossover_probability=0.0, mutation_rate=0.0, revert_rate=0.0)
    among = same(children[:, :, None], parents(genome, 40)[:, None]).all(-1).any(-1)
    assert bool(among.all())


def test_swapped_genes_are_the_parents():
    genome = mixed_genome(4)
    children = children_of(genome, crossover="swap", mutation_rate=0.0, revert_rate=0.0)
    among = same(children[:, :, None], parents(genome, 40)[:, None])
    assert bool(among.any(2).all())  # each gene is some parent's
    assert not bool(among.all(-1).any(-1).all())  # but not all from the same one


def test_blended_children_keep_the_middle_of_their_parents():
    """Away from the bounds simulated binary crossover moves both parents by the same."""
    genome = Genome.of(np.full((8, 5), -1e9), np.full((8, 5), 1e9), np.full((8, 5), -1e8))
    chosen = NSGA2Settings(mutation_rate=0.0, revert_rate=0.0, mating="random_pairs")
    start = np.random.default_rng(1).random((8, 20, 5))
    streams = RowStreams.of(0, np.arange(8))
    children = offspring(start, genome, streams, 2, 20, chosen)
    pairs = random_pairs(streams, 2, 20, 10)
    mean = np.stack([start[i][pairs[i]] for i in range(8)]).mean(2)
    np.testing.assert_allclose(children.reshape(8, 10, 2, 5).mean(2), mean, rtol=0, atol=1e-6)


def test_how_often_genes_mutate_and_revert():
    """One of D genes mutates; a gene reverts with the chance 0.7 u³, a mean of 0.175."""
    n_genes, n = 10, 400
    low, high = np.zeros((20, n_genes)), np.ones((20, n_genes))
    genome = Genome.of(low, high, np.full((20, n_genes), 0.5))
    start = np.full((20, n, n_genes), 0.3, dtype=np.float64)
    streams = RowStreams.of(0, np.arange(20))
    children = mutated(start, genome, streams)
    assert float((children == 0.5).mean()) == pytest.approx(0.175, abs=0.006)
    changed = (children != 0.3) & (children != 0.5)
    assert float(changed.mean()) == pytest.approx(0.1 * 0.825, abs=0.003)
    single = Genome.of(low[:, :1], high[:, :1], np.full((20, 1), 0.5))
    children = mutated(start[..., :1], single, streams)
    assert float((children == 0.5).mean()) == pytest.approx(0.175, abs=0.02)


@pytest.mark.parametrize("n_genes", [10, 120])
def test_some_children_give_up_most_genes_and_most_hardly_any(n_genes):
    """However many genes there are, the share that reverts is spread alike over the children."""
    low, high = np.zeros((20, n_genes)), np.ones((20, n_genes))
    genome = Genome.of(low, high, np.full((20, n_genes), 0.5))
    start = np.full((20, 400, n_genes), 0.3, dtype=np.float64)
    children = mutated(start, genome, RowStreams.of(0, np.arange(20)))
    share = (children == 0.5).mean(-1)
    assert 0.09 < float((share >= 0.5).mean()) < 0.16  # 0.7 u³ is above half for 0.106
    assert float((share <= 0.1).mean()) > 0.5


def mutated(start, genome, streams):
    alone = NSGA2Settings(crossover_probability=0.0)  # copies of parents that are all alike
    return offspring(start, genome, streams, 2, start.shape[1], alone)


def test_levels_are_reset_to_any_other_level():
    low, high = np.zeros((5, 1)), np.full((5, 1), 4.0)
    genome = Genome.of(low, high, np.zeros((5, 1)), kind=np.array([LEVEL]))
    start = np.full((5, 4000, 1), 2.0, dtype=np.float64)
    streams = RowStreams.of(0, np.arange(5))
    children = mutated(start, genome, streams)
    counts = np.bincount(children.ravel().astype(np.int64), minlength=5) / children.size
    reset = 0.5 * 0.825 / 4  # half mutate, unless they revert to level 0
    assert counts[[1, 3, 4]].tolist() == pytest.approx([reset] * 3, abs=0.01)
    assert counts[2] == pytest.approx(0.5 * 0.825, abs=0.01)


def test_a_coarse_grid_moves_by_a_step_at_least():
    """Polynomial mutation alone would round back three times of four."""
    low, high = np.zeros((5, 1)), np.full((5, 1), 7.0)
    kind, step = np.array([GRID]), np.ones(1)
    genome = Genome.of(low, high, np.full((5, 1), 3.0), kind=kind, step=step)
    start = np.full((5, 1000, 1), 5.0, dtype=np.float64)
    streams = RowStreams.of(0, np.arange(5))
    children = mutated(start, genome, streams)
    stayed = float((children == 5.0).mean())
    assert stayed == pytest.approx(0.5 * 0.825, abs=0.03)


def pairs_of(keys, n, n_pairs):
    streams, pairs = RowStreams.of(0, keys), np.empty((len(keys), n_pairs, 2), np.int64)
    for i in range(len(keys)):
        tournament(genome.Turn(i, streams.states[i], 3), n, pairs)
    return pairs


def test_a_tournament_takes_the_better_of_two_and_never_itself():
    pairs = pairs_of(np.arange(200), 10, 500)
    assert bool((pairs[..., 0] != pairs[..., 1]).all())
    share = np.bincount(pairs[..., 0].ravel(), minlength=10) / pairs[..., 0].size
    expected = [(2 * (10 - at) - 1) / 100 for at in range(10)]
    assert share.tolist() == pytest.approx(expected, abs=0.01)
    assert np.unique(pairs_of(np.arange(3), 1, 2)).tolist() == [0]


def test_random_pairs_use_everyone_before_anyone_twice():
    pairs = random_pairs(RowStreams.of(0, np.arange(7)), 3, 10, 10).reshape(7, -1)
    for half in (pairs[:, :10], pairs[:, 10:]):
        assert np.sort(half, axis=-1).tolist() == [list(range(10))] * 7
    assert len({tuple(row) for row in pairs.tolist()}) == 7
