"""What is told is what the model says of the whole frame that is returned."""

from typing import Any

import numpy as np
import pandas as pd

from proce.classifier import Classifier, as_classifier
from proce.explanation import Outcome
from proce.methods.calls.call import ask_about_all
from proce.objective import Requirement

from ...explanation.samples import (
    CHANGE_JOB,
    CODEC,
    RAISE_SAVINGS,
    explanation,
    explanations,
)
from ...worlds import two_classes

DECIDED = Requirement(None, margin=0.0)
RESULT = explanations(explanation(RAISE_SAVINGS, CHANGE_JOB), explanation(row=1))


def lender(chance_of_savers: float, chance_of_others: float) -> Classifier:
    def chances(frame: pd.DataFrame) -> Any:
        saves = frame["savings"] >= 3_500
        return two_classes(np.where(saves, chance_of_savers, chance_of_others))

    return as_classifier(chances, CODEC, classes=("rejected", "approved"))


def test_the_probabilities_are_those_of_the_returned_frame() -> None:
    rows = ask_about_all(RESULT.rows, RESULT.layout, lender(0.7, 0.6), DECIDED)
    assert rows.counterfactuals.probabilities.tolist() == [0.7, 0.6]
    assert rows.outcomes.tolist() == RESULT.rows.outcomes.tolist()


def test_a_counterfactual_that_the_model_takes_back_is_dropped() -> None:
    rows = ask_about_all(RESULT.rows, RESULT.layout, lender(0.7, 0.4), DECIDED)
    assert rows.counterfactuals.probabilities.tolist() == [0.7]
    assert (rows.dropped - RESULT.rows.dropped).tolist() == [1, 0]
    assert rows.outcomes.tolist() == RESULT.rows.outcomes.tolist()


def test_a_row_that_loses_all_of_its_own_has_none_found() -> None:
    rows = ask_about_all(RESULT.rows, RESULT.layout, lender(0.3, 0.4), DECIDED)
    assert not len(rows.counterfactuals)
    assert rows.outcomes[0] == Outcome.NOT_FOUND.code


def test_a_counterfactual_that_loses_the_probability_that_was_asked_for_is_dropped() -> None:
    asked = Requirement(None, margin=0.0, min_probability=0.8)
    rows = ask_about_all(RESULT.rows, RESULT.layout, lender(0.79, 0.8), asked)
    assert rows.counterfactuals.probabilities.tolist() == [0.8]
    assert (rows.dropped - RESULT.rows.dropped).tolist() == [1, 0]


def test_a_counterfactual_that_loses_the_margin_alone_is_told_without_it() -> None:
    wanted = Requirement(None, margin=0.1)
    for chance, is_met in ((0.7, True), (0.55, False)):
        rows = ask_about_all(RESULT.rows, RESULT.layout, lender(0.7, chance), wanted)
        assert rows.counterfactuals.probabilities.tolist() == [0.7, chance]
        assert rows.margin_met.tolist() == [is_met, True]
