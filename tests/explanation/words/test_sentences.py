"""Sentences: what to do, the contrast, what follows, what to know."""

import pytest

from proce.errors import SearchError
from proce.explanation import Outcome
from proce.explanation.words.sentences import _assumed, common_lines, lines
from proce.schema import Action, Codec

from .. import samples
from ..samples import CHANGE_JOB, RAISE_SAVINGS, Way, explanation


def test_an_explanation_in_full() -> None:
    assert explanation(RAISE_SAVINGS, CHANGE_JOB).sentences() == [
        "Raise savings from 2,000 to 3,500.",
        "Keep amount at 25,500, although the other change alone would raise it to 27,000.",
        "If savings had been 3,500 and amount had stayed at 25,500, with what follows from them,"
        " the model would have said approved (62%; it was 31%).",
        "This would likely also raise credit score from 640 to 655: expected, not something to do.",
        "This assumes that savings affects credit score and amount.",
        "Held fixed by the schema: sex.",
        "Never acted on, by the schema, but may follow: credit score.",
        "1 other way was found.",
        "This describes what the model says at these values; it is not a promise."
        " The causal graph was given by a person, not learned.",
    ]


@pytest.mark.parametrize(
    ("parts", "goes_on", "told"),
    [
        (["a affects b"], False, "a affects b"),
        (["a affects b", "c affects d"], False, "a affects b, and that c affects d"),
        (
            ["a affects b", "c affects d", "e affects f"],
            False,
            "a affects b, that c affects d, and that e affects f",
        ),
        (["a affects b", "c affects d"], True, "a affects b, that c affects d"),
    ],
)
def test_what_is_assumed_is_a_list_with_one_end(parts: list[str], goes_on: bool, told: str) -> None:
    assert _assumed(parts, goes_on) == told


def test_another_way_can_be_told_by_its_rank() -> None:
    told = explanation(RAISE_SAVINGS, CHANGE_JOB)
    assert told.sentences(2)[:2] == [
        'Change job from "service" to "office".',
        'If job had been "office", the model would have said approved (72%; it was 31%).',
    ]
    assert not any("other way" in line for line in told.sentences(2))
    with pytest.raises(SearchError, match="rank is 3; row 0 has the counterfactuals 1 to 2"):
        told.sentences(3)


@pytest.mark.parametrize(
    ("way", "instruction"),
    [
        ({"savings": ("action", 1_000)}, "Lower savings from 2,000 to 1,000."),
        ({"education": ("action", "master")}, 'Raise education from "school" to "master".'),
        ({"owns_car": ("action", True)}, "Change owns car from false to true."),
        ({"ratio": ("action", 0.41)}, "Raise ratio from 0.31 to 0.41."),
        ({"amount": ("hold", 25_500)}, "Keep amount at 25,500, although what affects it changes."),
        (
            {"job": ("hold", "service", "office")},
            'Keep job at "service", although it would otherwise change to "office".',
        ),
        (
            {"education": ("hold", "school", "bachelor")},
            'Keep education at "school", although it would otherwise rise to "bachelor".',
        ),
    ],
)
def test_an_action_is_an_instruction_in_raw_units(way: Way, instruction: str) -> None:
    assert explanation(way).sentences()[0] == instruction


def test_the_largest_action_comes_first_and_effort_counts() -> None:
    """Savings move by 1,500 of 90,000, the ratio by a tenth of its range."""
    way: Way = {"savings": ("action", 3_500), "ratio": ("action", 0.41)}
    assert explanation(way).sentences()[0].startswith("Raise ratio")
    hard = samples.context(effort={"savings": 10.0})
    assert explanation(way, shared=hard).sentences()[0].startswith("Raise savings")


def test_every_action_is_told() -> None:
    way: Way = {
        "savings": ("action", 50_000),
        "ratio": ("action", 0.9),
        "education": ("action", "master"),
        "job": ("action", "none"),
        "owns_car": ("action", True),
        "amount": ("action", 25_000),
    }
    told = explanation(way).sentences()
    assert {sentence.split()[1] for sentence in told[:6]} == {
        *("savings", "ratio", "education", "job", "owns", "amount")
    }
    assert told[6].startswith("If all 6 changes had been made, the model would have said approved")


def test_a_learned_graph_makes_consequences_a_guess() -> None:
    learned = samples.context(origin="discovered by LiNGAM", n_graphs=50)
    told = explanation(RAISE_SAVINGS, shared=learned, support=[46]).sentences()
    assert (
        "This may also raise credit score from 640 to about 655: expected if the graph learned"
        " from the data is right, not something to do." in told
    )
    assert "It holds in 46 of 50 graphs learned from this data." in told
    assert told[-1].endswith(
        "The causal graph was learned from data (discovered by LiNGAM) and may be wrong."
    )


def test_without_a_graph_the_caution_says_what_is_left_out() -> None:
    told = explanation(CHANGE_JOB, shared=samples.context(edges=(), origin=None)).sentences()
    assert told[-1].endswith(
        "Without a causal graph, what else would change with them is left out."
    )


def test_many_consequences_are_cut() -> None:
    way: Way = {
        "savings": ("action", 3_500),
        "ratio": ("consequence", 0.5),
        "education": ("consequence", "master"),
        "job": ("consequence", "office"),
        "owns_car": ("consequence", True),
        "credit_score": ("consequence", 655),
    }
    told = explanation(way).sentences()
    assert sum("expected, not something to do" in line for line in told) == 4
    assert "It would likely also move credit score." in told


def test_it_says_what_this_request_allowed() -> None:
    asked = samples.context(
        vary=("savings", "job"), ranges={"amount": (0, 20_000), "education": ("school", "master")}
    )
    told = explanation(CHANGE_JOB, shared=asked).sentences()
    assert "Only these could be acted on, by this request: savings and job." in told
    assert "Kept at 20,000 or below by this request: amount." in told
    assert 'Kept between "school" and "master" by this request: education.' in told


def test_a_narrow_pass_is_called_one() -> None:
    told = explanation(CHANGE_JOB, margin_met=False, probabilities=[0.52])
    assert (
        "This is a narrow pass: 52%, where 60% was aimed for and could not be had."
        " A small difference can undo it." in told.sentences()
    )
    three = samples.context(classes=("no", "maybe", "yes"))
    assert (
        "This is a narrow pass: the margin beyond the decision could not be had."
        " A small difference can undo it."
        in explanation(CHANGE_JOB, margin_met=False, shared=three).sentences()
    )


def test_probabilities_that_round_to_the_same_get_a_decimal() -> None:
    told = explanation(CHANGE_JOB, probability=0.496, probabilities=[0.504])
    assert "(50.4%; it was 49.6%)" in told.sentences()[1]


def test_notes_are_passed_on() -> None:
    note = "Missing, and so left as it is: ratio."
    assert note in explanation(CHANGE_JOB, notes=(note,)).sentences()
    assert note in explanation(notes=(note,)).sentences()


def test_already_there() -> None:
    told = explanation(outcome=Outcome.ALREADY_TARGET, probability=0.71, predicted=1)
    assert told.sentences() == ["The model already says approved (71%): nothing needs to change."]


def test_nothing_found_gives_the_diagnosis() -> None:
    told = explanation(diagnosis=samples.diagnosis()).sentences()
    assert told[0] == "Nothing was found: the rule 'cf.amount >= 3000' stands in the way."
    assert told[-1].endswith("it does not prove that there is no way.")
    assert explanation().sentences()[0] == (
        "No change was found for which the model says approved."
    )


def test_out_of_time_with_and_without_a_counterfactual() -> None:
    nothing = explanation(outcome=Outcome.OUT_OF_TIME).sentences()
    assert nothing[0] == "The time ran out before a change was found for approved: allow more time."
    something = explanation(CHANGE_JOB, outcome=Outcome.OUT_OF_TIME).sentences()
    assert something[0].startswith("Change job")
    assert "The time ran out during the search: there may be a shorter way." in something


def test_a_missing_cell_that_is_set_says_so() -> None:
    frame = samples.people().astype({"ratio": "float64"})
    frame.loc["ann", "ratio"] = float("nan")
    told = explanation({"ratio": ("action", 0.25)}, frame=frame).sentences()
    assert told[0] == "Set ratio to 0.25; it is missing now."


def test_a_schema_that_fixes_nothing_says_nothing_of_it() -> None:
    free = samples.SCHEMA.edit(["sex", "credit_score"], action=Action.FREE)
    shared = samples.context(codec=Codec.fit(free, samples.people()))
    told = explanation(CHANGE_JOB, shared=shared).sentences()
    assert not any("schema" in line for line in told)


def test_what_several_rows_share_is_found_once() -> None:
    note = "Missing, and so left as it is: ratio."
    first, second = explanation(RAISE_SAVINGS, notes=(note,)), explanation(CHANGE_JOB, row=1)
    common = common_lines([lines(first), lines(second)])
    assert [line.text for line in common] == [
        "Held fixed by the schema: sex.",
        "Never acted on, by the schema, but may follow: credit score.",
        "This describes what the model says at these values; it is not a promise."
        " The causal graph was given by a person, not learned.",
    ]
    both = [lines(first), lines(explanation(CHANGE_JOB, row=1, notes=(note,)))]
    assert note in [line.text for line in common_lines(both)]
    assert common_lines([lines(first)]) == []


def test_printing_sets_consequences_apart() -> None:
    told = explanation(RAISE_SAVINGS)
    assert [line.kind for line in lines(told)][:4] == [
        "action",
        "action",
        "contrast",
        "consequence",
    ]
    assert "\n  This would likely also raise credit score" in str(told)
    assert repr(told) == "Explanation(row 0, found, 1 counterfactual)"
