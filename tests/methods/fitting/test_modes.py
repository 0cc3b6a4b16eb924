"""A fitted explainer in another causal mode answers as one that was fitted in it."""

from collections.abc import Callable
from typing import Any

import pytest
from pandas.testing import assert_frame_equal

from proce import ProCE
from proce.errors import SearchError
from proce.methods.fitting.fitted import in_mode


@pytest.mark.parametrize("mode", ["soft", "paper", "off"])
def test_the_mode_can_be_changed_after_the_fit(
    mode: str, lender: Callable[[str], ProCE], rejected: Any
) -> None:
    changed = ProCE(**lender("hard").get_params(deep=False))
    changed._set_fitted(in_mode(lender("hard").fitted_, mode))
    rows = rejected.head(2)
    result, expected = changed.explain(rows), lender(mode).explain(rows)
    assert result.provenance.mode == mode
    assert len(result.to_frame())
    assert_frame_equal(result.to_frame(), expected.to_frame())


def test_a_mode_that_needs_a_graph_is_refused_without_one(banker: ProCE) -> None:
    with pytest.raises(SearchError, match="needs a causal graph"):
        in_mode(banker.fitted_, "hard")
    assert in_mode(banker.fitted_, "auto").mode == "off"
