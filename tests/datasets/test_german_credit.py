"""German credit: the published file."""

import pandas as pd

from proce.datasets import german_credit, load_dataset
from proce.schema import Action, Ordinal

from .real_files import FOLDER, needs_real_files


def test_two_rows_by_hand() -> None:
    table = german_credit.parse(
        b'"default","present_emp_since","other_debtors","age"\n'
        b'0,"... < 1 year ","none",67\n1,"unemployed","none",22\n'
    )
    assert table["present_emp_since"].tolist() == ["... < 1 year", "unemployed"]
    assert table["other_debtors"].tolist() == ["none", "none"]
    assert table["age"].tolist() == [67, 22]


@needs_real_files
def test_the_rows_are_the_published_ones() -> None:
    path = FOLDER / "german_credit" / "german_credit.csv.gz"
    published = pd.read_csv(path, keep_default_na=False)
    data = load_dataset("german_credit")
    assert list(data.frame) == list(published)[1:]
    for name in data.frame:
        expected = published[name].astype(str).str.strip()
        assert (data.frame[name].astype(str) == expected).all(), name
    assert not data.frame.isna().any(axis=None)
    assert (data.label == published["default"]).all()
    assert data.label.sum() == 300


@needs_real_files
def test_levels_with_an_order_in_their_text_are_ordered() -> None:
    data = load_dataset("german_credit")
    ordered = {feature.name for feature in data.schema if isinstance(feature, Ordinal)}
    assert ordered == {
        "account_check_status",
        "savings",
        "present_emp_since",
        "property",
        "job",
    }
    assert data.frame["savings"].min() == "unknown/ no savings account"
    assert data.frame["present_emp_since"].max() == ".. >= 7 years"


@needs_real_files
def test_the_past_the_family_and_the_origin_are_not_advised() -> None:
    schema = load_dataset("german_credit").recourse_schema
    for name in (*german_credit.FIXED_FOR_RECOURSE, "personal_status_sex", "foreign_worker"):
        assert schema[name].action is Action.FIXED
    protected = {name for name in schema.names if schema[name].protected}
    assert protected == {"personal_status_sex", "age", "foreign_worker"}
    savings = schema["savings"]
    assert isinstance(savings, Ordinal)
    assert savings.action is Action.INCREASE
    assert savings.labels["... < 100 DM"] == "below 100 DM"
    assert savings.avoid == ("unknown/ no savings account",)
    assert schema["credit_amount"].action is Action.DECREASE
