"""Credit card: does a client fail to pay next month? (Taiwan, April to September 2005)

I-C. Yeh, "Default of Credit Card Clients", UCI Machine Learning Repository, 2009,
https://doi.org/10.24432/C55S3H, CC BY 4.0, as a table of commas.
"""

from io import BytesIO

import pandas as pd

from proce.causal import CausalGraph
from proce.datasets.dataset import Dataset, label_column, level_columns
from proce.datasets.fetch import DataFile, fetch
from proce.schema import Action, Categorical, Continuous, Feature, Ordinal, Schema

FILE = DataFile(
    "credit_card/default_credit_card.csv",
    "https://raw.githubusercontent.com/ofurman/counterfactuals/"
    "2b66ffa35af639b573e5ed5e19dd6f8ae0d8870d/data/credit_card.csv",
    "4edce6da569b2c30788a85fd98a9bafb1a983e8ca1a7aac875dd7ff853cbd0bb",
    2_867_208,
)
LABEL = "default payment next month"
# The file counts the months backwards, and calls the first delay PAY_0, not PAY_1.
MONTHS = {1: "September", 2: "August", 3: "July", 4: "June", 5: "May", 6: "April"}
DELAYS = {month: f"PAY_{month if month > 1 else 0}" for month in MONTHS}
BILLS = {month: f"BILL_AMT{month}" for month in MONTHS}
PAYMENTS = {month: f"PAY_AMT{month}" for month in MONTHS}
RULES = (  # the second kind: nobody is advised to pay more than was billed the month before
    "cf.AGE >= x.AGE",
    *(
        f"cf.PAY_AMT{month} > x.PAY_AMT{month} => cf.PAY_AMT{month} <= cf.BILL_AMT{month + 1}"
        for month in range(1, 6)
    ),
)
DOLLARS = "NT$"
SEXES = {1: "male", 2: "female"}
EDUCATIONS = {
    1: "graduate school",
    2: "university",
    3: "high school",
    4: "other",
    5: "unknown (5)",
    6: "unknown (6)",
    0: "unknown (0)",
}
MARRIAGES = {1: "married", 2: "single", 3: "other", 0: "unknown"}
UNUSED = -2  # the delay of a month in which the card was not used
DELAY_LABELS = {
    UNUSED: "not used",
    -1: "paid in full",
    0: "minimum paid",
    1: "1 month late",
    **{months: f"{months} months late" for months in range(2, 9)},
}


def load_credit_card() -> Dataset:
    """Load the credit-card clients, with the values of the published file.

    The graph is assumed, not known: what a person is decides the limit, the limit and the last
    bill decide a bill, a bill decides what is paid for it a month later, what is paid decides the
    next bill, and a delay the next delay. Nobody is advised not to use the card, or to be of
    unknown education. In ``recourse_schema`` sex, marriage and age are protected; the limit, which
    the bank sets, and education are fixed; a delay and a bill can only shrink, the bill not below
    zero, and a payment only grow. The six months are read as the next six, lived otherwise.
    """
    table = parse(fetch(FILE))
    schema = _schema()
    return Dataset(
        name="credit_card",
        frame=level_columns(table, schema),
        label=label_column("default", table[LABEL]),
        class_names=("pays", "defaults"),
        schema=schema,
        recourse_schema=_recourse_schema(schema),
        graph=CausalGraph(_edges(), schema.names),
        rules=RULES,
        wanted=0,
    )


def parse(content: bytes) -> pd.DataFrame:
    """Read the published file without its running number."""
    return pd.read_csv(BytesIO(content)).drop(columns="ID")


def _schema() -> Schema:
    features: list[Feature] = [
        Continuous("LIMIT_BAL", step=10, label="credit limit", unit=DOLLARS),
        Categorical("SEX", tuple(SEXES), Action.FIXED, label="sex", labels=SEXES, protected=True),
        Categorical("EDUCATION", tuple(EDUCATIONS), labels=EDUCATIONS, avoid=(5, 6, 0)),
        Categorical("MARRIAGE", tuple(MARRIAGES), labels=MARRIAGES, avoid=(0,)),
        Continuous("AGE", (21, 79), 1, Action.INCREASE, label="age", unit="years"),
    ]
    features += [_delay(month) for month in MONTHS]
    features += [_amount(BILLS[month], f"bill of {MONTHS[month]}") for month in MONTHS]
    features += [_amount(PAYMENTS[month], f"payment in {MONTHS[month]}") for month in MONTHS]
    return Schema(features)


def _delay(month: int) -> Ordinal:
    levels = _delays_of(month)
    return Ordinal(
        DELAYS[month],
        levels,
        label=f"payment status of {MONTHS[month]}",
        labels={level: DELAY_LABELS[level] for level in levels},
        avoid=(UNUSED,),
    )


def _amount(name: str, label: str) -> Continuous:
    return Continuous(name, step=1, label=label, unit=DOLLARS)


def _delays_of(month: int) -> tuple[int, ...]:
    """Return the delays that occur: nobody was one month late in April or May."""
    return tuple(delay for delay in range(-2, 9) if delay != 1 or month < 5)


def _recourse_schema(schema: Schema) -> Schema:
    schema = schema.edit(["LIMIT_BAL", "EDUCATION", "MARRIAGE"], action=Action.FIXED)
    schema = schema.edit("MARRIAGE", protected=True)
    schema = schema.edit("AGE", action=Action.WAITS, protected=True)
    schema = schema.edit(list(DELAYS.values()), action=Action.DECREASE)
    schema = schema.edit(list(BILLS.values()), range=(0, 500_000), action=Action.DECREASE)
    return schema.edit(list(PAYMENTS.values()), action=Action.INCREASE)


def _edges() -> list[tuple[str, str]]:
    edges = [("AGE", "EDUCATION"), ("AGE", "MARRIAGE")]
    edges += [(cause, "LIMIT_BAL") for cause in ("SEX", "AGE", "EDUCATION", "MARRIAGE")]
    edges += [("LIMIT_BAL", bill) for bill in BILLS.values()]
    # Before April there is no bill to compare with: who owed much then paid much, and an effect of
    # that payment would be found with the wrong sign.
    for month in range(1, 6):
        bill, payment = BILLS[month], PAYMENTS[month]
        edges += [(BILLS[month + 1], payment), (BILLS[month + 1], bill), (payment, bill)]
        edges += [(DELAYS[month + 1], DELAYS[month])]
    return edges
