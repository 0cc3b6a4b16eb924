"""A row's result does not depend on its batch, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proce.search import Evaluation, GeneKind, Genome, NSGA2Settings, RowStreams, nsga2

N_GENES = 5
SETTINGS = NSGA2Settings(population_size=16, n_offspring=16, n_generations=40, stop_improvement=0.1)
KEYS = np.array([3, 14, 15, 92, 65, 35, 89])


def task(keys):
    """Return the genome and the start of rows that are told apart by their keys alone."""
    streams = RowStreams.of(7, keys)
    anchor = streams.uniforms(0, 6, N_GENES)
    anchor[:, 4] = np.floor(anchor[:, 4] * 4)
    upper = np.ones_like(anchor)
    upper[:, 4] = 3.0
    kind = np.array([GeneKind.REAL] * 4 + [GeneKind.LEVEL])
    movable = streams.uniforms(1, 6, N_GENES) < 0.9
    genome = Genome.of(np.zeros_like(anchor), upper, anchor, kind=kind, movable=movable)
    start = streams.uniforms(2, 6, 16 * N_GENES).reshape(-1, 16, N_GENES)
    return genome, start * upper[:, None]


def problem_of(keys):
    """Return losses by gene and key; rows converge at different times, row 92 is never feasible."""

    def problem(genes, instances):
        key = keys[instances].astype(np.float64)[:, None] / 100
        a, b, c, d, level = np.moveaxis(genes, -1, 0)
        first = np.abs(a - key) + np.square(b - 0.5) * key + np.abs(level - 1)
        second = np.square(1 - a) + np.abs(c - key) + 0.1 * d
        third = np.abs(a - 0.3) + np.abs(b - 0.2) + np.square(c * d)
        violation = np.where(key == 0.92, 1.0, 0.4 - b)
        return Evaluation(np.stack([first, second, third], -1), violation)

    return problem


def searched(keys, chosen=SETTINGS):
    return nsga2(problem_of(keys), *task(keys), chosen, seed=1, keys=keys)


def assert_same_row(one, i, other, j):
    for name in ("genes", "losses", "violation", "rank"):
        assert np.array_equal(getattr(one.population, name)[i], getattr(other.population, name)[j])
    assert np.array_equal(one.archive.genes[i], other.archive.genes[j])
    assert np.array_equal(one.archive.losses[i], other.archive.losses[j])
    assert one.n_generations[i] == other.n_generations[j]
    assert one.stop_codes[i] == other.stop_codes[j]


def test_rows_end_at_different_times():
    """Otherwise nothing below would see a row leave the batch."""
    assert len(np.unique(searched(KEYS).n_generations)) > 2


@pytest.mark.parametrize("crowding", ["deb", "paper"])
@pytest.mark.parametrize("mating", ["tournament", "random_pairs"])
def test_alone_as_in_a_batch(crowding, mating):
    chosen = replace(SETTINGS, crowding=crowding, mating=mating)
    together = searched(KEYS, chosen)
    for row, key in enumerate(KEYS):
        assert_same_row(together, row, searched(key[None], chosen), 0)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(len(KEYS))), st.integers(1, len(KEYS)))
def test_in_any_order_and_any_part(order, n):
    rows = list(order[:n])
    together, part = searched(KEYS), searched(KEYS[rows])
    for at, row in enumerate(rows):
        assert_same_row(together, row, part, at)


def test_without_others_leaving_the_batch():
    """Rows that stop early hold what they would hold if the others had stopped with them."""
    whole = searched(KEYS)
    for row in range(len(KEYS)):
        length = int(whole.n_generations[row])
        same = searched(KEYS, replace(SETTINGS, n_generations=length, stop_improvement=None))
        assert np.array_equal(whole.population.genes[row], same.population.genes[row])
        assert np.array_equal(whole.archive.genes[row], same.archive.genes[row])


def test_another_seed_is_another_search():
    genome, start = task(KEYS)
    one = nsga2(problem_of(KEYS), genome, start, SETTINGS, seed=1, keys=KEYS)
    again = nsga2(problem_of(KEYS), genome, start, SETTINGS, seed=1, keys=KEYS)
    other = nsga2(problem_of(KEYS), genome, start, SETTINGS, seed=2, keys=KEYS)
    assert np.array_equal(one.population.genes, again.population.genes)
    assert not np.array_equal(one.population.genes, other.population.genes)
