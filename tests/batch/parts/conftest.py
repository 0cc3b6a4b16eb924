"""Explanations of a few named people, of which tests make parts."""

import pandas as pd
import pyarrow as pa
import pytest

from proce import Explanations, ProCE
from proce.batch.tables import tally

from ... import worlds

N_ROWS = 21


@pytest.fixture(scope="session")
def whole(banker: ProCE) -> Explanations:
    """Return the explanations of some named people, some of them not found."""
    table = pa.Table.from_pandas(worlds.people(N_ROWS, seed=1))
    result = banker.explain(table, target=1, n=2, vary=["debt"])
    assert len(tally(result)) > 1
    return result.labelled(pd.Index([f"C{n:03}" for n in range(N_ROWS)], name="customer"))
