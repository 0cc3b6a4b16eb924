"""A row's result does not depend on its batch, bit for bit."""

from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proce.search import Evaluation, GeneKind, Genome, NSGA2Settings, RowStreams, nsga2

N_GENES = 5
SETTINGS = NSGA2Settings(population_size=16, n_offspring=16, n_generations=40, stop_improvement=0.1)
KEYS = torch.tensor([3, 14, 15, 92, 65, 35, 89])


def task(keys):
    """Return the genome and the start of rows that are told apart by their keys alone."""
    streams = RowStreams.of(7, keys)
    anchor = streams.uniforms(0, 6, N_GENES)
    anchor[:, 4] = (anchor[:, 4] * 4).floor()
    upper = torch.ones_like(anchor)
    upper[:, 4] = 3.0
    kind = torch.tensor([GeneKind.REAL] * 4 + [GeneKind.LEVEL])
    movable = streams.uniforms(1, 6, N_GENES) < 0.9
    genome = Genome.of(torch.zeros_like(anchor), upper, anchor, kind=kind, movable=movable)
    start = streams.uniforms(2, 6, 16 * N_GENES).view(-1, 16, N_GENES)
    return genome, start * upper[:, None]


def problem_of(keys):
    """Return losses by gene and key; rows converge at different times, row 92 is never feasible."""

    def problem(genes, instances):
        key = keys[instances].double()[:, None] / 100
        a, b, c, d, level = genes.unbind(-1)
        first = (a - key).abs() + (b - 0.5).square() * key + (level - 1).abs()
        second = (1 - a).square() + (c - key).abs() + 0.1 * d
        third = (a - 0.3).abs() + (b - 0.2).abs() + (c * d).square()
        violation = torch.where(key == 0.92, 1.0, 0.4 - b)
        return Evaluation(torch.stack([first, second, third], -1), violation)

    return problem


def searched(keys, chosen=SETTINGS):
    return nsga2(problem_of(keys), *task(keys), chosen, seed=1, keys=keys)


def assert_same_row(one, i, other, j):
    for name in ("genes", "losses", "violation", "rank"):
        assert torch.equal(getattr(one.population, name)[i], getattr(other.population, name)[j])
    assert torch.equal(one.archive.genes[i], other.archive.genes[j])
    assert torch.equal(one.archive.losses[i], other.archive.losses[j])
    assert one.n_generations[i] == other.n_generations[j]
    assert one.stopped[i] == other.stopped[j]


def test_rows_end_at_different_times(engine):
    """Otherwise nothing below would see a row leave the batch."""
    assert len(searched(KEYS).n_generations.unique()) > 2


@pytest.mark.parametrize("crowding", ["deb", "paper"])
@pytest.mark.parametrize("mating", ["tournament", "random_pairs"])
def test_alone_as_in_a_batch(engine, crowding, mating):
    chosen = replace(SETTINGS, crowding=crowding, mating=mating)
    together = searched(KEYS, chosen)
    for row, key in enumerate(KEYS):
        assert_same_row(together, row, searched(key[None], chosen), 0)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(range(len(KEYS))), st.integers(1, len(KEYS)))
def test_in_any_order_and_any_part(engine, order, n):
    rows = order[:n]
    together, part = searched(KEYS), searched(KEYS[rows])
    for at, row in enumerate(rows):
        assert_same_row(together, row, part, at)


def test_without_others_leaving_the_batch(engine):
    """Rows that stop early hold what they would hold if the others had stopped with them."""
    whole = searched(KEYS)
    for row in range(len(KEYS)):
        length = int(whole.n_generations[row])
        same = searched(KEYS, replace(SETTINGS, n_generations=length, stop_improvement=None))
        assert torch.equal(whole.population.genes[row], same.population.genes[row])
        assert torch.equal(whole.archive.genes[row], same.archive.genes[row])


def test_another_seed_is_another_search(engine):
    genome, start = task(KEYS)
    one = nsga2(problem_of(KEYS), genome, start, SETTINGS, seed=1, keys=KEYS)
    again = nsga2(problem_of(KEYS), genome, start, SETTINGS, seed=1, keys=KEYS)
    other = nsga2(problem_of(KEYS), genome, start, SETTINGS, seed=2, keys=KEYS)
    assert torch.equal(one.population.genes, again.population.genes)
    assert not torch.equal(one.population.genes, other.population.genes)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_cuda_device_as_on_the_cpu():
    """The device rounds powers in its own way, so the outcome is compared and not the bits."""
    genome, start = task(KEYS)
    device = torch.device("cuda")
    names = ("lower", "upper", "anchor", "movable", "kind", "origin", "step", "snap")
    there = Genome(*(getattr(genome, name).to(device) for name in names))
    found = nsga2(problem_of(KEYS.to(device)), there, start, SETTINGS, seed=1, keys=KEYS)
    here = searched(KEYS)
    assert found.population.genes.device.type == "cuda"
    assert found.archive.has_feasible.tolist() == here.archive.has_feasible.tolist()
    best = found.archive.losses[found.archive.has_feasible].cpu()
    torch.testing.assert_close(
        best[:, 0], here.archive.losses[here.archive.has_feasible][:, 0], atol=0.1, rtol=0
    )
