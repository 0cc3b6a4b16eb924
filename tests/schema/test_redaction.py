"""What names a protected feature: one definition for results, logs and answers."""

from typing import Any

import pytest

from proce.schema import Categorical, Continuous, Redaction, Schema

REDACTION = Redaction({"age": [], "birthPlace": ["Place of birth"], "US$": []}, ["north"])


@pytest.mark.parametrize(
    ("text", "is_in"),
    [
        ("feature 'age': expected a number", True),
        ("Raise your AGE.", True),
        ('{"age": 3}', True),
        ("age", True),
        ("Raise your wage.", False),
        ("the average of the ages", False),
        ("your age_group", False),
        ("the place of birth is missing", True),
        ("the place\nof  birth", True),
        ("place_of_birth", True),
        ("birthPlace", True),
        ("birth place", True),
        ("a place of birthright", False),
        ("in US$", True),
        ("in US", False),
        ("lives in the north", False),
    ],
)
def test_a_text_names_a_feature_by_words_of_their_own(text: str, is_in: bool) -> None:
    assert REDACTION.in_text(text) is is_in
    assert REDACTION.in_error(text) is (is_in or "north" in text)


@pytest.mark.parametrize(
    ("rule", "is_in"),
    [
        ("cf.age >= x.age", True),
        ("cf.wage >= x.wage", False),
        ("cf.wage >= 3 and not (x.job == 'a' => -cf.age < 2)", True),
        ('cf["birthPlace"] == x["birthPlace"]', True),
        ("wage, job ~> age", True),
        ("age ~> wage", True),
        ("wage ~> job", False),
        ('cf.job != "age"', False),  # a level that is called so
        ("cf.age >=", True),  # cannot be read
        ("cf.wage >=", False),
    ],
)
def test_a_rule_names_the_features_it_reads(rule: str, is_in: bool) -> None:
    assert REDACTION.in_rule(rule) is is_in
    assert REDACTION.rules([rule]) == ([] if is_in else [rule])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rows": [{"wage": 4, "age": 1}]}, {"rows": [{"wage": 4}]}),
        ({"row_ids": [3], "values": {"age": 1}}, {"row_ids": [3], "values": {}}),
        ({"ranges": {"age": [0, 1], "wage": [1, 2]}}, {"ranges": {"wage": [1, 2]}}),
        ({"effort": {"age": 2}}, {"effort": {}}),
        ({"vary": ["age", "wage"]}, {"vary": ["wage"]}),
        ({"vary": ("age", "wage")}, {"vary": ["wage"]}),
        ({"rules": ["cf.age == x.age", "cf.wage > 3"]}, {"rules": ["cf.wage > 3"]}),
        (
            {"graph": {"edges": [["age", "wage"], ["wage", "job"]]}},
            {"graph": {"edges": [["wage", "job"]]}},
        ),
        ({"graph": {"dagitty": "dag { age -> wage }"}}, {"graph": None}),
        (
            {"graph": {"dagitty": "dag { wage -> job }"}},
            {"graph": {"dagitty": "dag { wage -> job }"}},
        ),
        ({"graph": None, "rows": None, "n": 2}, {"graph": None, "rows": None, "n": 2}),
    ],
)
def test_no_option_of_a_call_names_a_feature(
    options: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert REDACTION.options(options) == expected


@pytest.mark.parametrize("name", ['a"b', "a\\b", "_", " a"])
def test_a_name_of_signs_is_known_also_where_they_are_escaped(name: str) -> None:
    redaction = Redaction({name: []})
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    options = {"rules": [f'cf["{escaped}"] > 1'], "graph": {"dagitty": f'dag {{ "{escaped}" }}'}}
    assert redaction.options(options) == {"rules": [], "graph": None}
    assert Redaction({"sex": []}).in_text('dag { "se\\x" -> wage }')


def test_a_schema_says_what_is_protected_and_how_it_is_called() -> None:
    hidden = Categorical("birthPlace", ("north",), protected=True, label="where from")
    redaction = Redaction.of(Schema([Continuous("wage"), hidden]))
    assert redaction.names == {"birthPlace"}
    assert all(map(redaction.in_text, ("birthPlace", "birth place", "Where from")))
    assert redaction
    assert not Redaction.of(Schema([Continuous("wage")]))
    assert not Redaction({}).in_error("anything")
