"""Which advice is sure enough, and which of two is better."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.worlds import QUICK, logistic

from proce import ProCE, SearchSettings
from proce.arrays import Array
from proce.explanation import done_by_hand
from proce.explanation.record.counterfactuals import SURE
from proce.methods.phases.choosing import as_sure, is_better

from ..conftest import posed


def flags(values: Any) -> list[bool]:
    return values.tolist()


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ((0.0, 9.0), (0.001, 1.0), True),  # sure, though farther
        ((0.0, 1.0), (0.0, 2.0), True),  # both sure, closer
        ((0.0, 2.0), (0.0, 1.0), False),
        ((0.10, 9.0), (0.15, 1.0), True),  # shaky, but surer by more than a little
        ((0.10, 9.0), (0.11, 1.0), False),  # surer by a little, and farther
        ((0.11, 1.0), (0.10, 9.0), True),  # about as sure, and closer
        ((0.01, 1.0), (0.0, 9.0), False),  # shaky never beats sure
        ((np.inf, np.inf), (0.4, 9.0), False),  # nothing found
        ((0.4, 9.0), (np.inf, np.inf), True),
    ],
)
def test_surer_advice_is_better_and_of_equally_sure_the_closer(
    ours: tuple[float, float], theirs: tuple[float, float], expected: bool
) -> None:
    columns = [np.array([float(value)]) for value in (*ours, *theirs)]
    assert flags(is_better(*columns)) == [expected]


def test_of_two_pieces_of_advice_at_the_edge_of_equally_sure_one_is_better() -> None:
    """What is added to one and taken from the other may round to either side of the edge."""
    first = np.array([0.016389409574477876])
    second, far, close = first + 0.02, np.array([2.0]), np.array([1.0])
    assert flags(as_sure(second, first)) == [True]
    assert flags(is_better(first, far, second, close)) == [False]
    assert flags(is_better(second, close, first, far)) == [True]


@dataclass(frozen=True)
class Fixed:
    """Possible worlds in which candidates work with given chances."""

    chances: tuple[float, ...]
    min_chance: float

    def odds(self, problem: Any, realised: Any) -> Array:
        return np.array(self.chances)[realised.point[:, 0, 0].astype(np.int64)][None, :, None]

    def chance(self, odds: Array) -> Array:
        return odds[0]


def test_advice_lacks_what_it_lacks_to_every_uncertainty_set() -> None:
    explainer, _ = refused()
    problem = posed(explainer, noisy_world().head(1), target=1)
    uncertainty = (Fixed((0.99, 0.90, 0.90, 0.49), 0.98), Fixed((0.99, 0.99, 0.80, 0.99), 0.95))
    problem = replace(problem, uncertainty=uncertainty)
    numbered = np.arange(4.0).reshape(1, 4, 1).repeat(2, axis=2)
    unchanged = problem.realise(problem.batch.factual[:, None].repeat(4, axis=1))
    realised = replace(unchanged, point=numbered)
    asked = np.array([[True, True, True, True]])
    gap = problem.robustness_gap(realised, asked)[0].tolist()
    assert gap == pytest.approx([0.0, 0.08, 0.23, np.inf])
    assert np.isinf(problem.robustness_gap(realised, ~asked)).all()


def noisy_world(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return people whose score follows from their effort, with much noise."""
    draw = np.random.default_rng(seed)
    effort = draw.uniform(0, 1, n)
    return pd.DataFrame({"effort": effort, "score": effort + draw.normal(0, 0.8, n)})


def judge(rows: pd.DataFrame) -> Any:
    return logistic(6 * (rows["score"] - 1.2))


def refused() -> tuple[ProCE, pd.DataFrame]:
    frame = noisy_world()
    schema = ProCE(judge).fit(frame).schema_.edit("score", action="indirect")
    settings = SearchSettings(autoencoder=QUICK)
    explainer = ProCE(judge, schema, [("effort", "score")], settings=settings).fit(frame)
    rows = frame[(judge(frame)[:, 1] < 0.5) & (frame["score"] > 0.6)].head(12)
    return explainer, rows


def test_what_is_shown_says_how_likely_it_works_and_is_never_less_likely_than_not() -> None:
    explainer, rows = refused()
    result = explainer.explain(rows, target=1, n=2)
    told = [item for item in result if len(item)]
    assert len(told) >= 4
    for item in told:
        assert (item.confidence >= 0.5).all()
        assert (item.confidence <= (item.refits + 1) / 21).all()
    sure = [item.confidence[0].item() >= 0.98 for item in told]
    assert any(sure)


def test_a_shaky_way_with_the_features_of_a_sure_one_is_dropped() -> None:
    explainer, rows = refused()
    found = [item for item in explainer.explain(rows, target=1, n=4) if len(item)]
    assert found
    for item in found:
        by_hand = done_by_hand(item.changes)
        same = (by_hand[:, None] == by_hand[None]).all(-1)
        sure = item.confidence >= SURE
        assert not (same & sure[:, None] & ~sure).any()


def test_confidence_does_not_depend_on_the_batch() -> None:
    explainer, rows = refused()
    together = explainer.explain(rows, target=1, n=1)
    for row in (0, 5):
        alone = explainer.explain(rows.iloc[[row]], target=1, n=1)[0]
        assert np.array_equal(alone.rows, together[row].rows)
        if len(alone):
            assert np.array_equal(alone.confidence, together[row].confidence)


def test_without_equations_there_is_nothing_uncertain() -> None:
    frame = noisy_world()
    explainer = ProCE(judge, settings=SearchSettings(autoencoder=QUICK)).fit(frame)
    result = explainer.explain(frame[judge(frame)[:, 1] < 0.5].head(2), target=1, n=1)
    assert [item.confidence for item in result] == [None, None]
    assert result.outcomes()["confidence"].isna().all()
    assert result.changes()["confidence"].isna().all()
