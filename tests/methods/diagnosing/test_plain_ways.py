"""Where one limit stands in the way, the diagnosis names one that helps."""

from collections.abc import Callable
from typing import Any

import pytest

from proce import ProCE
from proce.losses import Loss

from ...worlds import without_diagnosis

VARIED = (["amount", "duration"], ["education"], ["housing", "amount"], ["debt"], ["job"])


@pytest.mark.parametrize("vary", VARIED, ids=" and ".join)
def test_a_limit_that_helps_when_it_is_lifted_is_not_denied(
    lender: Callable[[str], ProCE], rejected: Any, vary: list[str]
) -> None:
    """Who has a way with one limit lifted is told of a limit that helps."""
    explainer = lender("hard")
    items = list(explainer.explain(rejected, vary=vary, max_changes=1, n=1))
    blocked = [number for number, item in enumerate(items) if item.outcome == "not_found"]
    assert blocked, "a limit that stops nobody proves nothing"
    rows, helped = rejected.iloc[blocked], set()
    lifted: tuple[dict[str, Any], ...] = ({"max_changes": 1}, {"vary": vary})
    for options in lifted:
        found = explainer.explain(rows, n=1, progress=without_diagnosis, **options)
        helped |= {blocked[at] for at, item in enumerate(found) if item.outcome == "found"}
    diagnoses = [items[number].diagnosis for number in sorted(helped)]
    assert all(diagnosis is not None and diagnosis.blockers for diagnosis in diagnoses)


def test_a_way_that_is_told_of_is_about_as_near_as_the_advice_without_the_limit(
    lender: Callable[[str], ProCE], rejected: Any
) -> None:
    """One was 1.6 times as far, with changes that were not taken back as those of advice are."""
    explainer, row = lender("soft"), rejected.iloc[[4]]
    diagnosis = explainer.explain(row, vary=["debt"], max_changes=2, n=1)[0].diagnosis
    advice = explainer.explain(row, max_changes=2, n=1)[0]
    assert diagnosis is not None
    assert [blocker.kind for blocker in diagnosis.blockers] == ["vary"]
    assert diagnosis.blockers[0].distance <= 1.4 * advice.losses[0, Loss.DISTANCE]
