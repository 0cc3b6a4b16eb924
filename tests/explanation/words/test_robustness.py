"""In how many other models advice keeps its decision, as a person is told."""

import numpy as np
import pytest

from .. import samples
from ..samples import RAISE_SAVINGS, explanation, explanations

ASKED = samples.context(n_models=20, robust=0.9, models_are_refits=True)


@pytest.mark.parametrize("count", [17, 18])
def test_a_letter_says_where_its_variant_is_not_robust(count: int) -> None:
    added = np.zeros((1, 8), dtype=np.float64)
    added[0, 0] = 0.31
    item = explanation(
        RAISE_SAVINGS, shared=ASKED, contributions=added, robustness=np.array([count])
    )
    letter = explanations(item).reasons().letter(0)
    told = (
        "That variant is not robust: it keeps its decision in 17 of 20 refits of the model on"
        " resampled rows; 90 of 100 were asked for"
    )
    assert (told in letter) == (count < 18)
    assert ("robust" in letter) == (count < 18)
