"""What a discovered graph says that it cannot know."""

import warnings

import numpy as np
import pandas as pd
import pytest

from proce.causal import CausalGraph, DiscoveryWarning
from proce.datasets import load_dataset


def said(frame: pd.DataFrame, **options: object) -> list[str]:
    """Return what is warned of, which is also what is kept."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = CausalGraph.discover(frame, **options)  # type: ignore[arg-type]
    texts = [str(item.message) for item in caught if item.category is DiscoveryWarning]
    assert tuple(texts) == graph.origin.warnings
    assert all(item.filename == __file__ for item in caught)
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
