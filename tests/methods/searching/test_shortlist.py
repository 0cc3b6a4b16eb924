"""What is worth showing of what was found, and what is said where nothing is."""

import torch

from proce.methods.diagnosing.diagnosis import ClosestMiss, nearness_text
from proce.methods.searching.shortlist import alike, needless


def test_more_actions_for_nothing_are_needless() -> None:
    """Only the second acts on more than the first, costs more and is no likelier."""
    losses = torch.tensor(
        [
            [0.3, 1.0],  # savings
            [0.3, 1.5],  # savings and income, farther, as likely
            [0.2, 1.5],  # savings and income, likelier
            [0.3, 0.9],  # savings and debt, nearer
            [0.4, 1.6],  # debt alone: other features
        ]
    )
    by_hand = torch.tensor(
        [[1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=torch.bool
    )
    firm = torch.zeros(5)
    assert needless(losses, by_hand, firm).tolist() == [False, True, False, False, False]
    shaky = torch.tensor([0.1, 0.0, 0.0, 0.0, 0.0])  # savings alone may fail in a refit
    assert not needless(losses, by_hand, shaky).any()
    typicality = torch.tensor([0.9, 0.1, 0.9, 0.9, 0.9])  # of which the second has more
    assert not needless(torch.cat([losses, typicality[:, None]], 1), by_hand, firm).any()


def test_the_same_actions_are_never_needless() -> None:
    losses = torch.tensor([[0.3, 0.9, 1.0], [0.3, 0.9, 1.0]])
    assert not needless(losses, torch.ones(2, 3, dtype=torch.bool), torch.zeros(2)).any()
    nothing = torch.ones(0, 3, dtype=torch.bool)
    assert needless(losses[:0], nothing, torch.zeros(0)).shape == (0,)


def test_a_closest_miss_is_told_without_contradiction() -> None:
    def nearness(probability: float, needed: float) -> str:
        return nearness_text(ClosestMiss({}, probability), needed)

    assert nearness(0.3, 0.5) == " The closest candidate reaches 30%, where 50% is needed."
    assert "49.97%, where 50.00% is needed" in nearness(0.4997, 0.5)
    assert "likely enough (62%), but is not allowed" in nearness(0.62, 0.6)


def test_a_way_that_ends_nearly_where_a_closer_one_does_is_no_other_way() -> None:
    size = torch.tensor([[0.50, 0.0], [0.52, 0.0], [0.60, 0.0], [0.52, 0.1]])
    by_hand = torch.tensor([[1, 0], [1, 0], [1, 0], [1, 1]]).bool()
    distance, shortfall = torch.tensor([0.2, 0.1, 0.3, 0.4]), torch.zeros(4)
    assert alike(size, by_hand, distance, shortfall).tolist() == [True, False, False, False]
    shaky = torch.tensor([0.0, 0.1, 0.0, 0.0])  # the closer one holds in fewer refits
    assert alike(size, by_hand, distance, shaky).tolist() == [False, False, False, False]
