"""Features, levels, units, numbers and counts have words for people, which can be trusted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proce.errors import ProceError, SchemaError
from proce.schema import Categorical, Continuous, Ordinal, Schema
from proce.schema.features.naming import checked_words, is_visible, spoken_name, with_unit
from proce.schema.features.numerals import counted, with_minus


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("DebtRatio", "debt ratio"),
        ("PAY_AMT1", "pay amt 1"),
        ("LIMIT_BAL", "limit bal"),
        ("credit_history", "credit history"),
        ("hoursPerWeek", "hours per week"),
        ("debt.ratio", "debt ratio"),
        ("NumberOfTime30-59DaysPastDue", "number of time 30-59 days past due"),
        ("LSAT", "LSAT"),
        ("ZFYA", "ZFYA"),
        ("LSATScore", "LSAT score"),
        ("has_FICO", "has FICO"),
        ("EDUCATION", "education"),
        ("AGE", "age"),
        ("PAY_0", "pay 0"),
        ("x1", "x1"),
        ("job_B", "job B"),
        ("Hours per Week", "Hours per Week"),
        ("_", "_"),
    ],
)
def test_a_columns_name_is_split_into_words(name, words):
    assert spoken_name(name) == words


@given(st.text(max_size=30))
def test_every_name_has_some_words(name):
    assert bool(spoken_name(name)) == bool(name)


@pytest.mark.parametrize(
    ("unit", "texts"),
    [
        (None, ["2,000", "−5", "1"]),
        ("$", ["$2,000", "−$5", "$1"]),
        ("US$", ["US$2,000", "−US$5", "US$1"]),
        ("€/month", ["€2,000/month", "−€5/month", "€1/month"]),
        ("$ a year", ["$2,000 a year", "−$5 a year", "$1 a year"]),
        ("%", ["2,000%", "−5%", "1%"]),
        ("km", ["2,000 km", "−5 km", "1 km"]),
        ("months", ["2,000 months", "−5 months", "1 month"]),
        ("years of school", ["2,000 years of school", "−5 years of school", "1 year of school"]),
        ("inches", ["2,000 inches", "−5 inches", "1 inch"]),
        ("kbps", ["2,000 kbps", "−5 kbps", "1 kbps"]),
    ],
)
def test_a_unit_stands_where_people_write_it(unit, texts):
    assert [with_unit(number, unit) for number in ("2,000", "-5", "1")] == texts


HOSTILE = ["", "  ", "a\nb", "a\tb", "\x1b[31mred", "\u202egnp", "a\u2028b", "\u200f", "x" * 10_000]


@pytest.mark.parametrize("text", [*HOSTILE, 3, None, b"x"])
def test_hostile_words_are_refused(text):
    with pytest.raises(SchemaError, match="feature 'a': label") as raised:
        checked_words("feature 'a': label", text)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("unit", [*HOSTILE, "000", ".5", "-", "$ 12", "m" * 30])
def test_a_hostile_unit_is_refused(unit):
    with pytest.raises(SchemaError, match="feature 'a': unit"):
        Continuous("a", unit=unit)


@given(st.text())
def test_whatever_words_are_accepted_stand_on_one_visible_line(text):
    try:
        words = checked_words("label", text)
    except ProceError:
        return
    assert len(words.splitlines()) == 1
    assert all(is_visible(char) for char in words)


def worded() -> Schema:
    return Schema(
        [
            Continuous("inc", label="yearly income", unit="$", effort=2),
            Ordinal("grade", (1, 2, 3), labels={3: "very good"}, avoid=[1], unit="points"),
            Categorical("flag", (False, True), labels={True: "yes", False: "no"}),
            Categorical("job", ("a", "none"), avoid=("none",), protected=True),
        ]
    )


def test_words_survive_json_and_say_nothing_where_there_are_none():
    schema = worded()
    assert Schema.from_json(schema.to_json()) == schema
    assert json.loads(schema.to_json())["features"][2]["labels"] == {"false": "no", "true": "yes"}
    plain = Schema([Continuous("a"), Ordinal("b", (1, 2))])
    assert all(
        set(feature) <= {"type", "name", "levels", "action"}
        for feature in json.loads(plain.to_json())["features"]
    )


def test_words_are_part_of_what_a_feature_is():
    assert Continuous("a", unit="$") != Continuous("a")
    assert Ordinal("a", (1, 2), labels={1: "x"}) != Ordinal("a", (1, 2))
    assert hash(Ordinal("a", (1, 2), labels={1: "x"})) == hash(
        Ordinal("a", (1, 2), labels={1: "x"})
    )


def test_editing_sets_words_and_keeps_them():
    schema = worded().edit(["inc", "job"], effort=0.5).edit("inc", label="income")
    assert (schema["inc"].label, schema["inc"].unit, schema["inc"].effort) == ("income", "$", 0.5)
    assert schema["job"].avoid == ("none",)
    fewer = schema.edit("grade", levels=[2, 3, 4])
    assert fewer["grade"].labels == {3: "very good"}
    assert fewer["grade"].avoid == ()
    assert schema.edit("grade", kind="categorical")["grade"].labels == {3: "very good"}


def test_words_are_printed_with_the_schema():
    lines = [line.split("  ") for line in str(worded()).splitlines()]
    cells = [[cell.strip() for cell in line if cell] for line in lines]
    assert cells == [
        ["feature", "type", "permitted", "action", "in words"],
        ["inc", "continuous", "as in training", "free, effort 2", "yearly income, $…"],
        ["grade", "ordinal", "1 < 2 < 3; never 1", "free", "grade, … points"],
        ["flag", "categorical", "False, True", "free", "flag"],
        ["job", "categorical", "a, none; never none", "free, protected", "job"],
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Continuous("a", effort=0), r"effort is 0; expected 0.1 \(easy\) to 10"),
        (lambda: Continuous("a", effort="2"), "expected a finite number"),
        (lambda: Continuous("a", protected=1), "expected true or false"),
        (lambda: Continuous("a", label=""), "expected some words"),
        (lambda: Ordinal("a", (1, 2), labels={3: "x"}), "labels names 3, which is not a level"),
        (lambda: Ordinal("a", (1, 2), labels={True: "x"}), "labels names True"),
        (lambda: Ordinal("a", (1, 2), labels=["x"]), "expected words by level"),
        (lambda: Ordinal("a", (1, 2), labels={1: "\n"}), "the label of level 1"),
        (lambda: Categorical("a", ("x", "y"), avoid="x"), "expected a list of levels"),
        (lambda: Categorical("a", ("x", "y"), avoid=["z"]), "avoid names 'z'"),
        (lambda: Categorical("a", ("x", "y"), avoid=["y", "x"]), "names every level"),
    ],
)
def test_wrong_words_are_refused(make, message):
    with pytest.raises(SchemaError, match=message):
        make()


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1_234, "1,234 rows"), (1.5, "1.5 rows")],
)
def test_a_noun_agrees_with_its_number(count: float, told: str) -> None:
    assert counted(count, "row") == told


def test_a_plural_of_its_own_is_given() -> None:
    assert counted(2, "person", "people") == "2 people"
    assert counted(1, "person", "people") == "1 person"


@pytest.mark.parametrize(
    ("number", "told"),
    [("-1,200", "−1,200"), ("5", "5"), ("-0", "0"), ("-0.00", "0.00"), ("1e-20", "1e−20")],
)
def test_a_hyphen_becomes_a_minus_and_nothing_is_minus_zero(number: str, told: str) -> None:
    assert with_minus(number) == told
