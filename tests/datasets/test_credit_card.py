"""Credit card: the published file."""

import pandas as pd

from proce.datasets import credit_card, load_dataset
from proce.schema import Action, Ordinal

from .real_files import FOLDER, needs_real_files


def test_two_rows_by_hand() -> None:
    table = credit_card.parse(
        b"ID,LIMIT_BAL,SEX,PAY_0,default payment next month\n1,20000,2,-1,1\n2,90000,1,0,0\n"
    )
    assert list(table) == ["LIMIT_BAL", "SEX", "PAY_0", "default payment next month"]
    assert table["PAY_0"].tolist() == [-1, 0]


@needs_real_files
def test_the_rows_are_the_published_ones() -> None:
    published = pd.read_csv(FOLDER / "credit_card" / "default_credit_card.csv.gz")
    data = load_dataset("credit_card")
    assert list(data.frame) == list(published)[1:-1]
    for name in data.frame:
        assert (data.frame[name].astype(int) == published[name]).all()
    assert (data.label == published["default payment next month"]).all()
    assert len(data.frame) == 30_000
    assert data.label.sum() == 6_636


@needs_real_files
def test_only_delays_that_occur_are_levels() -> None:
    data = load_dataset("credit_card")
    for month, name in credit_card.DELAYS.items():
        feature = data.schema[name]
        assert isinstance(feature, Ordinal)
        assert sorted(data.frame[name].unique()) == list(feature.levels), month


@needs_real_files
def test_a_client_can_be_in_time_pay_more_and_spend_less() -> None:
    schema = load_dataset("credit_card").recourse_schema
    assert {schema[name].action for name in credit_card.DELAYS.values()} == {Action.DECREASE}
    assert {schema[name].action for name in credit_card.PAYMENTS.values()} == {Action.INCREASE}
    assert {schema[name].action for name in credit_card.BILLS.values()} == {Action.DECREASE}
    for name in ("LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"):
        assert not schema[name].can_be_acted_on


@needs_real_files
def test_the_columns_and_codes_have_words() -> None:
    schema = load_dataset("credit_card").recourse_schema
    assert {name for name in schema.names if schema[name].protected} == {"SEX", "MARRIAGE", "AGE"}
    assert schema["BILL_AMT1"].label == "bill of September"
    assert schema["PAY_AMT6"].label == "payment in April"
    assert schema["LIMIT_BAL"].unit == "NT$"
    delay = schema["PAY_0"]
    assert isinstance(delay, Ordinal)
    assert delay.labels[-1] == "paid in full"
    assert delay.labels[2] == "2 months late"
    assert delay.avoid == (-2,)


@needs_real_files
def test_a_bill_follows_the_last_bill_and_what_was_paid_for_it() -> None:
    graph = load_dataset("credit_card").graph
    assert set(graph.parents("BILL_AMT1")) == {"LIMIT_BAL", "BILL_AMT2", "PAY_AMT1"}
    assert graph.parents("PAY_0") == ("PAY_2",)
    assert graph.parents("BILL_AMT6") == ("LIMIT_BAL",)
    assert graph.parents("PAY_AMT6") == graph.parents("PAY_6") == ()
    assert set(graph.parents("LIMIT_BAL")) == {"SEX", "EDUCATION", "MARRIAGE", "AGE"}
