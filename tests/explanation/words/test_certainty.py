"""How sure advice is, as a person is told."""

import math
from typing import Any

import numpy as np
import pytest

from proce.explanation import Explanations

from .. import samples
from ..samples import CHANGE_JOB, RAISE_SAVINGS, explanation, explanations, people

COUNTED = samples.context(n_refits=20)
LEARNED = samples.context(n_refits=20, n_graphs=50, origin="discovered by PC")


def told(*ways: Any, shared: Any = COUNTED, rank: int = 1, **columns: Any) -> list[str]:
    arrays = {name: np.array(values) for name, values in columns.items()}
    return explanation(*ways, shared=shared, **arrays).sentences(rank)


IF_RIGHT = "if the arrows of the causal graph are right"


def test_sure_advice_is_told_with_its_count_and_what_that_rests_on() -> None:
    lines = told(RAISE_SAVINGS, refits=[20], confidence=[0.995])
    assert f"It works in 20 of 20 refits of the equations, {IF_RIGHT}." in lines
    assert not any("unsure" in line for line in lines)


@pytest.mark.parametrize("refits", [17, 20])
def test_unsure_advice_says_so_plainly_and_with_one_number(refits: int) -> None:
    lines = told(RAISE_SAVINGS, refits=[refits], confidence=[0.838])
    assert (
        f"This advice is unsure: about 84 of 100 such pieces of advice would work,"
        f" {IF_RIGHT}, and no"
        " clearly surer one was found." in lines
    )
    assert not any("refits" in line for line in lines)


def test_of_another_way_nothing_is_said_about_surer_ones() -> None:
    lines = told(RAISE_SAVINGS, RAISE_SAVINGS, refits=[20, 12], confidence=[0.99, 0.6], rank=2)
    assert (
        f"This advice is unsure: about 60 of 100 such pieces of advice would work, {IF_RIGHT}."
        in lines
    )


def test_graphs_and_refits_are_told_in_one_sentence() -> None:
    lines = told(RAISE_SAVINGS, shared=LEARNED, support=[46], refits=[20], confidence=[0.99])
    assert (
        "It holds in 46 of 50 graphs learned from this data, and works in 20 of 20 refits of the"
        f" equations, {IF_RIGHT}." in lines
    )


def test_few_graphs_make_advice_unsure() -> None:
    lines = told(RAISE_SAVINGS, shared=LEARNED, support=[12], refits=[20], confidence=[0.99])
    assert "This advice is unsure: it holds in 12 of 50 graphs learned from this data." in lines
    assert not any("pieces of advice" in line for line in lines)
    lines = told(RAISE_SAVINGS, shared=LEARNED, support=[12], refits=[15], confidence=[0.7])
    assert sum("unsure" in line for line in lines) == 1
    assert "It holds in 12 of 50 graphs learned from this data." in lines


UNKNOWN_SCHOOL = people()
UNKNOWN_SCHOOL["education"] = UNKNOWN_SCHOOL["education"].where(UNKNOWN_SCHOOL.index != "ann", None)
STUDY_TOO = samples.context(n_refits=20, edges=(*samples.EDGES, ("education", "credit_score")))


@pytest.mark.parametrize("chances", [[0.99, math.nan], [math.nan, math.nan]])
def test_where_a_missing_cell_hides_what_follows_that_is_said(chances: list[float]) -> None:
    counted = {"refits": np.array([20, 20]), "confidence": np.array(chances)}
    item = explanation(
        CHANGE_JOB,
        {"savings": ("action", 3_500)},
        shared=STUDY_TOO,
        frame=UNKNOWN_SCHOOL,
        **counted,
    )
    unknown = (
        "How sure this advice is cannot be told: education is missing, and what"
        " would follow depends on"
        " it."
    )
    lines = item.sentences(2)
    assert unknown in lines
    assert not any("refits" in line for line in lines)
    assert unknown not in item.sentences(1)  # nothing follows from another job


def test_a_chance_that_is_not_known_stays_so_in_tables_and_json() -> None:
    item = explanation(
        CHANGE_JOB,
        {"savings": ("action", 3_500)},
        shared=COUNTED,
        refits=[20, 20],
        confidence=[math.nan, 0.99],
    )
    result = explanations(item)
    again = Explanations.from_json(result.to_json())
    for one in (result, again):
        assert one.outcomes()["confidence"].isna().tolist() == [True]
        assert one.changes()["confidence"].isna().tolist() == [True, False]
    assert again.to_json() == result.to_json()


def test_where_nothing_follows_the_equations_are_not_mentioned() -> None:
    assert not any("refits" in line for line in told(CHANGE_JOB, refits=[20], confidence=[1.0]))
    assert any("about 86 of" in line for line in told(CHANGE_JOB, refits=[18], confidence=[0.86]))
    assert any("refits" in line for line in told(CHANGE_JOB, refits=[20], confidence=[0.99]))


def test_a_result_from_before_has_counts_alone() -> None:
    lines = told(RAISE_SAVINGS, refits=[9], shared=samples.context(n_refits=10))
    assert f"It works in 9 of 10 refits of the equations, {IF_RIGHT}." in lines


@pytest.mark.parametrize("chance", [0.99, 0.75])
def test_a_letter_says_where_its_variant_is_unsure(chance: float) -> None:
    added = np.zeros((1, 8), dtype=np.float64)
    added[0, 0] = 0.31
    item = explanation(
        RAISE_SAVINGS,
        shared=COUNTED,
        contributions=added,
        refits=[15],
        confidence=[chance],
    )
    letter = explanations(item).reasons().letter(0)
    unsure = f"That variant is unsure: about 75 of 100 such pieces of advice would work, {IF_RIGHT}"
    assert (unsure in letter) == (chance < 0.98)
