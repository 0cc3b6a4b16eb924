"""What a discovered graph says that it cannot know."""

import warnings

import numpy as np
import pandas as pd
import pytest

from proce.causal import CausalGraph
from proce.causal.discovery.caveats import DiscoveryWarning
from proce.causal.discovery.duration import advice, seconds_of_lingam, seconds_of_search
from proce.datasets import load_dataset


def said(frame: pd.DataFrame, **options: object) -> list[str]:
    """Return what is warned of, which is also what is kept."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = CausalGraph.discover(frame, **options)  # type: ignore[arg-type]
    texts = [str(each.message) for each in caught if each.category is DiscoveryWarning]
    assert tuple(texts) == graph.origin.warnings
    assert all(each.filename == __file__ for each in caught)
    return texts


def rows(n: int = 2_000, seed: int = 0, noise: str = "uniform") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    draw = rng.uniform if noise == "uniform" else rng.normal
    a, b, c = (draw(-1, 1, n) for _ in range(3))
    return pd.DataFrame({"a": a, "b": a + b, "c": a - b + c})


def test_rows_that_fit_the_assumptions_raise_no_doubt() -> None:
    for seed in range(5):
        assert said(rows(seed=seed)) == []


def test_gaussian_noise_is_named_where_the_direction_is_open() -> None:
    frame = rows(noise="normal")
    (text,) = said(frame)
    assert text.startswith("The noise of a, b, c looks Gaussian.")
    assert said(frame, tiers=[["a"], ["b"], ["c"]]) == []
    assert said(frame, algorithm="ges", tiers=[["a"], ["b"], ["c"]]) == []


def test_one_gaussian_noise_is_no_obstacle() -> None:
    frame = rows()
    frame["b"] = frame.a + np.random.default_rng(1).normal(size=len(frame))
    frame["c"] = frame.a + frame.b + rows(seed=9).a
    assert said(frame) == []


def test_the_data_sets_that_no_linear_method_can_read_are_warned_of() -> None:
    vines = load_dataset("sangiovese", n=3_000)
    texts = said(vines.frame, schema=vines.schema)
    assert any("looks Gaussian" in text for text in texts)
    assert sum(name in " ".join(texts) for name in vines.schema.names) >= 10
    for seed in range(3):
        assert said(load_dataset("simple_bn", n=3_000, seed=seed).frame) != []


@pytest.mark.parametrize("algorithm", ["direct_lingam", "pc", "ges"])
def test_a_curve_is_seen(algorithm: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 3, (2, 2_000))
    frame = pd.DataFrame({"a": a, "b": b, "c": a**2 + b + rng.uniform(0, 0.5, 2_000)})
    texts = said(frame, algorithm=algorithm, tiers=[["a", "b"], ["c"]])
    assert any("A curved fit" in text and "c (100% against 9" in text for text in texts)


def test_noise_that_grows_with_the_cause_is_seen() -> None:
    rng = np.random.default_rng(0)
    a = rng.uniform(0, 1, 3_000)
    frame = pd.DataFrame({"a": a, "b": 4 * a + a * rng.uniform(-1, 1, 3_000)})
    texts = said(frame, tiers=[["a"], ["b"]])
    assert any("The noise of b is larger at some values" in text for text in texts)


def test_near_copies_are_named() -> None:
    frame = rows()
    frame["a2"] = frame.a + np.random.default_rng(3).uniform(-0.05, 0.05, len(frame))
    texts = said(frame)
    assert any("nearly collinear" in text and "a2" in text for text in texts)


def test_few_rows_for_many_features_are_named() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).uniform(size=(50, 8))).rename(columns=str)
    assert any("50 complete rows for 8 features" in text for text in said(frame))


def test_what_takes_long_is_said_with_how_to_reduce_it() -> None:
    assert advice(20.0, (500, 30), 0, 1) is None
    assert advice(90.0, (500, 100), 0, 1) == (
        "Discovery over 100 features and 500 rows will take about 90 s. To reduce it, keep the"
        " features that matter: time grows with the third power of their number or faster."
    )
    text = advice(60.0, (30_000, 200), 50, 2)
    assert text is not None
    assert "about 26 minutes: 51 searches of 60 s, 2 at a time" in text
    assert "frame.sample(2000)" in text
    assert "lower bootstrap, or raise n_jobs" in text
    assert "about 3 hours" in str(advice(10_000.0, (500, 400), 0, 1))


def test_a_long_discovery_is_announced_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proce.causal.discovery.discover.seconds_of_lingam", lambda rows: 300.0)
    monkeypatch.setattr(
        "proce.causal.discovery.discover.lingam", lambda *_: pytest.fail("it has begun")
    )
    with pytest.raises(pytest.fail.Exception), pytest.warns(DiscoveryWarning, match="5 minutes"):
        CausalGraph.discover(rows())


def test_estimates_grow_with_the_third_power_or_faster() -> None:
    few, many = (np.random.default_rng(0).normal(size=(300, n)) for n in (60, 240))
    assert seconds_of_lingam(many) > 10 * seconds_of_lingam(few) > 0
    assert seconds_of_lingam(few[:, :10]) == 0
    assert seconds_of_search(20, lambda _: pytest.fail("not worth a trial")) == 0
    assert seconds_of_search(400, lambda _: None) > 0
