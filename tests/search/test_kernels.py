"""Small kernels of the search give what its tensors give, to the last bit."""

import math

import pytest
import torch

from proce.compiled import engine
from proce.search.convergence import front_values
from proce.search.pareto import clean
from proce.search.problem import Evaluation
from proce.search.result import Archive
from proce.search.survival import Candidates


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def both(function, monkeypatch):
    """Return what a function returns with kernels, and without."""
    compiled = function()
    with monkeypatch.context() as patch:
        patch.setattr(engine, "use_kernels", lambda device: False)
        return compiled, function()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_values_of_fronts(k, monkeypatch):
    then, now = drawn(6, 9, k), drawn(6, 12, k, seed=1) * 0.9
    then[1], now[2], now[:, 4:7] = math.inf, math.inf, math.inf
    for ours, theirs in zip(*both(lambda: front_values(then, now), monkeypatch), strict=True):
        assert torch.equal(ours, theirs)


def test_the_best_that_was_ever_found(monkeypatch):
    losses = (drawn(8, 20, 3) * 4).round()  # with ties, of which the first counts
    violation = (drawn(8, 20, seed=1) - 0.5).clamp(min=0)
    violation[3] = 1.0
    candidates = Candidates(drawn(8, 20, 5, seed=2), losses, violation)
    before = Archive(drawn(8, 5, seed=3), (drawn(8, 3, seed=4) * 4).round(), by=2)
    before.losses[:4] = math.inf
    compiled, plain = both(lambda: before.with_better(candidates), monkeypatch)
    assert torch.equal(compiled.genes, plain.genes)
    assert torch.equal(compiled.losses, plain.losses)
    assert torch.isinf(plain.losses[3]).all()


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_put_behind_all_others(odd, monkeypatch):
    evaluation = Evaluation(drawn(2, 4, 3), drawn(2, 4, seed=1))
    compiled, plain = both(lambda: clean(evaluation), monkeypatch)
    assert torch.equal(compiled.losses, plain.losses)
    evaluation.losses[0, 1, 2], evaluation.violation[1, 3] = odd, odd
    compiled, plain = both(lambda: clean(evaluation), monkeypatch)
    assert torch.equal(compiled.losses, plain.losses)
    assert torch.equal(compiled.violation, plain.violation)
    assert torch.isinf(compiled.violation).nonzero().tolist() == [[0, 1], [1, 3]]
