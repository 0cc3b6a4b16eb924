"""Which candidates no other dominates."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from proce.search import non_dominated

LOSS = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)


def numbers(rows) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64).reshape(-1, 3)


def test_a_candidate_is_dominated_by_one_that_is_no_worse_and_somewhere_better():
    losses = numbers([[1, 1, 1], [1, 1, 2], [0, 2, 2], [1, 1, 1], [2, 2, 2]])
    assert non_dominated(losses).tolist() == [True, False, True, True, False]


def test_instances_are_compared_with_themselves_alone():
    losses = torch.stack([numbers([[1, 1, 1], [2, 2, 2]]), numbers([[3, 3, 3], [0, 0, 0]])])
    assert non_dominated(losses).tolist() == [[True, False], [False, True]]


@given(st.lists(st.tuples(LOSS, LOSS, LOSS), max_size=12))
def test_the_front_agrees_with_a_loop(losses):
    def dominates(one, other) -> bool:
        pairs = list(zip(one, other, strict=True))
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    expected = [not any(dominates(other, row) for other in losses) for row in losses]
    assert non_dominated(numbers(losses)).tolist() == expected
