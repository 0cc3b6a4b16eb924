"""How many processes: what is no number of them is refused before anything else is done."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import SearchError, explain_parallel
from proce.methods import Nearest

from ...worlds import SCHEMA, bank, people


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "two", np.array([1, 2]), pd.Series([1])])
def test_what_is_no_number_of_processes_is_refused(n_jobs: Any) -> None:
    with pytest.raises(SearchError, match=r"n_jobs is .*; expected a whole number from 1 on"):
        explain_parallel(Nearest(bank, SCHEMA), people(3), n_jobs=n_jobs)
