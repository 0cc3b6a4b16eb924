"""Names that sound like what nobody can change are told, and nothing is decided."""

import pytest

from proce.schema import Categorical, Continuous, Schema
from proce.schema.infer import open_features_warning


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
