"""Damaged JSON is refused with an error of ours, or it loads and can be used."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.errors import ProceError
from proce.explanation import Explanations

from ...damage import places
from ...explained import with_columns
from .. import samples

WHOLE = samples.everything(
    shared=samples.context(
        vary=("savings", "job"),
        ranges={"amount": (0, 20_000)},
        n_refits=10,
        spread={"job": (0.2, 0.8, 0.0)},
    )
)
MEASURED = with_columns(
    WHOLE[0],
    contributions=np.full((2, 8), 0.1, dtype=np.float64),
    support=np.array([40, 50]),
    refits=np.array([9, 10]),
    confidence=np.array([0.84, 0.99]).astype(np.float64),
    steps=tuple(np.stack([WHOLE[0].factual, row]) for row in WHOLE[0].rows),
)
TEXT = samples.explanations(MEASURED, *WHOLE[1:]).to_json()
RECORD = json.loads(TEXT)
ODD: list[Any] = [
    *(None, True, False, "", "x", "savings", "int8", "category", "\ud800", "<script>"),
    *(0, -1, 1, 7, 10**9, 10**30, 10**400, 1e300, -1e-300, 0.5, [], {}, [None], [[]], {"a": 1}),
]


PLACES = list(places(RECORD))


def replaced(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a record with one value replaced; ``...`` removes it."""
    if not path:
        return value
    copy = record.copy()
    if len(path) == 1 and value is ...:
        del copy[path[0]]
    else:
        copy[path[0]] = replaced(copy[path[0]], path[1:], value)
    return copy


def loads_or_is_refused(text: str) -> None:
    try:
        result = Explanations.from_json(text)
    except ProceError:
        return
    for name in ("to_frame", "outcomes", "changes", "summary"):
        getattr(result, name)()
    result.reasons().frame()
    for item in result:
        item.sentences()
    assert "<script>" not in result._repr_html_()
    Explanations.from_json(result.to_json())


@given(st.sampled_from(PLACES), st.sampled_from([*ODD, ...]))
@settings(max_examples=120)
def test_one_value_replaced(path: tuple[Any, ...], value: Any) -> None:
    loads_or_is_refused(json.dumps(replaced(RECORD, path, value)))


@pytest.mark.parametrize("n_examples", [60, pytest.param(600, marks=pytest.mark.slow, id="many")])
def test_one_value_put_in_place_of_another(n_examples: int) -> None:
    @given(st.sampled_from(PLACES), st.sampled_from(PLACES))
    @settings(max_examples=n_examples)
    def put(to: tuple[Any, ...], of: tuple[Any, ...]) -> None:
        value = RECORD
        for key in of:
            value = value[key]
        loads_or_is_refused(json.dumps(replaced(RECORD, to, value)))

    put()


@given(st.data())
@settings(max_examples=200)
def test_characters_replaced(data: st.DataObject) -> None:
    text = TEXT
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        cut = data.draw(st.integers(0, 3))
        text = (
            text[:at]
            + data.draw(st.text('{}[]",:0123456789.eE-+ntf\\u', max_size=3))
            + (text[at + cut :])
        )
    loads_or_is_refused(text)


@pytest.mark.slow
def test_every_value_replaced_by_every_odd_one() -> None:
    for path in PLACES:
        for value in [*ODD, ...]:
            loads_or_is_refused(json.dumps(replaced(RECORD, path, value)))
