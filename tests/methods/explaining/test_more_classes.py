"""Of more than two classes, what is needed is the lead over the runner-up, and that is told."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import Explanations, ProCE
from proce.schema import Action

from ...worlds import SCHEMA, SETTINGS, one, people


def three_offers(frame: pd.DataFrame) -> Any:
    """Return no, small and large; the more savings, the larger the offer."""
    savings = frame["savings"].to_numpy(float)
    scores = np.stack([2 - savings / 20, np.full(len(frame), 0.9), savings / 20 - 2], axis=1)
    shares = np.exp(scores)
    return shares / shares.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def clerk() -> ProCE:
    return ProCE(three_offers, schema=SCHEMA, settings=SETTINGS).fit(people())


def lead(frame: pd.DataFrame, target: int) -> Any:
    answers = three_offers(frame)
    return answers[:, target] - np.delete(answers, target, axis=1).max(1)


def test_the_target_leads_by_twice_the_margin_whatever_its_probability(clerk: ProCE) -> None:
    result = clerk.explain(one(savings=10), target=1, n=4)
    assert result.context.lead == pytest.approx(0.2)
    assert result[0].needed == 0
    assert (lead(result.counterfactuals(), 1) >= 0.2 - 1e-9).all()
    assert result[0].probabilities.min() < 0.6  # which was told to be needed


def test_pages_and_sentences_speak_of_the_lead(clerk: ProCE, tmp_path: Path) -> None:
    result = clerk.explain(one(savings=10), target=1)
    page = result.save_html(tmp_path / "page.html").read_text("utf-8")
    assert "ahead of every other class by at least 20 points" in page
    assert "at least 60%" not in page
    assert "asked for: 60%" not in page
    asked = clerk.explain(one(savings=10), target=1, min_probability=0.4)
    page = asked.save_html(tmp_path / "page.html").read_text("utf-8")
    assert "ahead of every other class and with a probability of at least 40%" in page


def test_json_keeps_the_lead(clerk: ProCE) -> None:
    result = clerk.explain(one(savings=10), target=1)
    assert Explanations.from_json(result.to_json()).context.lead == result.context.lead


def test_a_miss_is_told_beside_the_class_that_is_ahead() -> None:
    fixed = SCHEMA.edit("savings", action=Action.FIXED)
    clerk = ProCE(three_offers, schema=fixed, settings=SETTINGS).fit(people())
    diagnosis = clerk.explain(one(savings=10), target=2)[0].diagnosis
    assert diagnosis is not None
    assert "behind class 0 (" in diagnosis.reason
    assert "decides so from" not in diagnosis.reason
    assert "if savings were not fixed, but " in diagnosis.reason
