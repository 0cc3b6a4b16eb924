"""What would follow from a change that somebody has in mind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import CausalGraph, ProCE, SchemaError
from proce.causal import StructuralCausalModel
from proce.methods.what_if import forbidden_by_schema
from proce.schema import Action, Codec, Continuous, Schema

from ...worlds import SCHEMA, TINY, bank, lenient_bank, logistic, one, people

SCHOOL_TO_PAY = Schema(
    [
        Continuous("years", step=1),
        Continuous("pay", step=1, action=Action.INDIRECT),
        Continuous("rent", step=1),
    ]
)


def workers(n: int = 200) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    years = draw.integers(0, 20, n)
    pay = 10 + 2 * years + draw.integers(-3, 4, n)
    return pd.DataFrame({"years": years, "pay": pay, "rent": pay // 2 + draw.integers(0, 3, n)})


def by_rent(frame: pd.DataFrame) -> Any:
    return logistic(frame["rent"] - 15)


@pytest.fixture(scope="module")
def worker_explainer() -> ProCE:
    """Pay rises by two a year, rent by half of the pay: the equations are given."""
    graph = CausalGraph([("years", "pay"), ("pay", "rent")])
    codec = Codec.fit(SCHOOL_TO_PAY, workers())
    equations: dict[str, Callable[[Any], Any]] = {
        "pay": lambda causes: 10 + 2 * causes["years"],
        "rent": lambda causes: causes["pay"] / 2,
    }
    scm = StructuralCausalModel.fit(
        graph, codec.encode(workers()), codec, equations=equations, seed=0
    )
    rules = ["cf.rent <= 20"]
    return ProCE(by_rent, SCHOOL_TO_PAY, graph=scm, rules=rules, settings=TINY).fit(workers())


ROW = pd.DataFrame({"years": [5], "pay": [21], "rent": [11]}, index=["ann"])


def test_consequences_follow_by_the_equations(worker_explainer: ProCE) -> None:
    """Two years more: four more pay, two more rent; the person's own noise stays."""
    told = worker_explainer.what_if(ROW, {"years": 7})
    assert told.frame.to_dict("list") == {"years": [7], "pay": [25], "rent": [13]}
    assert dict(told.consequences) == {"pay": (21, 25), "rent": (11, 13)}
    assert list(told.frame.index) == ["ann"]
    assert told.frame.dtypes.tolist() == ROW.dtypes.tolist()


def test_the_new_decision_and_its_probabilities(worker_explainer: ProCE) -> None:
    told = worker_explainer.what_if(ROW, {"years": 15})
    assert (told.before, told.after) == (0, 1)
    assert told.probabilities == pytest.approx(dict(enumerate(by_rent(told.frame)[0])))


def test_rules_that_break_are_named(worker_explainer: ProCE) -> None:
    assert worker_explainer.what_if(ROW, {"years": 7}).broken == ()
    assert worker_explainer.what_if(ROW, {"rent": 30}).broken == ("cf.rent <= 20",)


def test_what_is_set_is_not_moved_by_its_causes(worker_explainer: ProCE) -> None:
    told = worker_explainer.what_if(ROW, {"years": 7, "pay": 21})
    assert told.frame.to_dict("list") == {"years": [7], "pay": [21], "rent": [11]}


def test_what_nobody_can_act_on_can_be_asked_about_and_is_noted(worker_explainer: ProCE) -> None:
    """Its effects follow all the same."""
    told = worker_explainer.what_if(ROW, {"pay": 29})
    assert told.frame.to_dict("list") == {"years": [5], "pay": [29], "rent": [15]}
    assert told.broken == ("pay is indirect: nobody can act on it.",)


def test_without_changes_nothing_changes(worker_explainer: ProCE) -> None:
    told = worker_explainer.what_if(ROW, {})
    pd.testing.assert_frame_equal(told.frame, ROW)
    assert told.before == told.after
    assert told.consequences == {}


def test_without_a_graph_nothing_follows() -> None:
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    told = explainer.what_if(one(), {"savings": 90, "school": "high"})
    pd.testing.assert_frame_equal(told.frame, one(savings=90, school="high"))
    assert told.consequences == {}
    assert (told.before, told.after) == (0, 1)


class TestLimits:
    """What the schema forbids can be asked about, and is named."""

    @pytest.mark.parametrize(
        ("changes", "broken"),
        [
            ({"savings": 50}, ()),
            ({"savings": -5}, ("savings must be between 0 and 100, not −5.",)),
            (
                {"age": 10},
                (
                    "age may only rise: from 40 it cannot fall to 10.",
                    "age must be between 18 and 90, not 10.",
                ),
            ),
            ({"age": 39}, ("age may only rise: from 40 it cannot fall to 39.",)),
            ({"debt": 41}, ("debt may only fall: from 40 it cannot rise to 41.",)),
            ({"home": "owns"}, ("home is fixed: it cannot change.",)),
            ({"home": "rents", "age": 40, "savings": 20}, ()),
        ],
    )
    def test_each_limit_has_a_sentence(
        self, banker: ProCE, changes: dict[str, Any], broken: tuple[str, ...]
    ) -> None:
        told = banker.what_if(one(), changes)
        assert told.broken == broken
        pd.testing.assert_frame_equal(told.frame, one(**changes))
        assert told.probabilities[1] == bank(told.frame)[0, 1]

    def test_protected_features_and_avoided_levels(self) -> None:
        schema = SCHEMA.edit("age", protected=True).edit("school", avoid=["none"])
        explainer = ProCE(bank, schema=schema, settings=TINY).fit(people())
        told = explainer.what_if(one(), {"age": 50, "school": "none"})
        assert told.broken == (
            "age is protected: nobody is asked to change it.",
            'school is never advised to be "none".',
        )

    def test_rules_come_first(self, worker_explainer: ProCE) -> None:
        broken = worker_explainer.what_if(ROW, {"pay": 90}).broken
        assert broken[0] == "cf.rent <= 20"
        assert broken[1].startswith("pay is indirect")

    def test_a_consequence_that_breaks_a_limit_is_named(self) -> None:
        """Debt follows savings downwards, and may only rise."""
        frame = people().assign(debt=lambda f: 100 - f["savings"])
        schema = SCHEMA.edit("debt", action=Action.INCREASE)
        explainer = ProCE(bank, schema, graph=[("savings", "debt")], settings=TINY).fit(frame)
        told = explainer.what_if(one(savings=20, debt=80), {"savings": 60})
        assert told.consequences["debt"][1] < 80
        assert told.broken == (
            f"debt may only rise: from 80 it cannot fall to {told.consequences['debt'][1]}.",
        )

    def test_a_value_off_the_step_is_judged_as_given_and_then_rounded(self) -> None:
        schema = SCHEMA.edit("savings", step=10)
        explainer = ProCE(bank, schema=schema, settings=TINY).fit(people())
        told = explainer.what_if(one(), {"savings": 43})
        assert told.frame["savings"].tolist() == [40]
        assert told.notes == ("savings goes in steps of 10: 43 was rounded to 40.",)
        outside = explainer.what_if(one(), {"savings": 102})
        assert outside.broken == ("savings must be between 0 and 100, not 102.",)
        assert outside.frame["savings"].tolist() == [100]

    def test_a_value_that_no_training_row_has_is_noted(self, banker: ProCE) -> None:
        told = banker.what_if(one(), {"age": 89})
        assert told.broken == ()
        assert "in all training rows: what the model says beyond is a guess" in told.notes[0]


def test_columns_that_are_no_features_are_ignored(worker_explainer: ProCE) -> None:
    told = worker_explainer.what_if(ROW.assign(customer="A7"), {"years": 7})
    assert told.frame.to_dict("list") == {"years": [7], "pay": [25], "rent": [13]}
    assert list(told.frame.index) == ["ann"]


def test_a_missing_cell_stays_missing() -> None:
    frame = people().astype({"savings": float})
    frame.loc[::7, "savings"] = np.nan

    explainer = ProCE(lenient_bank, schema=SCHEMA, settings=TINY).fit(frame)
    told = explainer.what_if(frame.iloc[[0]], {"debt": 0})
    assert told.frame["savings"].isna().all()
    assert told.frame["debt"].tolist() == [0]


def test_the_frame_is_not_written_into(worker_explainer: ProCE) -> None:
    kept = ROW.copy(deep=True)
    worker_explainer.what_if(ROW, {"years": 7})
    pd.testing.assert_frame_equal(ROW, kept)


@pytest.mark.parametrize(
    ("row", "changes", "message"),
    [
        (ROW, {"yaers": 7}, "unknown feature 'yaers'.* Did you mean 'years'"),
        (ROW, {"years": "many"}, "'years' is a number; got 'many'"),
        (ROW, {"years": None}, "'years' is a number; got None"),
        (ROW, {"years": float("nan")}, "'years' is a number; got nan"),
        (pd.concat([ROW, ROW]), {"years": 7}, "takes one row; the frame has 2"),
        (ROW.drop(columns="pay"), {"years": 7}, "lacks the column 'pay'"),
    ],
)
def test_a_wrong_question_says_what_is_wrong(
    worker_explainer: ProCE, row: Any, changes: Any, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        worker_explainer.what_if(row, changes)


def forbidden(codec: Codec, *, by_hand: bool, **ends: float) -> tuple[str, ...]:
    """Return what is said against features that begin at the middle of the unit range."""
    factual = np.full(len(codec.schema), 0.5)
    asked, positions = factual.copy(), [codec.schema.position(name) for name in ends]
    asked[positions] = [codec.encode_value(name, end) for name, end in ends.items()]
    return tuple(forbidden_by_schema(codec, factual, asked, positions if by_hand else []))


def test_what_is_lost_on_the_way_to_a_frame_breaks_no_limit() -> None:
    schema = Schema([Continuous("rent", (0.0, 0.3)), Continuous("pay", action="increase")])
    codec = Codec.fit(schema, pd.DataFrame({"rent": [0.0, 0.3], "pay": [0.0, 1.0]}))
    for by_hand in (False, True):
        assert forbidden(codec, by_hand=by_hand, rent=0.1 + 0.2) == ()
        assert forbidden(codec, by_hand=by_hand, rent=0.3 + 1e-7) == ()
        assert forbidden(codec, by_hand=by_hand, pay=0.5 - 1e-7) == ()
        (text,) = forbidden(codec, by_hand=by_hand, rent=0.300001)
        assert text == "rent must be between 0 and 0.3, not 0.300001."
        (text,) = forbidden(codec, by_hand=by_hand, pay=0.499998)
        assert text == "pay may only rise: from 0.5 it cannot fall to 0.499998."


def test_a_consequence_is_judged_as_it_is_in_a_search() -> None:
    """It may end on an avoided level, and not where no training row is."""
    schema = Schema([Continuous("pay", (0, 100)), Continuous("debt"), SCHEMA["school"]]).edit(
        "school", avoid=["none"]
    )
    frame = pd.DataFrame({"pay": [10, 60.0], "debt": [10, 60.0], "school": ["none", "high"]})
    codec = Codec.fit(schema, frame)
    assert forbidden(codec, by_hand=False, school="none") == ()
    assert forbidden(codec, by_hand=True, school="none") == (
        'school is never advised to be "none".',
    )
    for name in ("pay", "debt"):
        assert forbidden(codec, by_hand=True, **{name: 70}) == ()
        assert forbidden(codec, by_hand=False, **{name: 70}) == (
            f"{name} would follow to 70, but in all training rows it is 10 to 60.",
        )
    for by_hand in (False, True):
        assert forbidden(codec, by_hand=by_hand, pay=101) == (
            "pay must be between 0 and 100, not 101.",
        )


def test_a_value_for_a_missing_cell_obeys_the_range_too() -> None:
    schema = Schema([Continuous("pay", (0, 100), action="increase"), SCHEMA["school"]])
    codec = Codec.fit(schema, pd.DataFrame({"pay": [10, 60.0], "school": ["none", "high"]}))
    missing = np.array([np.nan, -1.0])
    for pay, broken in ((50, ()), (-5, ("pay must be between 0 and 100, not −5.",))):
        ends = np.array([codec.encode_value("pay", pay), 1.0])
        assert tuple(forbidden_by_schema(codec, missing, ends, [0, 1])) == broken
