"""Sangiovese against the published figures, and against rows drawn by others."""

import json

import numpy as np
import pandas as pd
import pytest

from proce.causal import CausalGraph
from proce.datasets import load_dataset, sangiovese
from proce.schema import Action

from .real_files import FOLDER, needs_real_files

# The regression of BunchN on SproutN under treatment T2a.
INTERCEPT, SLOPE, SD = -0.0448515193, 1.2177006055, 0.3242622136


def test_the_shape_of_the_data() -> None:
    data = load_dataset("sangiovese")
    assert data.frame.shape == (11_569, 13)
    assert len(data.graph.edges) == 42
    assert data.graph.roots == ("SproutN",)
    mixture = load_dataset("sangiovese", treatment="mixture", n=500)
    assert mixture.frame.shape == (500, 14)
    assert len(mixture.graph.edges) == 46
    assert mixture.graph.roots == ("Treatment",)
    assert set(mixture.frame["Treatment"].cat.categories) == {
        f"T{k}{half}" for k in range(1, 9) for half in "ab"
    }


@needs_real_files
def test_the_arcs_and_figures_are_the_published_ones() -> None:
    network = json.loads((FOLDER / "sangiovese" / "network.json").read_text("utf-8"))
    arcs = [tuple(arc) for arc in network["edges_features_without_GrapeW"]]
    assert load_dataset("sangiovese", n=50).graph == CausalGraph(arcs)
    count = len(network["nodes"]["Treatment"]["prob"]) - 1
    for treatment in network["nodes"]["Treatment"]["levels"]:
        for name in (*sangiovese.FEATURES, "GrapeW"):
            node = network["nodes"][name]
            published = node["by_treatment"][treatment] if "by_treatment" in node else node
            ours = sangiovese.Regression.of(name, treatment)
            assert ours.intercept.item() == published["intercept"]
            assert ours.sd.item() == published["sd"]
            slopes = {cause: slope.item() for cause, slope in ours.coefficients.items()}
            assert slopes == published["coef"]
            if "by_treatment" in node or treatment == "T1a":
                count += 2 + len(slopes)
    assert count == 259


@needs_real_files
def test_rows_have_the_moments_of_the_published_rows() -> None:
    """Two samples of 11,569 rows; four standard errors, and none of 105 comparisons beyond."""
    published = pd.read_csv(FOLDER / "sangiovese" / "sangiovese_T2a_11569.csv.gz", index_col=0)
    data = load_dataset("sangiovese")
    n = len(published)
    assert len(data.frame) == n
    theirs = published[list(sangiovese.FEATURES)]
    both = np.sqrt(2 / n)
    offset = (data.frame.mean() - theirs.mean()) / theirs.std()
    assert offset.abs().max() < 4 * both
    assert np.log(data.frame.std() / theirs.std()).abs().max() < 4 * both / np.sqrt(2)
    fisher = np.arctanh(np.tril(data.frame.corr(), -1)) - np.arctanh(np.tril(theirs.corr(), -1))
    assert np.abs(fisher).max() < 4 * both
    share = (published["GrapeW"] > 0).mean()
    assert data.label.mean() == pytest.approx(share, abs=4 * both * np.sqrt(share * (1 - share)))


def test_thinning_sprouts_moves_bunches_by_the_published_slope() -> None:
    data = load_dataset("sangiovese", n=200)
    assert data.truth is not None
    codec = data.truth.codec
    factual = codec.encode(data.frame)
    moved = codec.decode(data.truth.counterfactual(factual, {"SproutN": 0.1}))
    change = moved["BunchN"] - data.frame["BunchN"]
    np.testing.assert_allclose(change, SLOPE * (0.1 - data.frame["SproutN"]), atol=1e-12)
    noise = data.truth.abduct(factual)[:, 0]
    by_hand = data.frame["BunchN"] - INTERCEPT - SLOPE * data.frame["SproutN"]
    np.testing.assert_allclose(noise, by_hand, atol=1e-12)
    assert by_hand.std() == pytest.approx(SD, rel=0.2)


def test_in_the_mixture_each_treatment_has_its_own_equations() -> None:
    data = load_dataset("sangiovese", treatment="mixture", n=20_000)
    under = data.frame[data.frame["Treatment"] == "T2a"]
    assert len(under) == pytest.approx(20_000 * 0.0577, rel=0.15)
    slope, intercept = np.polyfit(under["SproutN"], under["BunchN"], 1)
    assert slope == pytest.approx(SLOPE, abs=0.3)
    assert intercept == pytest.approx(INTERCEPT, abs=0.06)
    assert data.truth is not None
    codec = data.truth.codec
    factual = codec.encode(data.frame.head(300))
    residual = data.truth.abduct(factual)
    still = data.truth.propagate(factual, residual, np.zeros(14, dtype=np.bool_))
    np.testing.assert_allclose(still, factual, rtol=0, atol=1e-12)
    moved = codec.decode(data.truth.counterfactual(factual, {"Treatment": "T8b"}))
    assert (moved["Treatment"] == "T8b").all()
    assert (moved["SproutN"] != data.frame["SproutN"].head(300)).mean() > 0.9


def test_a_grower_acts_on_sprouts_bunches_and_the_treatment() -> None:
    schema = load_dataset("sangiovese", treatment="mixture", n=100).recourse_schema
    free = [feature.name for feature in schema if feature.action is Action.FREE]
    others = [feature.action for feature in schema if feature.name not in free]
    assert free == ["Treatment", "SproutN", "BunchN"]
    assert set(others) == {Action.INDIRECT}
