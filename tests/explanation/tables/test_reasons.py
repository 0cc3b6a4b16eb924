"""Reasons: actions by what they add, a draft that says so, in words of the caller's."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from proce.errors import SchemaError, SearchError
from proce.explanation import Explanation

from ...explained import with_columns
from .. import samples
from ..samples import RAISE_SAVINGS, SCHEMA, Way, everything, explanation, explanations, people

WAY: Way = {
    "savings": ("action", 60_000),
    "job": ("action", "office"),
    "ratio": ("action", 0.1),
    "credit_score": ("consequence", 655),
}
DRAFT = "draft: a variant that the model decides otherwise is not by itself a legal reason"
ASKED = samples.context(n_models=20, robust=0.9, models_are_refits=True)


def weighing(**added: float) -> Explanation:
    """Return an applicant, and what each of the three actions adds."""
    values = np.zeros((1, len(SCHEMA)), dtype=np.float64)
    for name, value in added.items():
        values[0, SCHEMA.position(name)] = value
    return explanation(WAY, contributions=values)


def test_the_weightiest_comes_first_and_a_consequence_is_no_reason() -> None:
    lines = explanations(weighing(savings=0.1, job=0.05, ratio=0.2)).reasons().frame()
    assert lines["feature"].tolist() == ["ratio", "savings", "job"]
    assert lines["weight"].tolist() == [0.2, 0.1, 0.05]
    assert lines["order"].tolist() == [1, 2, 3]
    assert set(lines["measure"]) == {"probability"}
    assert set(lines["status"]) == {DRAFT}
    assert lines["reason"].tolist() == [
        "Ratio is 0.31, too high: in the variant for which the model says approved it is 0.1.",
        "Savings is 2,000, too low: in the variant for which the model says approved it is 60,000.",
        'Job is "service"; in the variant for which the model says approved it is "office".',
    ]


def test_a_reason_is_measured_against_where_the_feature_would_go_by_itself() -> None:
    """The amount is raised by 500, but it had to be kept down: it is not too low."""
    kept_down = explanation({"amount": ("action", 26_000, 27_000)})
    (reason,) = explanations(kept_down).reasons().frame()["reason"]
    assert reason == (
        "Amount is 25,500 (it would otherwise rise to 27,000), too high: in the variant for which"
        " the model says approved it is 26,000."
    )


def test_an_action_that_adds_nothing_by_itself_is_no_reason() -> None:
    lines = explanations(weighing(savings=0.1, job=-0.05, ratio=0.0)).reasons().frame()
    assert lines["feature"].tolist() == ["savings"]


def test_where_the_model_was_not_asked_an_action_weighs_its_share_of_the_distance() -> None:
    """Savings moves 58,000 of 90,000, ratio 0.21 of 1, and another level counts 1."""
    lines = explanations(explanation(WAY)).reasons().frame()
    total = 58 / 90 + 0.21 + 1
    assert lines["feature"].tolist() == ["job", "savings", "ratio"]
    assert lines["weight"].tolist() == pytest.approx([1 / total, 58 / 90 / total, 0.21 / total])
    assert set(lines["measure"]) == {"distance"}


def test_at_most_so_many() -> None:
    assert [len(each) for each in everything().reasons(at_most=1)] == [1, 0, 0, 0, 1]
    with pytest.raises(SearchError, match="at_most is 0; expected a whole number from 1 on"):
        everything().reasons(at_most=0)


def test_codes_of_the_caller_replace_our_words() -> None:
    codes = {"savings": ("R07", "Insufficient savings")}
    lines = explanations(weighing(savings=0.2, job=0.1)).reasons(codes=codes).frame()
    assert lines["code"].tolist()[0] == "R07"
    assert lines["reason"].tolist()[0] == "Insufficient savings"
    assert lines["code"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("codes", "error", "message"),
    [
        ({"saving": ("1", "x")}, SchemaError, "codes names 'saving', .*'savings'"),
        (
            {"savings": "R07"},
            SearchError,
            r"'savings' is 'R07'; expected \(code, text\)",
        ),
        ({"savings": (7, "x")}, SearchError, r"expected \(code, text\)"),
        (
            [("savings", "R07")],
            SearchError,
            r"codes is .*expected a mapping, such as {name: value}",
        ),
    ],
)
def test_a_wrong_table_of_codes_is_refused(codes: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        everything().reasons(codes=codes)


def test_as_json() -> None:
    record = json.loads(explanations(weighing(savings=0.25)).reasons().to_json())
    assert record["status"] == DRAFT
    assert record["rows"] == [
        {
            "row": 0,
            "outcome": "found",
            "predicted": "rejected",
            "target": "approved",
            "reasons": [
                {
                    "feature": "savings",
                    "before": 2_000,
                    "after": 60_000,
                    "weight": 0.25,
                    "measure": "probability",
                    "code": None,
                    "reason": "Savings is 2,000, too low: in the variant for which the model says"
                    " approved it is 60,000.",
                }
            ],
        }
    ]


def test_a_letter_is_a_draft_and_says_how_the_order_was_found() -> None:
    codes = {"savings": ("R07", "Insufficient savings")}
    result = explanations(weighing(savings=0.2, job=0.1))
    assert result.reasons(codes=codes).letter(0) == (
        "Draft: a variant that the model decides otherwise is not by itself a legal reason. To be"
        " checked by a person before it is sent.\n\n"
        "The model said rejected. The principal reasons, the weightiest first:\n\n"
        "1. [R07] Insufficient savings\n"
        '2. Job is "service"; in the variant for which the model says approved it is "office".\n\n'
        "The order was found by comparing this application with a variant of it for which the model"
        " says approved (62%; it was 31%): by how much the probability falls when that change alone"
        " is taken back. The reasons describe the model; they are not a promise.\n\n"
        "Also in that variant: ratio is 0.1 (it is 0.31 now). Expected to follow in that variant:"
        " credit score is 655 (it is 640 now).\n"
    )


def test_a_letter_for_a_row_without_reasons_says_why() -> None:
    letters = everything().reasons()
    assert "There is nothing to give reasons for." in letters.letter(1)
    assert samples.diagnosis().reason in letters.letter(2)
    assert "by the size of the change" in letters.letter(0)
    none = explanations(weighing(savings=0.0)).reasons()
    assert "no principal reason can be named" in none.letter(0)
    with pytest.raises(SearchError, match="row is 5; the result has the rows 0 to 4"):
        letters.letter(5)


@pytest.mark.parametrize("row", [None, "1", 1.5, True])
def test_a_letter_about_what_is_no_position_is_refused(row: Any) -> None:
    with pytest.raises(SearchError, match=r"row is .*; expected a whole number"):
        explanations(weighing(savings=0.2)).reasons().letter(row)


def test_a_letter_is_about_a_position_of_the_result() -> None:
    assert "Ratio is 0.5, too high" in everything()[4:].reasons().letter(0)


def test_frames_have_the_same_columns_with_and_without_reasons_and_in_other_libraries() -> None:
    full, empty = everything().reasons().frame(), explanations().reasons().frame()
    assert list(full.columns) == list(empty.columns)
    assert full.dtypes.equals(empty.dtypes)
    assert full.index.tolist() == ["ann", "eve"]
    frame = pl.from_pandas(people().reset_index(drop=True))
    assert isinstance(everything(frame=frame).reasons().frame(), pl.DataFrame)


def test_unknown_contributions_of_one_row_do_not_touch_the_others() -> None:
    result = everything()
    known = np.full((2, 8), 0.1, dtype=np.float64)
    first = with_columns(result[0], contributions=known)
    both = explanations(first, result[4]).reasons().frame()
    assert both["measure"].tolist() == ["probability", "distance"]


@pytest.mark.parametrize("count", [17, 18])
def test_a_letter_says_where_its_variant_is_not_robust(count: int) -> None:
    added = np.zeros((1, 8), dtype=np.float64)
    added[0, 0] = 0.31
    item = explanation(RAISE_SAVINGS, shared=ASKED, contributions=added, robustness=[count])
    letter = explanations(item).reasons().letter(0)
    told = (
        "That variant is not robust: it keeps its decision in 17 of 20 refits of the model on"
        " resampled rows; 90 of 100 were asked for"
    )
    assert (told in letter) == (count < 18)
    assert ("robust" in letter) == (count < 18)
