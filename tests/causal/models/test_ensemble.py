"""A counterfactual is supported by the graphs in which it comes about."""

import numpy as np
import pandas as pd
import pytest
import torch

from proce.causal import CausalGraph, Ensemble
from proce.errors import GraphError
from proce.schema import Codec, Schema


@pytest.fixture(scope="module")
def setting():
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 1, 500)
    frame = pd.DataFrame({"x": x, "y": x + draw.normal(0, 0.05, 500), "z": draw.uniform(0, 1, 500)})
    codec = Codec.fit(Schema.infer(frame), frame)
    return codec, codec.encode(frame)


FORWARD = CausalGraph([("x", "y")], nodes="xyz")
BACKWARD = CausalGraph([("y", "x")], nodes="xyz")
NONE = CausalGraph([], nodes="xyz")


def test_members_that_lead_elsewhere_do_not_support_it(setting):
    codec, rows = setting
    ensemble = Ensemble.fit([FORWARD, FORWARD, BACKWARD, NONE], rows, codec)
    factual = rows[:1]
    residual = ensemble.members[0].abduct(factual)
    acted_on = torch.tensor([[[True, False, False]]])
    wanted = factual[:, None].clone()
    wanted[..., 0] += 0.3
    follows = ensemble.members[0].propagate(wanted, residual, acted_on)
    assert ensemble.support(factual, follows, acted_on).tolist() == [[2]]
    assert ensemble.support(factual, wanted, acted_on).tolist() == [[2]]  # y stays: 2 others
    assert ensemble.support(factual, follows, acted_on, tolerance=0.5).tolist() == [[4]]


def test_a_feature_with_the_same_causes_is_fitted_once(setting):
    codec, rows = setting
    ensemble = Ensemble.fit([FORWARD, CausalGraph([("x", "y"), ("z", "x")])], rows, codec)
    assert ensemble.members[0].mechanisms["y"] is ensemble.members[1].mechanisms["y"]


def test_an_ensemble_of_nothing_is_refused(setting):
    with pytest.raises(GraphError, match="at least one graph"):
        Ensemble.fit([], setting[1], setting[0])
