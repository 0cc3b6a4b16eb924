"""Simple-BN against the published file, which was drawn by its authors."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from proce.datasets import load_dataset, simple_bn
from proce.schema import Action, Codec, Rule

from .real_files import FOLDER, needs_real_files


@needs_real_files
def test_the_label_rule_gives_every_published_label() -> None:
    published = pd.read_csv(FOLDER / "simple_bn" / "bn1.csv.gz", index_col=0)
    assert len(published) == 1000
    assert ((simple_bn.chance_of_one(published) > 0.5) == published["y"]).all()


@needs_real_files
def test_the_published_rows_look_drawn_from_the_equations() -> None:
    published = pd.read_csv(FOLDER / "simple_bn" / "bn1.csv.gz", index_col=0)
    data = load_dataset("simple_bn")
    noise = published["x3"] - _x3(published)
    assert noise.mean() == pytest.approx(0, abs=4 * 0.5 / np.sqrt(1000))
    assert noise.std() == pytest.approx(0.5, rel=0.09)  # four standard errors
    for name in ("x1", "x2", "x3"):
        error = data.frame[name].std() * np.sqrt(1 / 1000 + 1 / 10_000)
        assert published[name].mean() == pytest.approx(data.frame[name].mean(), abs=4 * error)
        assert published[name].std() == pytest.approx(data.frame[name].std(), rel=0.1)


@needs_real_files
def test_the_constants_are_the_published_ones() -> None:
    constants = json.loads((FOLDER / "simple_bn" / "params.json").read_text("utf-8"))
    ours = {
        "mu1": simple_bn.X1_MEAN,
        "sigma1": simple_bn.X1_SD,
        "mu2": simple_bn.X2_MEAN,
        "sigma2": simple_bn.X2_SD,
        "k3": simple_bn.X3_SLOPE,
        "b3": simple_bn.X3_INTERCEPT,
        "sigma3": simple_bn.X3_SD,
        "ky": simple_bn.LABEL_SLOPE,
        "by": simple_bn.LABEL_INTERCEPT,
    }
    assert ours == {name: constants[name] for name in ours}


def _x3(frame: pd.DataFrame) -> "pd.Series[float]":
    return 10 / 180**2 * (frame["x1"] + frame["x2"]) ** 2 + 10


def test_the_truth_moves_x3_by_its_equation() -> None:
    data = load_dataset("simple_bn", n=100)
    assert data.truth is not None
    codec = data.truth.codec
    moved = codec.decode(data.truth.counterfactual(codec.encode(data.frame), {"x1": 80.0}))
    noise = data.frame["x3"] - _x3(data.frame)
    np.testing.assert_allclose(moved["x3"], _x3(moved) + noise, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moved["x2"], data.frame["x2"], rtol=0, atol=1e-12)


def test_following_the_truth_obeys_the_rule() -> None:
    data = load_dataset("simple_bn", n=100)
    assert data.truth is not None
    codec = Codec.fit(data.schema, data.frame)
    factual = codec.encode(data.frame)
    rows = data.truth.counterfactual(factual, {"x1": 80.0, "x2": 80.0})
    [rule] = [Rule.parse(text, codec) for text in data.rules]
    mechanisms = {"x3": partial(data.truth.predict, "x3")}
    assert len(rows) == 100
    assert rule.holds(factual, rows, mechanisms).all()
    stuck = np.concatenate([rows[:, :2], factual[:, 2:]], axis=-1)
    assert not rule.holds(factual, stuck, mechanisms).any()


def test_a_drawn_label_cannot_be_predicted_well() -> None:
    """Even who knows the equations is right on about 60% of the rows."""
    data = load_dataset("simple_bn", label="bernoulli", n=50_000)
    known = simple_bn.chance_of_one(data.frame) > 0.5
    assert (known == data.label).mean() == pytest.approx(0.605, abs=0.01)
    clear = load_dataset("simple_bn", n=50_000)
    assert ((simple_bn.chance_of_one(clear.frame) > 0.5) == clear.label).all()


def test_nobody_can_act_on_x3() -> None:
    actions = {
        feature.name: feature.action for feature in load_dataset("simple_bn", n=10).recourse_schema
    }
    assert actions == {"x1": Action.FREE, "x2": Action.FREE, "x3": Action.INDIRECT}
