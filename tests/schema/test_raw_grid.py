"""Entries become raw units in the same way by rows, by features, by cells and by the kernel."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from proce.arrays import Array
from proce.compiled.cells import on_grid
from proce.compiled.kernel import kernel
from proce.schema import Categorical, Codec, Continuous, Schema
from proce.schema.codec import entries_on_step, on_step, raw_cells

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
NUMBERS = np.arange(4)
COUNTS = st.integers(0, 999)


def entries_of(counts: list[int]) -> Array:
    """Return rows on the grids, between them, and a hair beside them."""
    raw = np.array([[k / 10, 100.0 * k - 500, float(k), k / 7, k % 2] for k in counts])
    rows = CODEC.to_unit(raw.astype(np.float64))
    beside = rows + np.array([1e-13, 1e-9, 1e-4, 1e-2, 0.0])
    missing = rows.copy()
    missing[:, 0] = np.nan
    return np.concatenate([rows, beside, missing])


def test_a_value_that_is_off_the_grid_by_rounding_alone_comes_back_on_it() -> None:
    exact = np.array([[0.2 / 12.2, 1_700 / 100_400, 23 / 73, 0.65, 1.0]], dtype=np.float64)
    assert CODEC.to_raw(exact + 1e-15)[0, :3].tolist() == [0.3, 1200.0, 40.0]


@given(st.lists(COUNTS, min_size=1, max_size=6))
def test_rows_features_and_cells_agree_to_the_last_bit(counts: list[int]) -> None:
    rows = entries_of(counts)
    raw = CODEC.to_raw(rows)
    for position in range(4):
        by_feature = CODEC.raw_numbers(position, rows[:, position])
        assert np.array_equal(by_feature, raw[:, position], equal_nan=True)
    positions = np.tile(NUMBERS, len(rows))
    cells = raw_cells(CODEC.raw_units[positions], rows[:, :4].ravel())
    assert np.array_equal(cells, raw[:, :4].ravel(), equal_nan=True)


def test_what_is_infinite_lies_on_no_grid_and_stays_infinite() -> None:
    rows = np.array([[np.inf, -np.inf, np.inf, 1e308, 1.0]])
    raw = CODEC.to_raw(rows)
    assert raw.tolist() == [[np.inf, -np.inf, np.inf, np.inf, 1.0]]
    numbers = raw[0, :4].tolist()
    assert [CODEC.raw_numbers(place, rows[:, place]).item() for place in NUMBERS] == numbers
    assert raw_cells(CODEC.raw_units[:4], rows[0, :4]).tolist() == numbers


@given(st.lists(COUNTS, min_size=1, max_size=6))
def test_values_are_those_of_a_few_lines_of_numpy(counts: list[int]) -> None:
    rows = entries_of(counts)
    span, low, numerator, denominator, tolerance = CODEC.raw_units.T
    raw, has_grid = rows * span + low, numerator > 0
    steps = raw * denominator / np.where(has_grid, numerator, 1.0)
    on_grid = has_grid & (np.abs(steps - np.rint(steps)) <= tolerance)
    keeps_whole = (numerator > denominator) & (denominator == 1)
    raw = np.where(keeps_whole & (np.abs(raw - np.rint(raw)) <= tolerance), np.rint(raw), raw)
    expected = np.where(on_grid, np.rint(steps) * numerator / denominator, raw)
    np.testing.assert_allclose(CODEC.to_raw(rows), expected, rtol=1e-15)


@kernel
def put_on_grid(entries: Array, origin: float, step: float) -> None:
    for n in range(len(entries)):
        entries[n] = on_grid(entries[n], origin, step)


def test_entries_and_raw_values_half_way_between_steps_are_rounded_alike() -> None:
    tenths = CODEC.schema.position("tenths")
    between = np.arange(-5_000, 45_000) / 10 + 0.05
    entries = (between - CODEC.low[tenths]) / CODEC.span[tenths]
    put_on_grid(entries, *(part[tenths].item() for part in CODEC.grid))
    rounded = on_step(CODEC.schema["tenths"], between)
    assert np.array_equal(CODEC.raw_numbers(tenths, entries), rounded)
    assert not (np.rint(10 * rounded) % 2).any()


def test_numbers_are_rounded_to_the_multiples_of_a_step_as_they_would_be_written() -> None:
    """Three times 0.1 is not the double written 0.3, and in the middle the even one is taken."""
    tenths, numbers = CODEC.schema["tenths"], np.array([0.31, 0.45, 0.68, -0.24, np.inf, np.nan])
    rounded = on_step(tenths, numbers)
    assert rounded.tolist()[:5] == [0.3, 0.4, 0.7, -0.2, np.inf]
    assert np.isnan(rounded[5])
    for name in ("any", "home"):
        assert on_step(CODEC.schema[name], numbers) is numbers
    entries = CODEC.to_unit(np.array([[0.31, 1_249.0, 40.4, 0.5, 1.0]]))[0]
    moved = [entries_on_step(CODEC, place, entry) for place, entry in enumerate(entries[:, None])]
    assert CODEC.to_raw(np.concatenate(moved)).tolist() == [0.3, 1200.0, 40.0, 0.5, 1.0]
