"""How sure advice is, as a person is told."""

from typing import Any

import pytest
import torch

from .. import samples
from ..samples import CHANGE_JOB, RAISE_SAVINGS, explanation, explanations

COUNTED = samples.context(n_refits=20)
LEARNED = samples.context(n_refits=20, n_graphs=50, origin="discovered by PC")


def told(*ways: Any, shared: Any = COUNTED, rank: int = 1, **columns: Any) -> list[str]:
    tensors = {name: torch.tensor(values) for name, values in columns.items()}
    return explanation(*ways, shared=shared, **tensors).sentences(rank)


def test_sure_advice_is_told_with_its_count() -> None:
    lines = told(RAISE_SAVINGS, refits=[20], confidence=[0.995])
    assert "It works in 20 of 20 refits of the equations." in lines
    assert not any("unsure" in line for line in lines)


def test_unsure_advice_says_so_plainly_and_how_unsure() -> None:
    lines = told(RAISE_SAVINGS, refits=[17], confidence=[0.838])
    place = lines.index("This is unsure: it works in 17 of 20 refits of the equations.")
    assert lines[place + 1] == (
        "Of 100 pieces of advice like it, about 84 would work, and no surer one was found."
    )
    assert sum("refits of the equations" in line for line in lines) == 1


def test_advice_that_holds_everywhere_by_little_is_unsure_too() -> None:
    lines = told(RAISE_SAVINGS, refits=[20], confidence=[0.93])
    assert (
        "This is unsure: it works in 20 of 20 refits of the equations, but in some of them only"
        " just." in lines
    )


def test_of_another_way_nothing_is_said_about_surer_ones() -> None:
    lines = told(RAISE_SAVINGS, RAISE_SAVINGS, refits=[20, 12], confidence=[0.99, 0.6], rank=2)
    assert "Of 100 pieces of advice like it, about 60 would work." in lines


def test_graphs_and_refits_are_told_in_one_sentence() -> None:
    lines = told(RAISE_SAVINGS, shared=LEARNED, support=[46], refits=[20], confidence=[0.99])
    assert (
        "It holds in 46 of 50 graphs learned from this data, and works in 20 of 20 refits of the"
        " equations." in lines
    )
    lines = told(RAISE_SAVINGS, shared=LEARNED, support=[12], refits=[20], confidence=[0.99])
    assert (
        "This is unsure: it holds in 12 of 50 graphs learned from this data, and works in 20 of 20"
        " refits of the equations." in lines
    )
    assert not any("pieces of advice" in line for line in lines)


def test_where_nothing_follows_the_equations_are_not_mentioned() -> None:
    assert not any("refits" in line for line in told(CHANGE_JOB, refits=[20], confidence=[1.0]))
    assert any("refits" in line for line in told(CHANGE_JOB, refits=[18], confidence=[0.86]))


def test_a_result_from_before_has_counts_alone() -> None:
    lines = told(RAISE_SAVINGS, refits=[9], shared=samples.context(n_refits=10))
    assert "It works in 9 of 10 refits of the equations." in lines


@pytest.mark.parametrize("chance", [0.99, 0.75])
def test_a_letter_says_where_its_variant_is_unsure(chance: float) -> None:
    added = torch.zeros(1, 8, dtype=torch.float64)
    added[0, 0] = 0.31
    item = explanation(
        RAISE_SAVINGS,
        shared=COUNTED,
        contributions=added,
        refits=torch.tensor([15]),
        confidence=torch.tensor([chance]),
    )
    letter = explanations(item).reasons().letter(0)
    unsure = "That variant is unsure: it works in 15 of 20 refits of the equations."
    assert (unsure in letter) == (chance < 0.98)
