"""Kernels and tensors say the same of how far effects are from what their causes lead to."""

from unittest.mock import patch

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.objective.distance import causal_gap

from ..causal.programs.random_models import random_model, random_rows


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**20), st.sampled_from([0.0, 0.3, 1.0]))
def test_gaps_are_the_same_to_1e9(seed: int, given_share: float) -> None:
    scm = random_model(seed, given_share=given_share)
    factual = random_rows(scm.codec, (5,), seed)
    rows = random_rows(scm.codec, (5, 40), seed + 1, missing=0.02)
    kept = torch.rand(rows.shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    rows = torch.where(kept, factual[:, None], rows)
    noise = scm.abduct(factual, seed=1)
    found = causal_gap(rows, factual, noise, scm)
    with patch("proce.causal.models.compiled.use_kernels", return_value=False):
        expected = causal_gap(rows, factual, noise, scm)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
