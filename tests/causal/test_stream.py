"""Random numbers that belong to a row."""

import torch

from proce.causal.stream import row_uniforms


def test_a_row_gets_the_same_draws_in_any_batch() -> None:
    keys = torch.arange(1000)
    together = row_uniforms(7, keys, 5)
    backwards = row_uniforms(7, keys.flip(0), 5).flip(0)
    alone = torch.cat([row_uniforms(7, keys[k : k + 1], 5) for k in range(20)])
    assert torch.equal(together, backwards)
    assert torch.equal(together[:20], alone)
    assert torch.equal(together[:, :3], row_uniforms(7, keys, 3))


def test_seeds_keys_and_columns_give_other_draws() -> None:
    draws = torch.stack([row_uniforms(seed, torch.arange(50), 4) for seed in range(5)])
    assert len(draws.unique()) == draws.numel()


def test_the_draws_are_uniform_and_uncorrelated() -> None:
    draws = row_uniforms(0, torch.arange(200_000), 2)
    assert 0 < draws.min() < draws.max() < 1
    assert abs(draws.mean() - 0.5) < 0.002  # three standard errors
    assert abs(draws.var() - 1 / 12) < 0.001
    columns = torch.corrcoef(torch.stack([draws[:-1, 0], draws[:-1, 1], draws[1:, 0]]))
    assert (columns - torch.eye(3)).abs().max() < 0.01


def test_a_negative_key_or_a_large_seed_is_a_key_or_a_seed() -> None:
    assert row_uniforms(2**70 + 3, torch.tensor([-5]), 2).shape == (1, 2)
