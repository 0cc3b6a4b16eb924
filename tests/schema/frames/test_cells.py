"""Which values of cells and labels stand for nothing."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.schema.frames.cells import is_missing


@pytest.mark.parametrize(
    "value",
    [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")],
    ids=repr,
)
def test_a_null_of_any_library_and_nan_of_any_type_is_missing(value: Any) -> None:
    assert is_missing(value)


@pytest.mark.parametrize(
    "value", ["", "nan", 0, False, np.float32(0), Decimal(0), np.inf, [None], np.array([np.nan])]
)
def test_anything_else_is_there(value: Any) -> None:
    assert not is_missing(value)
