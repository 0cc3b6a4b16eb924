"""A limit of the request that blocks can be lifted with one click: the patch leads to a way."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from proce import Explanations, ProCE
from proce.explanation import Blocker
from proce.server.explainer_api.api import ExplainerApi
from proce.server.explainer_api.presenters.ways import patch_of

from ....worlds import SCHEMA, TINY, bank, one, people

PERSON = one().iloc[0].to_dict()  # savings 20, debt 40: 39 more of either, or together, is a yes
RULES = ["cf.age >= x.age"]  # of the explainer itself

Stuck = Callable[[str], dict[str, Any]]

STUCK: dict[str, dict[str, Any]] = {
    "range": {"vary": ["savings"], "ranges": {"savings": [20, 30], "age": [18, 80]}},
    "vary": {"vary": ["school"]},
    "max_changes": {
        "vary": ["savings", "debt"],
        "ranges": {"savings": [20, 50], "debt": [10, 40]},
        "max_changes": 1,
    },
    "min_probability": {
        "vary": ["savings", "debt"],
        "ranges": {"savings": [20, 70], "debt": [20, 40]},
        "min_probability": 0.99,
    },
    "rule": {"rules": ["cf.savings - cf.debt <= x.savings - x.debt", "cf.debt <= 90"]},
}


@pytest.fixture(scope="module")
def api() -> ExplainerApi:
    return ExplainerApi(ProCE(bank, SCHEMA, rules=RULES, settings=TINY).fit(people()))


def requested(**options: Any) -> dict[str, Any]:
    """Return a request about the person."""
    return {"rows": [PERSON], "target": 1, **options}


@pytest.fixture(scope="module")
def document(api: ExplainerApi) -> Callable[[str], str]:
    """Return what makes the answer to a request that is stuck, once."""

    @cache
    def made(kind: str) -> str:
        request = requested(**STUCK[kind])
        assert api.check(request) == request
        text: str = api.explain(request)["results"]["auditor"]
        return text

    return made


@pytest.fixture(scope="module")
def stuck(api: ExplainerApi, document: Callable[[str], str]) -> Callable[[str], dict[str, Any]]:
    """Return what tells what a page draws of a request that is stuck."""
    return lambda kind: api.ways(document(kind), requested(**STUCK[kind]))


@pytest.mark.parametrize("kind", STUCK)
def test_a_patch_of_each_kind_opens_a_way(api: ExplainerApi, stuck: Stuck, kind: str) -> None:
    answer = stuck(kind)
    assert answer["outcome"] == "not_found"
    assert answer["ways"] == []
    patches = [
        b["patch"] for b in answer["diagnosis"]["blockers"] if b["kind"] == kind and b["patch"]
    ]
    assert len(patches) == 1
    assert patches[0].keys() <= STUCK[kind].keys()
    freed = api.explain(requested(**STUCK[kind]) | patches[0])
    assert freed["summary"]["found"] == 1


def test_a_range_is_widened_to_the_value_and_no_further(stuck: Stuck) -> None:
    answer = stuck("range")
    (blocker,) = [b for b in answer["diagnosis"]["blockers"] if b["kind"] == "range"]
    ranges = blocker["patch"]["ranges"]
    assert ranges["age"] == [18, 80]
    low, high = ranges["savings"]
    assert low == 20
    assert 59 <= high <= 100  # 20 + 38.75, in whole numbers
    assert blocker["relaxation"] == f"with savings allowed to reach {high}"


def test_only_the_rule_that_blocks_is_taken_away(stuck: Stuck) -> None:
    answer = stuck("rule")
    (blocker,) = [b for b in answer["diagnosis"]["blockers"] if b["kind"] == "rule"]
    assert blocker["patch"] == {"rules": ["cf.debt <= 90"]}


def test_the_closest_miss_says_where_it_differs(stuck: Stuck) -> None:
    answer = stuck("vary")
    miss = answer["diagnosis"]["closest_miss"]
    assert miss["values"].keys() == PERSON.keys()
    (change,) = miss["changes"]
    assert (change["feature"], change["before_text"], change["after_text"]) == (
        "school",
        '"basic"',
        '"high"',
    )


def blocker(kind: str, name: str = "", value: Any = None) -> Blocker:
    return Blocker(kind, name, "words", 0.5, value)


def test_what_somebody_else_has_set_cannot_be_clicked_away(api: ExplainerApi) -> None:
    codec = api._fitted.codec
    request = {"rules": ["cf.debt <= 90"], "ranges": {"savings": [20, 30]}}
    for theirs in (
        blocker("rule", "cf.age >= x.age"),  # of the explainer
        blocker("range", "debt", 120),  # of the schema
        blocker("range", "savings", 25),  # of the schema: the request lets it be 25
        blocker("fixed", "home", "owns"),
        blocker("increase", "age", 20),
        blocker("search", "n_refits"),
        blocker("vary", "", ("savings",)),  # which this request does not limit
        blocker("max_changes"),  # of a result without values
    ):
        assert patch_of(theirs, request, codec) is None


@pytest.mark.parametrize(
    ("limit", "request_", "patch"),
    [
        (blocker("robust"), {"robust": 0.9}, {"robust": None}),
        (blocker("max_changes", "", 3), {"max_changes": 2}, {"max_changes": 3}),
        (
            blocker("min_probability", "", 0.61239),
            {"min_probability": 0.9},
            {"min_probability": 0.6123},  # rounded down, so that the same way counts
        ),
        (
            blocker("vary", "", ("debt", "savings")),
            {"vary": ["savings"]},
            {"vary": ["savings", "debt"]},
        ),
        (
            blocker("range", "school", "high"),
            {"ranges": {"school": ["none", "basic"]}},
            {"ranges": {"school": ["none", "high"]}},
        ),
        (
            blocker("range", "debt", 5),
            {"ranges": {"debt": [10, 40]}},
            {"ranges": {"debt": [5, 40]}},
        ),
    ],
)
def test_a_patch_replaces_the_field(
    api: ExplainerApi, limit: Blocker, request_: dict[str, Any], patch: dict[str, Any]
) -> None:
    assert patch_of(limit, request_, api._fitted.codec) == patch


def test_values_of_blockers_survive_json_and_older_texts_have_none(
    document: Callable[[str], str],
) -> None:
    text = document("vary")
    diagnosis = Explanations.from_json(text)[0].diagnosis
    assert diagnosis is not None
    (vary,) = [b for b in diagnosis.blockers if b.kind == "vary"]
    assert isinstance(vary.value, tuple)
    assert set(vary.value) <= set(PERSON)
    record = json.loads(text)
    for own in record["explanations"][0]["diagnosis"]["blockers"]:
        own.pop("value", None)
    older = Explanations.from_json(json.dumps(record))[0].diagnosis
    assert older is not None
    assert [b.value for b in older.blockers] == [None] * len(older.blockers)
