"""The names of ``proce.causal``, which are loaded when first used."""

import pytest

import proce.causal


def test_every_name_is_there_and_listed() -> None:
    assert len(proce.causal.__all__) > 10
    for name in proce.causal.__all__:
        assert getattr(proce.causal, name) is not None
        assert name in dir(proce.causal)


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'proce\.causal' has no attribute 'CausalGraf'"):
        proce.causal.CausalGraf  # noqa: B018
