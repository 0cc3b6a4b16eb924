"""The normal distribution of the kernels is that of SciPy."""

import numpy as np
import pytest
from scipy import special

from proce.causal.programs.normal import share_below, value_above


def test_shares_below_values() -> None:
    values = np.concatenate([np.linspace(-37, 37, 741), [0.7, -1e-9, np.inf, -np.inf]])
    expected = special.ndtr(values)
    assert [share_below(value) for value in values] == pytest.approx(expected, rel=1e-12, abs=0)


def test_values_above_shares() -> None:
    tails = 10.0 ** -np.linspace(0.1, 300, 200)
    shares = np.concatenate([np.linspace(0, 1, 501), tails, 1 - tails])
    expected = special.ndtri(shares)
    assert [value_above(share) for share in shares] == pytest.approx(expected, rel=1e-12)


def test_what_is_no_share_has_no_value() -> None:
    assert np.isnan(value_above(1.5))
    assert np.isnan(value_above(-0.1))
