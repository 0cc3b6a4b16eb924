"""On a CUDA device the same candidates survive as by the tensors of the CPU."""

import pytest
import torch

pytest.importorskip("triton")

from proce.search.gpu.survival import choose
from proce.search.survival import _survive


def random_pool(seed: int, m: int, device: torch.device) -> tuple[torch.Tensor, ...]:
    """Return a pool with ties, copies, infeasible and failed candidates."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((4, m, 5), (4, m, 3), (4, m))
    genes, losses, violation = (torch.rand(s, generator=generator).double() for s in shapes)
    if seed % 2:
        losses = losses.round(decimals=1)
    violation = (violation - 0.5).clamp(min=0).round(decimals=1)
    genes[:, 5] = genes[:, 2]
    losses[0, 1], violation[0, 1] = torch.inf, torch.inf
    violation[1] += 0.1  # nothing is feasible
    return genes.to(device), losses.to(device), violation.to(device)


@pytest.mark.parametrize(("seed", "m"), [(0, 7), (1, 33), (2, 64), (3, 100)])
def test_the_same_candidates_survive_as_by_tensors(seed, m, device):
    genes, losses, violation = random_pool(seed, m, device)
    size = m // 2
    expected = _survive(genes.cpu(), losses.cpu(), violation.cpu(), size, "deb")
    chosen, ranks = choose(genes, losses, violation, size)
    own = genes.gather(1, chosen[..., None].expand(-1, -1, genes.shape[2]))
    assert torch.equal(own.cpu(), expected.genes)
    assert torch.equal(ranks.gather(1, chosen).cpu(), expected.rank)
    assert torch.equal(violation.gather(1, chosen).cpu(), expected.violation)
