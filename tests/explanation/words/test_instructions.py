"""Instructions: how far an action may go, against what, and for which rule."""

import math

import pytest

from proce.explanation import Change
from proce.explanation.words.cells import ChangedCell
from proce.explanation.words.instructions import further_text
from proce.schema import Codec, Continuous

from .. import samples
from ..samples import Way, explanation


@pytest.mark.parametrize(
    ("ends", "value", "instruction"),
    [
        ((3_400, 90_000, "high"), 3_500, "Raise savings from 2,000 to at least 3,500."),
        ((3_400, 9_000, "none"), 3_500, "Raise savings from 2,000 to between 3,500 and 9,000."),
        ((3_400, 3_500, "none"), 3_500, "Raise savings from 2,000 to 3,500, not more."),
        ((0, 1_100, "low"), 1_000, "Lower savings from 2,000 to at most 1,000."),
        ((0, 1_100, "low"), 0, "Lower savings from 2,000 to 0."),
        ((200, 1_100, "none"), 1_000, "Lower savings from 2,000 to between 200 and 1,000."),
        ((1_000, 1_100, "none"), 1_000, "Lower savings from 2,000 to 1,000, not less."),
    ],
)
def test_how_far_an_action_may_go_is_said_where_it_was_tried(
    ends: tuple[float, float, str], value: float, instruction: str
) -> None:
    told = explanation({"savings": ("action", value)}, intervals=samples.holds(savings=ends))
    assert told.sentences()[0] == instruction


def test_the_end_of_an_interval_is_rounded_into_it() -> None:
    way: Way = {"ratio": ("action", 0.41)}
    told = explanation(way, intervals=samples.holds(ratio=(0.4, 0.48888, "none")))
    assert told.sentences()[0] == "Raise ratio from 0.31 to between 0.41 and 0.488."


@pytest.mark.parametrize(
    ("way", "ends", "instruction"),
    [
        (
            {"amount": ("action", 26_000, 27_000)},
            (0, 26_000, "low"),
            "Keep amount at 26,000 or below (it is 25,500, and it would otherwise rise to 27,000).",
        ),
        (
            {"amount": ("action", 26_000, 27_000)},
            (25_700, 26_200, "none"),
            "Keep amount between 25,700 and 26,000"
            " (it is 25,500, and it would otherwise rise to 27,000).",
        ),
        (
            {"amount": ("action", 25_000, 24_000)},
            (24_500, 50_000, "high"),
            "Keep amount at 25,000 or above (it is 25,500, and it would otherwise fall to 24,000).",
        ),
        (
            {"amount": ("action", 28_000, 27_000)},
            (27_500, 50_000, "high"),
            "Raise amount from 25,500 to at least 28,000 (it would otherwise rise to 27,000).",
        ),
        (
            {"amount": ("action", 25_000, 27_000)},
            (0, 25_200, "low"),
            "Lower amount from 25,500 to at most 25,000 (it would otherwise rise to 27,000).",
        ),
    ],
)
def test_words_are_measured_against_where_a_feature_would_go_by_itself(
    way: Way, ends: tuple[float, float, str], instruction: str
) -> None:
    told = explanation(way, intervals=samples.holds(amount=ends))
    assert told.sentences()[0] == instruction


def test_a_level_that_would_change_by_itself_is_told_so() -> None:
    told = explanation({"job": ("action", "none", "office")})
    assert told.sentences()[0] == (
        'Change job from "service" to "none" (it would otherwise change to "office").'
    )
    raised = explanation({"education": ("action", "bachelor", "master")})
    assert raised.sentences()[0] == (
        'Keep education at "bachelor" (it is "school", and it would otherwise rise to "master").'
    )


def test_an_action_that_a_rule_asks_for_names_the_rule() -> None:
    rule = "cf.savings > x.savings => cf.education > x.education"
    way: Way = {"savings": ("action", 60_000), "education": ("action", "master")}
    shared = samples.context(rules=("cf.amount > 0", rule))
    told = explanation(way, shared=shared, asked_by=samples.asked_by(education=1)).sentences()
    assert f'Raise education from "school" to "master": the rule \'{rule}\' asks for it.' in told
    assert "Raise savings from 2,000 to 60,000." in told


def test_an_action_is_as_large_as_its_way_from_where_the_feature_would_go() -> None:
    """The amount moves by 500, but against a drift of 20,000; savings move by 10,000."""
    way: Way = {"savings": ("action", 12_000), "amount": ("action", 26_000, 46_000)}
    assert explanation(way).sentences()[0].startswith("Keep amount at 26,000")


def test_what_waits_is_told_apart_and_an_auditor_hears_of_arrows_that_were_cut() -> None:
    schema = samples.SCHEMA.edit("ratio", action="waits", unit="months")
    edges = (("savings", "sex"), ("savings", "ratio"), ("savings", "amount"))
    shared = samples.context(codec=Codec.fit(schema, samples.people()), edges=edges)
    told = explanation({"ratio": ("action", 0.81)}, shared=shared)
    assert told.sentences()[:2] == [
        "Wait 0.5 months (ratio 0.31 months to 0.81 months).",
        "If 0.5 months had passed, the model would have said approved (62%; it was 31%).",
    ]
    assert "Moved by time alone, by the schema: ratio." in told.sentences()
    arrows = (
        "The causal graph's arrows into what is fixed or waits were left out:"
        " sex (from savings) and ratio (from savings)."
    )
    assert arrows not in told.sentences()
    assert arrows in told.sentences(view="auditor")


@pytest.mark.parametrize(
    ("ends", "instruction"),
    [
        ((1.0, 1.0, "high"), "Wait at least 0.5 months"),
        ((0.7, 1.0, "none"), "Wait 0.5 to 0.69 months"),
        ((0.81, 0.81, "none"), "Wait 0.5 months, not longer"),
    ],
)
def test_how_long_to_wait_is_said_where_it_was_tried(
    ends: tuple[float, float, str], instruction: str
) -> None:
    schema = samples.SCHEMA.edit("ratio", action="waits", unit="months")
    shared = samples.context(codec=Codec.fit(schema, samples.people()))
    told = explanation(
        {"ratio": ("action", 0.81)}, shared=shared, intervals=samples.holds(ratio=ends)
    )
    assert told.sentences()[0] == f"{instruction} (ratio 0.31 months to 0.81 months)."


@pytest.mark.parametrize(
    ("after", "interval", "goes_further"),
    [
        (3_500.0, (2_600.0, 9_000.0), True),
        (3_500.0, (3_500.0, 9_000.0), False),
        (500.0, (0.0, 1_500.0), True),
        (500.0, (0.0, 500.0), False),
        (3_500.0, (math.nan, math.nan), False),
    ],
)
def test_advice_that_goes_beyond_the_decision_says_why(
    after: float, interval: tuple[float, float], goes_further: bool
) -> None:
    feature = Continuous("savings", step=100)
    cell = ChangedCell(0, feature, Change.ACTION, 2_000.0, after, math.nan, 0.1, *interval)
    assert ("be surer to work" in further_text(cell)) == goes_further


def test_a_feature_that_may_rise_to_one_value_only_is_let_rise_there() -> None:
    """Not kept at 26,000, where it never was, and not more or less than that."""
    ends = samples.holds(amount=(26_000, 26_000, "none"))
    told = explanation({"amount": ("action", 26_000, 27_000)}, intervals=ends).sentences()[0]
    assert told == (
        "Let amount rise to 26,000 only (it is 25,500, and it would otherwise rise to 27,000)."
    )


def test_a_value_next_to_the_present_one_is_kept_near_it() -> None:
    """Forty-odd units of a range of fifty thousand are no change that anybody would name."""
    ends = samples.holds(amount=(25_400, 25_520, "none"))
    cells = explanation({"amount": ("action", 25_520, 27_000)}, intervals=ends).sentences()[0]
    assert cells.startswith("Keep amount near 25,500, between 25,400 and 25,520, although")
