"""German credit: does a borrower of a bank in southern Germany fail to pay back?

H. Hofmann, "Statlog (German Credit Data)", UCI Machine Learning Repository, 1994,
https://doi.org/10.24432/C5NC77, CC BY 4.0, with the codes spelt out as the LORE project keeps it.
"""

from io import BytesIO

import pandas as pd

from proce.causal import CausalGraph
from proce.datasets.dataset import Dataset, label_column, level_columns
from proce.datasets.fetch import DataFile, fetch
from proce.schema import Action, Categorical, Continuous, Ordinal, Schema

FILE = DataFile(
    "german_credit/german_credit.csv",
    "https://raw.githubusercontent.com/riccotti/LORE/8af39ed56d89cc9ed724498a36cfa87529f43ad9/"
    "datasets/german_credit.csv",
    "2cc8b251c9fdf76a412c452626055ebb562555c8aa9ad0719b4d41ef24b93135",
    293_011,
)
# Levels with an order stand from the worst to the best; who has no account comes first.
CHECKING = (
    "no checking account",
    "< 0 DM",
    "0 <= ... < 200 DM",
    ">= 200 DM / salary assignments for at least 1 year",
)
SAVINGS = (
    "unknown/ no savings account",
    "... < 100 DM",
    "100 <= ... < 500 DM",
    "500 <= ... < 1000 DM",
    ".. >= 1000 DM",
)
EMPLOYMENT = (
    "unemployed",
    "... < 1 year",
    "1 <= ... < 4 years",
    "4 <= ... < 7 years",
    ".. >= 7 years",
)
PROPERTY = (
    "unknown / no property",
    "if not A121/A122 : car or other, not in attribute 6",
    "if not A121 : building society savings agreement/ life insurance",
    "real estate",
)
JOBS = (
    "unemployed/ unskilled - non-resident",
    "unskilled - resident",
    "skilled employee / official",
    "management/ self-employed/ highly qualified employee/ officer",
)
HISTORIES = (
    "no credits taken/ all credits paid back duly",
    "all credits at this bank paid back duly",
    "existing credits paid back duly till now",
    "delay in paying off in the past",
    "critical account/ other credits existing (not at this bank)",
)
PURPOSES = (
    "car (new)",
    "car (used)",
    "furniture/equipment",
    "radio/television",
    "domestic appliances",
    "repairs",
    "education",
    "(vacation - does not exist?)",
    "retraining",
    "business",
)
PERSONAL = (
    "male : single",
    "male : married/widowed",
    "male : divorced/separated",
    "female : divorced/separated/married",
)
SCHEMA = Schema(
    [
        Ordinal("account_check_status", CHECKING),
        Continuous("duration_in_month", (4, 72), step=1),
        Categorical("credit_history", HISTORIES),
        Categorical("purpose", PURPOSES),
        Continuous("credit_amount", (250, 18_424), step=1),
        Ordinal("savings", SAVINGS),
        Ordinal("present_emp_since", EMPLOYMENT),
        Continuous("installment_as_income_perc", (1, 4), step=1),
        Categorical("personal_status_sex", PERSONAL, action=Action.FIXED),
        Categorical("other_debtors", ("none", "guarantor", "co-applicant")),
        Continuous("present_res_since", (1, 4), step=1),
        Ordinal("property", PROPERTY),
        Continuous("age", (19, 75), step=1, action=Action.INCREASE),
        Categorical("other_installment_plans", ("none", "bank", "stores")),
        Categorical("housing", ("own", "rent", "for free")),
        Continuous("credits_this_bank", (1, 4), step=1),
        Ordinal("job", JOBS),
        Continuous("people_under_maintenance", (1, 2), step=1),
        Categorical("telephone", ("none", "yes, registered under the customers name")),
        Categorical("foreign_worker", ("yes", "no"), action=Action.FIXED),
    ]
)
GRAPH = CausalGraph(
    [
        ("age", "job"),
        ("age", "present_emp_since"),
        ("age", "present_res_since"),
        ("age", "property"),
        ("job", "present_emp_since"),
        ("job", "savings"),
        ("job", "property"),
        ("job", "credit_amount"),
        ("present_emp_since", "savings"),
        ("savings", "account_check_status"),
        ("property", "housing"),
        ("purpose", "credit_amount"),
        ("credit_amount", "duration_in_month"),
        ("credit_amount", "installment_as_income_perc"),
        ("duration_in_month", "installment_as_income_perc"),
    ],
    SCHEMA.names,
)
FIXED_FOR_RECOURSE = (
    "credit_history",
    "purpose",
    "present_res_since",
    "age",
    "credits_this_bank",
    "people_under_maintenance",
)


def load_german_credit() -> Dataset:
    """Load the German borrowers.

    The graph is assumed, not known, and so is the order of the levels of people without an
    account. In ``recourse_schema`` the past (credit history, residence, other credits), the
    purpose, the family and the age are fixed; the instalment rate is indirect; checking account,
    savings, employment and job can only improve.
    """
    table = parse(fetch(FILE))
    schema = SCHEMA.edit(FIXED_FOR_RECOURSE, action=Action.FIXED)
    schema = schema.edit("installment_as_income_perc", action=Action.INDIRECT)
    improving = ("account_check_status", "savings", "present_emp_since", "property", "job")
    return Dataset(
        name="german_credit",
        frame=level_columns(table, SCHEMA),
        label=label_column("default", table["default"]),
        class_names=("pays back", "defaults"),
        schema=SCHEMA,
        recourse_schema=schema.edit(improving, action=Action.INCREASE),
        graph=GRAPH,
        rules=("cf.age >= x.age",),
    )


def parse(content: bytes) -> pd.DataFrame:
    """Read the published file; blanks at the ends of its texts are dropped."""
    table = pd.read_csv(BytesIO(content), keep_default_na=False)
    texts = table.select_dtypes(exclude="number").columns
    return table.assign(**{name: table[name].str.strip() for name in texts})
