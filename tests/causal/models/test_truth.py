"""Where the true equations are known, the fitted ones lead to nearly the same."""

import numpy as np
import pytest

from proce.causal import StructuralCausalModel
from proce.datasets import load_dataset
from proce.schema import Codec


def error_of(name, cause, kind):
    """The largest mean error of an effect, in its standard deviations, under random do(cause)."""
    data = load_dataset(name)
    codec = Codec.fit(data.schema, data.frame[:-500])
    rows, factual = codec.encode(data.frame[:-500]), codec.encode(data.frame[-500:])
    fitted = StructuralCausalModel.fit(data.graph, rows, codec, mechanism=kind)
    truth = data.truth.with_codec(codec)
    position = codec.schema.position(cause)
    start = factual.copy()
    start[:, position] = rows[:500, position]
    acted_on = np.arange(len(codec.schema)) == position
    got = fitted.propagate(start, fitted.abduct(factual), acted_on)
    true = truth.propagate(start, truth.abduct(factual), acted_on)
    return float((np.abs(got - true).mean(0) / rows.std(0)).max())


@pytest.mark.parametrize("cause", ["x1", "x2"])
def test_quadratic_equations_recover_simple_bn(cause):
    assert error_of("simple_bn", cause, "quadratic") < 0.01
    assert error_of("simple_bn", cause, "auto") < 0.01


@pytest.mark.parametrize("cause", ["SproutN", "SPAD06", "Anthoc"])
def test_linear_equations_recover_sangiovese(cause):
    assert error_of("sangiovese", cause, "linear") < 0.03
    assert error_of("sangiovese", cause, "auto") < 0.03


@pytest.mark.parametrize("name", ["loan", "simple_bn", "sangiovese"])
def test_the_truth_explains_its_own_rows(name):
    data = load_dataset(name)
    rows = data.truth.codec.encode(data.frame)
    nothing = np.zeros(rows.shape[1], dtype=np.bool_)
    back = data.truth.propagate(rows, data.truth.abduct(rows), nothing)
    assert np.array_equal(back, rows)
