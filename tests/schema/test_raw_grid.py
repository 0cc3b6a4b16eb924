"""Entries become raw units in the same way by rows, by features, by cells and by the kernel."""

import numpy as np
import pandas as pd
import torch
from hypothesis import given
from hypothesis import strategies as st

from proce.schema import Categorical, Codec, Continuous, Layout, Schema
from proce.schema.raw_grid import raw_cells
from proce.schema.round_trip import round_trip

FRAME = pd.DataFrame(
    {
        "tenths": [0.1, 0.7, 12.3],
        "hundreds": [-500.0, 1200.0, 99_900.0],
        "whole": [17.0, 40.0, 90.0],
        "any": [-1.0, 0.3, 1.0],
        "home": ["rents", "owns", "rents"],
    }
)
CODEC = Codec.fit(
    Schema(
        [
            Continuous("tenths", step=0.1),
            Continuous("hundreds", step=100),
            Continuous("whole", step=1),
            Continuous("any"),
            Categorical("home", ("rents", "owns")),
        ]
    ),
    FRAME,
)
NUMBERS = torch.arange(4)
COUNTS = st.integers(0, 999)


def entries_of(counts: list[int]) -> torch.Tensor:
    """Return rows on the grids, between them, and a hair beside them."""
    raw = torch.tensor([[k / 10, 100.0 * k - 500, float(k), k / 7, k % 2] for k in counts])
    rows = CODEC.to_unit(raw.double())
    beside = rows + torch.tensor([1e-13, 1e-9, 1e-4, 1e-2, 0.0])
    missing = rows.clone()
    missing[:, 0] = torch.nan
    return torch.cat([rows, beside, missing])


def test_a_value_that_is_off_the_grid_by_rounding_alone_comes_back_on_it() -> None:
    exact = torch.tensor([[0.2 / 12.2, 1_700 / 100_400, 23 / 73, 0.65, 1.0]], dtype=torch.float64)
    assert CODEC.to_raw(exact + 1e-15)[0, :3].tolist() == [0.3, 1200.0, 40.0]


@given(st.lists(COUNTS, min_size=1, max_size=6))
def test_rows_features_and_cells_agree_to_the_last_bit(counts: list[int]) -> None:
    rows = entries_of(counts)
    raw = CODEC.to_raw(rows)
    for position in range(4):
        by_feature = CODEC.raw_numbers(position, rows[:, position])
        assert np.array_equal(by_feature.numpy(), raw[:, position].numpy(), equal_nan=True)
    positions = NUMBERS.repeat(len(rows)).numpy()
    cells = raw_cells(CODEC.raw_units[positions], rows[:, :4].flatten().numpy())
    assert np.array_equal(cells, raw[:, :4].flatten().numpy(), equal_nan=True)


@given(st.lists(COUNTS, min_size=1, max_size=6))
def test_the_kernel_agrees_to_the_last_bit(counts: list[int]) -> None:
    rows = entries_of(counts)
    trip = round_trip(CODEC, Layout.of(FRAME))
    assert trip is not None
    elsewhere = torch.full_like(rows, 0.123)
    elsewhere[:, 4] = 0
    shown = trip.show(CODEC, rows, elsewhere, elsewhere, 1e4)
    assert shown is not None
    assert np.array_equal(shown[1].numpy(), CODEC.to_raw(rows).numpy(), equal_nan=True)
