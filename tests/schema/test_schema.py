"""A schema is declared or read off a frame, edited, printed and kept as JSON."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proce.errors import ProceError, SchemaError
from proce.schema import Action, Categorical, Continuous, Ordinal, Schema


def applicants() -> Schema:
    return Schema(
        [
            Continuous("age", (18, 90), step=1, action="increase"),
            Continuous("income"),
            Ordinal("school", ("HS", "BSc", "PhD")),
            Categorical("job", ("nurse", "clerk"), action=Action.FIXED),
            Categorical("city", ("a", "b"), one_hot=("city_a", "city_b")),
        ]
    )


def test_features_are_found_by_name_and_position():
    schema = applicants()
    assert schema.names == ("age", "income", "school", "job", "city")
    assert schema.columns == ("age", "income", "school", "job", "city_a", "city_b")
    assert schema.position("school") == 2
    assert schema["job"].levels == ("nurse", "clerk")
    assert "job" in schema
    assert "jobs" not in schema
    assert len(schema) == 5


def test_an_unknown_name_is_answered_with_a_near_one():
    with pytest.raises(SchemaError, match=r"unknown feature 'incme'.*Did you mean 'income'\?"):
        applicants().position("incme")


def test_json_gives_the_schema_back():
    schema = applicants()
    assert Schema.from_json(schema.to_json()) == schema


def test_levels_keep_their_type_through_json():
    schema = Schema([Categorical("flag", (False, True)), Ordinal("grade", (1, 2, 3))])
    back = Schema.from_json(schema.to_json())
    assert back["flag"].levels == (False, True)
    assert [type(level) for level in back["grade"].levels] == [int, int, int]


def test_editing_returns_another_schema():
    schema = applicants()
    edited = schema.edit(["age", "income"], action="fixed").edit("income", range=(0, 1e5), step=100)
    assert edited["age"].action is Action.FIXED
    assert edited["income"].range == (0.0, 100_000.0)
    assert schema["age"].action is Action.INCREASE


def test_editing_can_change_the_type():
    edited = applicants().edit("job", kind="ordinal", levels=("clerk", "nurse"), action="free")
    assert edited["job"] == Ordinal("job", ("clerk", "nurse"))
    edited = applicants().edit("school", kind="categorical")
    assert edited["school"] == Categorical("school", ("HS", "BSc", "PhD"))


def test_it_prints_as_a_table():
    assert str(applicants()).splitlines() == [
        "feature  type         permitted         action",
        "age      continuous   18 to 90, step 1  increase",
        "income   continuous   as in training    free",
        "school   ordinal      HS < BSc < PhD    free",
        "job      categorical  nurse, clerk      fixed",
        "city     categorical  a, b (one-hot)    free",
    ]


def test_the_notebook_table_escapes_names():
    assert "&lt;b&gt;" in Schema([Continuous("<b>")])._repr_html_()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Schema([]), "at least one feature"),
        (lambda: Schema(["age"]), "'age' is not a feature"),
        (lambda: Schema([Continuous("a"), Continuous("a")]), "feature 'a' is declared twice"),
        (
            lambda: Schema([Continuous("a"), Categorical("b", (1, 2), one_hot=("a", "c"))]),
            "column 'a' is declared twice",
        ),
        (lambda: Continuous(3), "feature name 3"),
        (lambda: Continuous("a", (5, 1)), "is empty; write the lower limit first"),
        (lambda: Continuous("a", (0, float("inf"))), "expected a finite number"),
        (lambda: Continuous("a", (0, "9")), "expected a finite number"),
        (lambda: Continuous("a", (0, 10**400)), "expected a finite number"),
        (lambda: Continuous("a", 7), r"expected \(low, high\)"),
        (lambda: Continuous("a", step=0), "expected a positive number"),
        (lambda: Continuous("a", action="up"), "unknown action 'up'; expected one of free"),
        (lambda: Continuous("a", action="increse"), "Did you mean 'increase'"),
        (lambda: Categorical("a", ("x", "y"), action="increase"), "needs an order"),
        (lambda: Categorical("a", ()), "has no levels"),
        (lambda: Categorical("a", "xyz"), "expected a list of values"),
        (lambda: Categorical("a", ("x", "x")), "'x' is listed twice"),
        (lambda: Categorical("a", (1, "1")), "more than one type"),
        (lambda: Ordinal("a", (1, True)), "more than one type"),
        (lambda: Ordinal("a", (1.0, float("nan"))), "is not a level"),
        (lambda: Ordinal("a", (1, (2,))), "of type tuple"),
        (lambda: Categorical("a", (1, 2), one_hot=("x",)), "1 one-hot columns for 2 levels"),
        (lambda: applicants().edit("age", levels=(1, 2)), "a continuous feature has no 'levels'"),
        (lambda: applicants().edit("age", kind="ordinal"), r"give levels=\[...\]"),
        (lambda: applicants().edit("age", kind="number"), "unknown type 'number'"),
    ],
)
def test_a_wrong_declaration_is_refused(make, message):
    with pytest.raises(SchemaError, match=message):
        make()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is not of the form"),
        ('{"format": 2, "features": []}', "has format 2; this version of proce reads up to 1"),
        ('{"format": "1", "features": []}', "format is '1'"),
        ('{"format": 1, "features": []}', "at least one feature"),
        ('{"format": 1, "features": [{"type": "magic"}]}', "is not a feature"),
        ('{"format": 1, "features": [{"type": "ordinal", "name": "a"}]}', "levels is missing"),
        (
            '{"format": 1, "features": [{"type": "continuous", "name": "a", "levels": []}]}',
            "unknown field 'levels'",
        ),
    ],
)
def test_wrong_json_is_refused(text, message):
    with pytest.raises(SchemaError, match=message):
        Schema.from_json(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = (
    *("name", "range", "step", "levels", "action", "one_hot"),
    *("label", "unit", "effort", "protected", "labels", "avoid"),
)
fields = st.fixed_dictionaries(
    {"type": st.sampled_from(["continuous", "ordinal", "categorical"]) | json_values},
    optional=dict.fromkeys(FIELDS, json_values),
)


@given(st.lists(fields, max_size=3), st.just(1) | json_values)
@example([{"type": "ordinal", "name": "a", "levels": [1, 2]}], 1)
def test_any_json_gives_a_schema_or_a_schema_error(features, version):
    text = json.dumps({"format": version, "features": features})
    try:
        schema = Schema.from_json(text)
    except ProceError:
        return
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    ("one_hot", "message"),
    [
        ({"job": ["a", "z"]}, "no column 'z'"),
        ({"job": ["a"]}, "at least two columns"),
        ({"job": ["a", "b"], "city": ["b", "c"]}, "one-hot features 'job' and 'city'"),
    ],
)
def test_a_wrong_one_hot_declaration_is_refused(one_hot, message):
    with pytest.raises(SchemaError, match=message):
        Schema.infer(pd.DataFrame({"a": [0, 1], "b": [1, 0], "c": [1, 0]}), one_hot=one_hot)


def test_only_numbers_wait_in_units_of_time() -> None:
    assert Continuous("age", action="waits").action is Action.WAITS
    assert not Continuous("age", action="waits").can_be_acted_on
    with pytest.raises(SchemaError, match="unit is 'km'; expected a unit of time"):
        Continuous("way", action="waits", unit="km")
    with pytest.raises(SchemaError, match="only a number can wait"):
        Ordinal("school", ("low", "high"), action="waits")
    with pytest.raises(SchemaError, match="only a number can wait"):
        Categorical("job", ("a", "b"), action="waits")


def test_a_printed_schema_fits_a_page_and_says_where_it_was_cut() -> None:
    levels = tuple(f"a rather long level number {number}" for number in range(9))
    wide = Schema([Categorical(f"{'long_' * 8}{n}", levels, label="x" * 60) for n in range(3)])
    lines = str(wide).split("\n")
    assert max(map(len, lines)) <= 100
    assert len(lines) == 5  # a header, a line for each feature, and the note
    assert lines[-1] == "Cut to fit the page; schema.to_json() has it whole."
    assert len(repr(wide)) <= 100
    assert all(len(repr(feature)) <= 100 for feature in wide)


def test_a_printed_schema_has_its_numbers_whole_in_as_many_lines_as_they_take() -> None:
    draw = np.random.default_rng(0)
    names = [f"balance of account {n}" for n in range(3)]
    frame = pd.DataFrame({name: draw.normal(0, 9_999, 99).round(2) for name in names})
    schema = Schema.infer(frame).edit(names, unit="€", label="what is there at the end of a month")
    lines = str(schema).split("\n")
    assert max(map(len, lines)) <= 100
    start, end = lines[0].index("scale"), lines[0].index("in words")
    told = " ".join(line[start:end].strip() for line in lines[1:])
    for row in schema.table()[1:]:
        assert row[4].startswith("span ")
        assert row[4] in " ".join(told.split())
    assert lines[-1] == "Cut to fit the page; schema.to_json() has it whole."  # of the words
