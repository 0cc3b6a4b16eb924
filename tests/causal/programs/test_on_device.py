"""On a CUDA device what follows from actions is what the kernels of the CPU say."""

import pytest
import torch

pytest.importorskip("triton")

from proce.causal.models import compiled
from proce.causal.programs.gpu.running import ProgramOnDevice

from .random_models import random_model, random_rows

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # of the interpreter: exp is meant


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("with_flags", [True, False])
def test_actions_are_told_apart_alike(seed, with_flags, device):
    scm = random_model(seed, given_share=0.0)
    factual = random_rows(scm.codec, (6,), seed)
    rows = random_rows(scm.codec, (6, 25), seed + 1, missing=0.0)
    changed = torch.rand(rows.shape, generator=torch.Generator().manual_seed(seed)) < 0.4
    rows = torch.where(changed, rows, factual[:, None])
    acting = changed.flip(0) if with_flags else None
    noise = scm.abduct(factual, seed=1)
    expected = compiled.separate(scm.program, scm.outcome, factual, rows, noise, acting)
    there = [None if t is None else t.to(device) for t in (factual, rows, noise, acting)]
    found = ProgramOnDevice.of(scm.program, device).separate(*there)
    for own, other in zip(found, vars(expected).values(), strict=True):
        torch.testing.assert_close(own.cpu(), other, rtol=1e-9, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_propagated_alike(seed, device):
    scm = random_model(seed, given_share=0.0)
    factual = random_rows(scm.codec, (6,), seed)
    rows = random_rows(scm.codec, (6, 5), seed + 1)
    acted_on = torch.rand(rows.shape, generator=torch.Generator().manual_seed(seed)) < 0.3
    noise = scm.abduct(factual, seed=1)
    expected = scm.propagate(rows, noise, acted_on)
    there = (rows.to(device), noise[None].to(device), acted_on.to(device))
    found = ProgramOnDevice.of(scm.program, device).propagate(*there)[0].cpu()
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
