"""What is known before the data: read exactly, and refused where it contradicts itself."""

import numpy as np
import pytest

from proce.causal.discovery.knowledge import Knowledge
from proce.errors import GraphError

NAMES = ("a", "b", "c", "d")


def edges(flags: np.ndarray) -> set[str]:
    return {NAMES[cause] + NAMES[effect] for cause, effect in np.argwhere(flags)}


def test_knowledge_by_hand() -> None:
    known = Knowledge.of(NAMES, tiers=[["a"], ["b", "c"]], required=[("c", "d")])
    assert edges(known.required) == {"cd"}
    assert edges(known.before) == {"ab", "ac", "cd", "ad"}
    assert edges(known.impossible) == {"ba", "ca", "dc", "da", "aa", "bb", "cc", "dd"}
    assert not known.barred[~np.eye(4, dtype=bool)].any()
    assert not known.is_empty


def test_a_forbidden_edge_may_still_be_an_influence() -> None:
    known = Knowledge.of(NAMES, forbidden=[("a", "b")])
    assert edges(known.impossible) == {"ab", "aa", "bb", "cc", "dd"}
    assert not known.before.any()
    assert edges(Knowledge.of(NAMES, forbidden=[("a", "b"), ("b", "a")]).barred) >= {"ab", "ba"}


def test_nothing_known_is_empty() -> None:
    assert Knowledge.of(NAMES).is_empty
    assert not Knowledge.of(NAMES, tiers=[["a"], ["b"]]).is_empty
    assert not Knowledge.of(NAMES, forbidden=[("a", "b")]).is_empty


def test_paths_through_features_that_are_left_out_stay_known() -> None:
    known = Knowledge.of(NAMES, required=[("a", "b"), ("b", "c")]).keep([0, 2])
    assert known.names == ("a", "c")
    assert known.before.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize(
    ("knowledge", "message"),
    [
        ({"tiers": [["a", "x"]]}, "unknown feature 'x'"),
        ({"tiers": [["a"], ["b", "a"]]}, "'a' stands in tier 1 and in tier 2"),
        ({"tiers": ["ab"]}, r"tier 1 is the name 'ab'; expected a list of names, as in \[\['ab'\]"),
        ({"tiers": "ab"}, "expected a list of lists of names"),
        ({"required": [("a", "x")]}, "unknown feature 'x'"),
        ({"required": "ab"}, "expected a list of pairs"),
        ({"forbidden": [("a",)]}, "is not an edge"),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            "a -> b is required and forbidden",
        ),
        (
            {"required": [("b", "a")], "tiers": [["a"], ["b"]]},
            "b -> a is required, but 'b' stands in tier 2, after 'a' in tier 1",
        ),
        (
            {"required": [("a", "b"), ("b", "c"), ("c", "a")]},
            "contradict each other: a -> b, b -> c, c -> a",
        ),
        (
            {"required": [("b", "c"), ("c", "a")], "tiers": [["a"], ["b"]]},
            "contradict the tiers: a -> b, b -> c, c -> a",
        ),
    ],
)
def test_contradictions_and_unknown_names_are_refused(
    knowledge: dict[str, object], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        Knowledge.of(NAMES, **knowledge)  # type: ignore[arg-type]
