"""What is read off the columns of a frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from proce.errors import SchemaError
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema
from proce.schema.infer import open_features_warning


def test_types_are_read_off_a_frame():
    frame = pd.DataFrame(
        {
            "age": [20, 30, 40],
            "gpa": [3.1, 2.75, 4.0],
            "weight": [70.123456, 1.0, 2.0],
            "kids": [1.0, np.nan, 2.0],
            "job": ["b", "a", None],
            "school": pd.Categorical(["HS", "PhD", "HS"], ["HS", "BSc", "PhD"], ordered=True),
            "city": pd.Categorical(["y", "x", "y"], ["y", "x", "never"]),
            "owner": [True, False, True],
        }
    )
    assert Schema.infer(frame).features == (
        Continuous("age", step=1, action="waits"),
        Continuous("gpa", step=0.01),
        Continuous("weight"),
        Continuous("kids", step=1),
        Categorical("job", ("a", "b")),
        Ordinal("school", ("HS", "PhD")),
        Categorical("city", ("y", "x")),
        Categorical("owner", (False, True)),
    )


@pytest.mark.parametrize(
    ("name", "values", "action"),
    [
        ("age", [20, 64], "waits"),
        ("AGE", [20.5, 64.25], "waits"),
        ("age", [20, 6_400], "free"),  # of a building, or in days
        ("age", [-1, 64], "free"),
        ("age", [20, 20], "fixed"),
        ("wage", [20, 64], "free"),
        ("age_group", [1, 3], "free"),
    ],
)
def test_only_what_is_called_age_is_taken_as_one(name: str, values: list[float], action: str):
    schema = Schema.infer(pd.DataFrame({name: values, "other": [0, 1]}))
    assert schema[name].action == action
    assert any("only time moves" in note for note in schema.notes) == (action == "waits")


def test_polars_gives_the_same_as_pandas():
    frame = pd.DataFrame({"age": [20, 30], "gpa": [3.1, 2.7], "job": ["b", "a"]})
    frame["owner"] = [True, False]
    assert Schema.infer(pl.from_pandas(frame)) == Schema.infer(frame)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "dates or times.*the years since"),
        (pd.Series([None, None], dtype=float), "missing in all 2 rows"),
        (pd.Series([1, "1"], dtype=object), "mixes number and text"),
        (pd.Series([1, 2], dtype=object), "numbers as Python objects"),
        (pd.Series([{"a": 1}, {"b": 2}], dtype=object), "type dict"),
        (pd.Series([2**70, 2**71], dtype=object), "cannot be read as text, numbers"),
        (pd.Series([b"a", b"b"], dtype=object), "type bytes"),
        (pd.Series([None, None], dtype=object), "missing in all 2 rows"),
        ([1.0, np.inf], "row 1 is inf"),
        ([complex(1, 2), complex(2, 2)], "holds values of type"),
    ],
)
def test_a_column_that_no_feature_describes_is_refused(column, message):
    with pytest.raises(SchemaError, match=message):
        Schema.infer(pd.DataFrame({"x": column, "y": [1, 2]}))


@pytest.mark.parametrize(
    ("column", "feature", "value"),
    [
        ([1, 1, 1], Continuous("x", step=1, action="fixed"), "1"),
        ([0.5, None, 0.5], Continuous("x", step=0.1, action="fixed"), "0.5"),
        (["a", "a", None], Categorical("x", ("a",), "fixed"), "'a'"),
        ([True, True, True], Categorical("x", (False, True), "fixed"), "True"),
        (
            pd.Categorical(["b"] * 3, ["a", "b"], ordered=True),
            Ordinal("x", ("b",), "fixed"),
            "'b'",
        ),
    ],
)
def test_a_column_of_one_value_is_fixed_and_the_schema_says_so(column, feature, value):
    schema = Schema.infer(pd.DataFrame({"x": column, "y": [1, 2, 3]}))
    assert schema["x"] == feature
    (note,) = schema.notes
    assert f"'x' is {value} in all 3 rows" in note
    assert "taken as fixed" in note
    assert str(schema).endswith(f"Note: {note}")


@pytest.mark.parametrize("n", [30, 1001])
def test_a_column_of_identifiers_is_refused_with_what_to_do(n):
    frame = pd.DataFrame({"id": [f"person {i}" for i in range(n)]})
    with pytest.raises(SchemaError, match=r"identifies rows.*--drop id;.*Categorical\('id'"):
        Schema.infer(frame)


def test_few_names_that_all_differ_are_levels():
    frame = pd.DataFrame({"city": ["Hanoi", "Sydney", "Perth"]})
    assert Schema.infer(frame)["city"] == Categorical("city", ("Hanoi", "Perth", "Sydney"))


def test_more_than_a_thousand_levels_can_be_declared():
    levels = [f"shop {i}" for i in range(1001)]
    frame = pd.DataFrame({"shop": levels * 2})
    with pytest.raises(SchemaError, match=r"1,001 distinct values.*declare it yourself"):
        Schema.infer(frame)
    schema = Schema([Categorical("shop", levels)])
    assert Codec.fit(schema, frame).encode(frame)[-1].item() == 1000


def test_an_inferred_schema_shows_where_a_search_looks_and_the_scale():
    ratio = np.append(np.linspace(0, 1, 3996), [3220.0, 5000.0, 61106.0, 329664.0])
    schema = Schema.infer(pd.DataFrame({"ratio": ratio, "age": np.arange(4000) % 80 + 18}))
    header, ratio_line, age_line = schema.table()
    assert header == ("feature", "type", "permitted", "action", "scale")
    assert ratio_line[2] == "0.005 to 0.995 or its own"
    assert ratio_line[4] == "span 0.99, seen 0 to 329,664, rounded to 0.0001"
    assert age_line[2] == "18 to 97 or its own, step 1"
    assert Schema.from_json(schema.to_json()) == schema
    assert len(Schema.from_json(schema.to_json()).table()[0]) == 4
    assert schema.edit("age", range=(0, 120)).table()[2][2] == "0 to 120, step 1"


def open_schema(*names: str) -> Schema:
    return Schema([Continuous(name) for name in ("income", *names)])


@pytest.mark.parametrize(
    "name",
    ["age", "AGE", "sex", "personal_status_sex", "Gender", "maritalStatus", "foreign_worker"],
)
def test_a_name_that_sounds_personal_is_named(name: str) -> None:
    told = open_features_warning(open_schema(name))
    assert told is not None
    assert name in told


@pytest.mark.parametrize("name", ["wage", "savings", "trace", "average_bill", "Sussex"])
def test_a_name_that_only_holds_such_letters_is_not(name: str) -> None:
    assert open_features_warning(open_schema(name)) is None


def test_it_says_what_to_do() -> None:
    assert open_features_warning(open_schema("age", "sex")) == (
        "No schema says what a person can change, so everything may be advised to, also age and"
        " sex. If those are not to be advised, say so in the schema: schema.edit(['age'],"
        " action='waits') and schema.edit(['sex'], action='fixed', protected=True)."
    )


def test_what_the_schema_guards_is_not_told() -> None:
    schema = Schema([Continuous("age", action="waits"), Categorical("sex", ("a", "b"), "fixed")])
    assert open_features_warning(schema) is None
    assert open_features_warning(schema.edit("sex", action="free", protected=True)) is None
