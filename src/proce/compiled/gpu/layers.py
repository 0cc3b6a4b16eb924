"""What a network on rows does before and after its products of matrices.

For the first layer a program takes some rows and adds up rows of a table for each, as
:mod:`proce.compiled.row_network_kernels` does: a number takes its share of one row, a level picks
one. No one-hot column is ever written.
"""

import triton
import triton.language as tl

_NUMBER, _LEVEL = tl.constexpr(0), tl.constexpr(2)  # as CellKind


@triton.jit
def first_layer_kernel(
    rows: tl.tensor,  # (n, f)
    cells: tl.tensor,  # (f, 4)
    scales: tl.tensor,  # (f, 5)
    table: tl.tensor,  # (t, h)
    given: tl.tensor,  # (n, h); written
    n_rows: tl.tensor,
    n_features: tl.tensor,
    n_hidden: tl.tensor,
    IS_RAMP: tl.constexpr,
    B: tl.constexpr,
    H: tl.constexpr,
) -> None:
    """Write the hidden units of some rows; NaN where a cell is missing that may not be."""
    row = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    unit = tl.arange(0, H)
    is_row, is_unit = row < n_rows, unit < n_hidden
    hidden = tl.zeros([B, H], tl.float32) + tl.load(table + unit, mask=is_unit, other=0.0)[None]
    for feature in range(n_features):
        kind = tl.load(cells + feature * 4)
        first = tl.load(cells + feature * 4 + 1)
        n_levels = tl.load(cells + feature * 4 + 2)
        missing = tl.load(cells + feature * 4 + 3)
        value = tl.load(rows + row * n_features + feature, mask=is_row, other=0.0)
        value = value * tl.load(scales + feature * 5) + tl.load(scales + feature * 5 + 1)
        lacks = (value != value) if kind == _NUMBER else value < 0
        if kind == _LEVEL:
            known = ~lacks & (value < n_levels)
            picked = tl.where(lacks, missing, first + tl.where(known, value, 0.0).to(tl.int64))
            share = tl.where(known | lacks, 1.0, 0.0).to(tl.float32)
        else:
            low, high = tl.load(scales + feature * 5 + 2), tl.load(scales + feature * 5 + 3)
            reach = tl.load(scales + feature * 5 + 4).to(tl.float32)
            inside = tl.minimum(tl.maximum(value, low), high).to(tl.float32) / reach
            picked = tl.where(lacks, missing, first)
            share = tl.where(lacks, 1.0, inside)
        share = tl.where(lacks & (missing < 0), float("nan"), share)
        places = tl.maximum(picked, 0)[:, None] * n_hidden + unit[None]
        weights = tl.load(table + places, mask=is_row[:, None] & is_unit[None], other=0.0)
        hidden += share[:, None] * weights
    if IS_RAMP:
        hidden = tl.where(hidden < 0, 0.0, hidden)
    places = row[:, None] * n_hidden + unit[None]
    tl.store(given + places, hidden, mask=is_row[:, None] & is_unit[None])


@triton.jit
def offset_kernel(
    outputs: tl.tensor,  # (n, o)
    points: tl.tensor,  # (i, o)
    given: tl.tensor,  # (n,); written
    n_rows: tl.tensor,
    n_each: tl.tensor,
    n_outputs: tl.tensor,
    B: tl.constexpr,
    U: tl.constexpr,
) -> None:
    """Write the mean squared difference of outputs to points, each of which has so many rows."""
    row = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    unit = tl.arange(0, U)
    inside = (row < n_rows)[:, None] & (unit < n_outputs)[None]
    own = tl.load(outputs + row[:, None] * n_outputs + unit[None], mask=inside, other=0.0)
    places = (row // n_each)[:, None] * n_outputs + unit[None]
    gap = own - tl.load(points + places, mask=inside, other=0.0)
    mean = tl.sum(gap * gap, axis=1) / n_outputs
    tl.store(given + row, mean.to(tl.float64), mask=row < n_rows)
