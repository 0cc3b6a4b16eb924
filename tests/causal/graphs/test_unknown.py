"""Which missing cells leave open what follows from an action."""

from collections.abc import Collection

import pytest

from proce.causal.graphs.features import unknown_causes
from proce.schema import Action, Continuous, Schema

SCHEMA = Schema(
    [
        Continuous("sport"),
        Continuous("income"),
        Continuous("weight"),
        Continuous("pressure"),
        Continuous("claims"),
        Continuous("age", action=Action.FIXED),
    ]
)
EDGES = (
    ("income", "sport"),
    ("income", "pressure"),
    ("sport", "weight"),
    ("weight", "pressure"),
    ("pressure", "claims"),
    ("claims", "age"),
)


@pytest.mark.parametrize(
    ("missing", "moved", "by_hand", "expected"),
    [
        ([], ["sport"], ["sport"], ()),
        (["weight"], ["sport"], ["sport"], ("weight",)),  # pressure would follow through it
        (["income"], ["sport"], ["sport"], ("income",)),  # pressure depends on it too
        (["weight", "pressure"], ["sport"], ["sport"], ("pressure",)),  # of which claims follow
        (["claims"], ["sport", "weight"], ["sport"], ()),  # nothing follows from it
        (["weight"], ["sport"], ["sport", "pressure"], ()),  # what follows it is held
        (["weight"], ["claims"], ["claims"], ()),
        (["sport"], ["claims"], ["claims"], ()),
    ],
)
def test_what_a_missing_cell_hides(
    missing: Collection[str],
    moved: Collection[str],
    by_hand: Collection[str],
    expected: tuple[str, ...],
) -> None:
    assert unknown_causes(EDGES, SCHEMA, missing, moved, by_hand) == expected
