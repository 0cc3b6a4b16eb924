"""Counterfactuals that keep their class under other models."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE, Schema
from proce.explanation import Outcome

from ...worlds import SCHEMA, SETTINGS, logistic, never, people

FRAME = people(200)[["age", "savings", "debt"]]
NUMBERS = Schema([SCHEMA[name] for name in FRAME])
REFUSED = pd.DataFrame({"age": [30, 40, 50], "savings": [30, 10, 40], "debt": [50, 60, 70]})


def harder(by: float) -> Callable[[pd.DataFrame], Any]:
    """Return a bank that wants more of the same."""
    return lambda frame: logistic((frame["savings"] - frame["debt"]) / 25 - by)


@pytest.fixture(scope="module")
def banker() -> ProCE:
    return ProCE(harder(0.0), NUMBERS, settings=SETTINGS).fit(FRAME)


def test_a_counterfactual_goes_as_far_as_the_share_asks(banker: ProCE) -> None:
    models = [harder(by) for by in (0.2, 0.4, 1.0, 1.6)]
    for share, reached in ((0.25, 0.2), (0.5, 0.4), (0.75, 1.0), (1.0, 1.6)):
        result = banker.explain(REFUSED, n=1, robust=share, models=models)
        rows = result.counterfactuals()
        assert all(item.robustness[0] >= 4 * share for item in result)
        assert ((rows["savings"] - rows["debt"]) / 25 >= reached).all()
        # One step of savings is 1/25: nobody is sent much farther than that.
        needed = max(reached, 0.41)  # the margin of the explained model: log-odds of 0.6
        assert ((rows["savings"] - rows["debt"]) / 25 <= needed + 0.1).all()


def test_of_many_models_the_next_one_counts_too(banker: ProCE) -> None:
    """The hardest of twenty is passed at 0.95; one more may be harder."""
    models = [harder(step / 20) for step in range(20)]
    result = banker.explain(REFUSED, n=1, robust=0.95, models=models)
    rows = result.counterfactuals()
    assert ((rows["savings"] - rows["debt"]) / 25 > 0.95).all()
    assert all(int(item.robustness[0]) == 20 for item in result)


def test_a_row_alone_has_the_answer_that_it_has_in_a_batch(banker: ProCE) -> None:
    models = [harder(by) for by in (0.2, 0.5, 0.9, 1.3, 1.1)]
    together = banker.explain(REFUSED, n=2, robust=0.8, models=models)
    for at in range(len(REFUSED)):
        alone = banker.explain(REFUSED.iloc[[at]], n=2, robust=0.8, models=models)[0]
        assert np.array_equal(alone.rows, together[at].rows)
        assert np.array_equal(alone.robustness, together[at].robustness)


def test_what_most_models_refuse_is_no_advice(banker: ProCE) -> None:
    result = banker.explain(REFUSED.head(1), n=1, robust=0.9, models=[never, never, harder(0.0)])
    assert result[0].outcome is Outcome.NOT_FOUND
    (blocker,) = result[0].diagnosis.blockers
    assert blocker.kind == "robust"
    assert "if it need not hold under other models" in result[0].sentences()[0]


def test_where_the_share_cannot_be_had_the_most_robust_is_shown_as_what_it_is(
    banker: ProCE,
) -> None:
    models = [never, harder(0.2), harder(0.6), harder(1.0)]
    item = banker.explain(REFUSED.head(1), n=1, robust=0.95, models=models)[0]
    assert item.robustness.tolist() == [3]
    told = (
        "This advice is not robust: it keeps its decision in 3 of 4 other models; 95 of 100 were"
        " asked for, and no advice was found that does in more."
    )
    assert told in item.sentences()
