"""Damaged JSON is refused by its place and in plain words, or it loads and can be used."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proce.errors import ProceError, SchemaError
from proce.explanation import Explanations

from ...damage import places
from ...explained import with_columns
from .. import samples
from ..samples import CHANGE_JOB, everything, explanation, explanations

FIXTURE = Path(__file__).parents[2] / "fixtures" / "explanations_v1.json"


def changed(**fields: Any) -> str:
    return json.dumps(json.loads(everything().to_json()) | fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[1", "not JSON"),
        ("NaN", "not JSON"),
        ("[]", "not of the form"),
        ("{}", "expected an object with 'format'"),
        ('{"format": 2}', "have format 2; this version of proce reads up to 1. Update proce"),
        ('{"format": 0}', "format is 0; expected 1"),
        ('{"format": true}', "format is True; expected a whole number"),
        (changed(explanations=3), "explanations is 3; expected a list"),
        (changed(explanations=[{"row": -1}]), r"explanations\[0\].row is -1"),
        (changed(explanations=[]), "expected 0 labels, one per explanation"),
        (changed(provenance=[]), r"provenance is \[\]; expected an object"),
        (changed(provenance={}), "provenance is {}; expected an object with 'versions'"),
        (changed(layout={"columns": {}}), "layout.columns is {}; expected the columns"),
        (changed(scale={}), "scale is {}; expected an object with 'savings'"),
        (changed(graph={"edges": [["a", "b"]], "n_graphs": 0}), "not among the nodes|unknown|'a'"),
        (changed(request={"vary": ["x"], "ranges": {}, "effort": {}}), "unknown feature 'x'"),
    ],
)
def test_wrong_text_is_refused_by_its_place(text: str, message: str) -> None:
    with pytest.raises(ProceError, match=message):
        Explanations.from_json(text)


def set_at(record: Any, place: tuple[Any, ...], value: Any) -> str:
    """Return the text of a record with one value replaced."""
    inner = record
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(record)


FIRST = ("explanations", 0)
WAY = (*FIRST, "counterfactuals", 1)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((*WAY, "changes", 0, "kind"), "x", "one of 'action', 'hold' or 'consequence'"),
        ((*WAY, "changes", 0, "feature"), "x", "the name of a feature"),
        ((*WAY, "changes", 0, "contribution"), True, "a finite number"),
        ((*WAY, "probability"), 10**400, "a finite number"),
        ((*WAY, "losses", "distance"), "x", "a finite number"),
        ((*WAY, "refits"), 0.5, "a whole number"),
        ((*WAY, "confidence"), 1.5, "at most 1.0"),
        ((*WAY, "refits"), None, "a whole number, as for the other counterfactuals of the row"),
        ((*WAY, "support"), -1, "at least 0"),
        ((*WAY, "steps"), [], "steps, of which the last has the counterfactual's values"),
        ((*WAY, "steps", 0), [1], "a list of 8 values"),
        ((*WAY, "values"), {"job": "none"}, "a value for each of savings, ratio, education"),
        ((*FIRST, "counterfactuals", 0, "changes", 1, "expected"), "x", "a number"),
        ((*FIRST, "front", "losses"), [], "3 losses for each of 1 rows"),
        ((*FIRST, "margin_met"), 1, "true or false"),
        ((*FIRST, "target"), "x", "one of the model's classes"),
        ((*FIRST, "notes", 0), 3, "a text"),
        (("explanations", 1, "row"), 0, "every row once"),
        (("explanations", 1, "row"), 2**60, "at most 9007199254740992"),
        (("explanations", 1), None, "an object"),
        (("scale", "savings", "span"), 0, "a positive number"),
        (("scale", "savings"), {"may_miss": False}, "an object with 'low' and 'span'"),
        (("model", "classes", 0), None, "a text, a finite number or true or false"),
        (("model", "classes"), [1, "a"], "labels of one type"),
        (("graph", "edges", 0), ["a"], "a pair of cause and effect"),
        (("request", "ranges", "amount"), [1], "a pair of limits"),
    ],
)
def test_a_wrong_value_is_named_in_plain_words(
    place: tuple[Any, ...], value: Any, message: str
) -> None:
    text = set_at(json.loads(FIXTURE.read_text("utf-8")), place, value)
    with pytest.raises(SchemaError) as caught:
        Explanations.from_json(text)
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)[1:]
    said = str(caught.value)
    assert said.startswith(f"the explanations cannot be read: {where} is ")
    assert f"; expected {message}" in said
    assert said.endswith("The text was changed or is damaged; write it again with to_json().")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format": Infinity}', '{"format": 1, "a": "\\ud800"}']
)
def test_text_that_is_not_sound_json_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="the explanations are not JSON"):
        Explanations.from_json(text)


def test_a_value_that_does_not_fit_is_named() -> None:
    record = json.loads(explanations(explanation(CHANGE_JOB)).to_json())
    values = record["explanations"][0]["counterfactuals"][0]["values"]
    values["job"] = "pilot"
    with pytest.raises(SchemaError, match=r"counterfactuals\[0\]\.values\.job is 'pilot'"):
        Explanations.from_json(json.dumps(record))
    values["job"], values["savings"] = "office", "much"
    with pytest.raises(SchemaError, match=r"values\.savings is 'much'; expected a number"):
        Explanations.from_json(json.dumps(record))


def test_values_that_their_dtype_cannot_hold_are_refused() -> None:
    record = json.loads(explanations(explanation(CHANGE_JOB)).to_json())
    record["layout"]["columns"]["education"] = "int64"
    with pytest.raises(SchemaError, match="do not fit their schema or layout"):
        Explanations.from_json(json.dumps(record))


def test_settings_that_nest_without_end_are_refused() -> None:
    nested: dict[str, Any] = {}
    for _ in range(300):
        nested = {"a": nested}
    provenance = json.loads(everything().to_json())["provenance"]
    message = "provenance.options is .*; expected values that are not nested so deep"
    with pytest.raises(SchemaError, match=message):
        Explanations.from_json(changed(provenance=provenance | {"options": nested}))


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
    support=[40, 50],
    refits=[9, 10],
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
