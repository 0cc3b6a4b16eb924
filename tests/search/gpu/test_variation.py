"""On a CUDA device children are those of the CPU, but for rounding."""

import pytest
import torch

pytest.importorskip("triton")

from proce.compiled import engine
from proce.search.genome import Genome
from proce.search.gpu.variation import breed
from proce.search.settings import NSGA2Settings
from proce.search.variation import offspring
from proce.streams import RowStreams

SETTINGS = (NSGA2Settings(), NSGA2Settings.paper(), NSGA2Settings(crossover="swap"))


@pytest.mark.filterwarnings("ignore:divide by zero")  # of the interpreter: log 0 is meant
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("n_offspring", [10, 7])
def test_children_are_those_of_the_tensors(settings, n_offspring, device, monkeypatch):
    monkeypatch.setattr(engine, "use_kernels", lambda device: False)
    generator = torch.Generator().manual_seed(0)
    upper = torch.tensor([1.0, 1.0, 4.0, 3.0, 1.0, 1.0]).double().expand(3, -1)
    anchor = torch.rand(3, 6, generator=generator).double() * upper
    anchor[:, 2:4] = anchor[:, 2:4].floor()
    anchor[:, 5] = torch.nan  # missing
    movable = torch.ones(3, 6, dtype=torch.bool)
    movable[0, 0] = False
    genome = Genome.of(
        torch.zeros_like(upper),
        upper,
        anchor,
        movable=movable,
        kind=torch.tensor([0, 1, 2, 2, 0, 0]),
        step=torch.tensor([0, 0.05, 1, 1, 0, 0]),
        snap=torch.full((6,), 1e-3),
    )
    genes = genome.repair(torch.rand(3, 20, 6, generator=generator).double() * 1.2 * upper[:, None])
    streams = RowStreams.of(3, torch.arange(3))
    expected = offspring(genes, genome, streams, 5, n_offspring, settings)
    there = Genome(*(getattr(genome, name).to(device) for name in genome.__dataclass_fields__))
    own = RowStreams(streams.states.to(device))
    children = breed(genes.to(device), there, own, 5, n_offspring, settings).cpu()
    assert torch.equal(children.isnan(), expected.isnan())
    assert torch.allclose(children, expected, atol=1e-12, equal_nan=True)
