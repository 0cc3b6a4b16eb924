"""Do counterfactuals lie where people of the target class are?"""

import math

import pandas as pd
import pytest
import torch

from proce.metrics import Neighbourhood
from proce.schema import Codec, Continuous, Schema

FRAME = pd.DataFrame({"x": [0.0, 1, 2, 2, 1]})  # 0, 1/2 and 1 on the unit range, two of them twice
CODEC = Codec.fit(Schema([Continuous("x")]), FRAME)
ONES = torch.ones(5, dtype=torch.long)


def column(*values) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]


def around(predicted=ONES, n_classes=2) -> Neighbourhood:
    return Neighbourhood.fit(CODEC, CODEC.encode(FRAME), predicted, n_classes)


def test_the_nearest_row_of_the_target_is_that_by_gowers_distance():
    rows, target = column(0.6, 1.5, 0.0), torch.ones(3, dtype=torch.long)
    assert around().nearest(rows, target).tolist() == pytest.approx([0.1, 0.5, 0])


def test_only_rows_that_the_model_puts_in_the_target_count():
    predicted = torch.tensor([1, 0, 0, 0, 0])
    both = around(predicted).nearest(column(0.9, 0.9), torch.tensor([1, 0]))
    assert both.tolist() == pytest.approx([0.9, 0.1])


def test_the_outlier_factor_of_a_row_outside_worked_out_by_hand():
    # Two neighbours each. Reaches: of 0, max(1/2, 1/2) and max(1, 1); of 1/2, 1 and 1; of 1 as of
    # 0. Densities 4/3, 1, 4/3. The row at 3/2 has reaches max(1, 1/2) and max(1/2, 1): density 1.
    factor = around().outlier_factor(column(1.5), torch.ones(1, dtype=torch.long))
    assert factor.item() == pytest.approx((4 / 3 + 1) / 2 / 1)


def test_the_outlier_factor_agrees_with_its_definition():
    draw = torch.Generator().manual_seed(0)
    members = torch.rand(60, 1, generator=draw).double()
    rows = torch.rand(9, 1, generator=draw).double() * 2
    neighbourhood = Neighbourhood.fit(CODEC, members, torch.ones(60, dtype=torch.long), 2)
    factors = neighbourhood.outlier_factor(rows, torch.ones(9, dtype=torch.long))
    points = members.flatten().tolist()

    def neighbours(x, others):
        return sorted((abs(x - other), other) for other in others)[:20]

    def others_of(x):
        return [point for point in points if point != x]

    def density(x, others):
        reaches = [max(neighbours(o, others_of(o))[-1][0], d) for d, o in neighbours(x, others)]
        return len(reaches) / sum(reaches)

    for x, factor in zip(rows.flatten().tolist(), factors.tolist(), strict=True):
        near = [density(o, others_of(o)) for _, o in neighbours(x, points)]
        assert factor == pytest.approx(sum(near) / 20 / density(x, points), rel=1e-6)


def test_people_with_the_same_values_do_not_make_a_place_infinitely_dense():
    many = torch.cat([CODEC.encode(FRAME)] * 50)
    crowd = Neighbourhood.fit(CODEC, many, torch.ones(250, dtype=torch.long), 2)
    one, two = torch.ones(1, dtype=torch.long), column(1.5)
    assert crowd.outlier_factor(two, one).item() == around().outlier_factor(two, one).item()


def test_more_rows_than_the_limit_are_drawn_by_seed():
    rows = torch.rand(200, 1, generator=torch.Generator().manual_seed(0)).double()
    ones = torch.ones(200, dtype=torch.long)
    query = column(0.2, 1.3), torch.ones(2, dtype=torch.long)
    first, again, other = (
        Neighbourhood.fit(CODEC, rows, ones, 2, seed=seed, max_rows=30).outlier_factor(*query)
        for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_class_without_rows_has_no_neighbourhood():
    nobody = torch.zeros(1, dtype=torch.long)
    assert math.isnan(around().nearest(column(0.5), nobody).item())
    assert math.isnan(around().outlier_factor(column(0.5), nobody).item())
