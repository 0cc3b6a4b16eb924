"""German credit: does a borrower of a bank in southern Germany fail to pay back?

H. Hofmann, "Statlog (German Credit Data)", UCI Machine Learning Repository, 1994,
https://doi.org/10.24432/C5NC77, CC BY 4.0, with the codes spelt out as the LORE project keeps it.
"""

from collections.abc import Mapping
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
# The levels with the words that are shown. Those with an order stand from the worst to the best,
# and who has no account comes first.
CHECKING = {
    "no checking account": "none",
    "< 0 DM": "below 0 DM",
    "0 <= ... < 200 DM": "0–200 DM",
    ">= 200 DM / salary assignments for at least 1 year": "200 DM or more, or a salary for a year",
}
SAVINGS = {
    "unknown/ no savings account": "none or unknown",
    "... < 100 DM": "below 100 DM",
    "100 <= ... < 500 DM": "100–500 DM",
    "500 <= ... < 1000 DM": "500–1,000 DM",
    ".. >= 1000 DM": "1,000 DM or more",
}
EMPLOYMENT = {
    "unemployed": "unemployed",
    "... < 1 year": "less than 1 year",
    "1 <= ... < 4 years": "1–4 years",
    "4 <= ... < 7 years": "4–7 years",
    ".. >= 7 years": "7 years or more",
}
PROPERTY = {
    "unknown / no property": "none or unknown",
    "if not A121/A122 : car or other, not in attribute 6": "a car or other",
    "if not A121 : building society savings agreement/ life insurance": "savings agreement or life"
    " insurance",
    "real estate": "real estate",
}
JOBS = {
    "unemployed/ unskilled - non-resident": "unemployed or unskilled, not resident",
    "unskilled - resident": "unskilled, resident",
    "skilled employee / official": "skilled employee or official",
    "management/ self-employed/ highly qualified employee/ officer": "management, self-employed or"
    " highly qualified",
}
HISTORIES = {
    "no credits taken/ all credits paid back duly": "none, or all paid back duly",
    "all credits at this bank paid back duly": "all at this bank paid back duly",
    "existing credits paid back duly till now": "paid back duly till now",
    "delay in paying off in the past": "delays in the past",
    "critical account/ other credits existing (not at this bank)": "critical, or credits elsewhere",
}
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
PERSONAL = {
    "male : single": "male, single",
    "male : married/widowed": "male, married or widowed",
    "male : divorced/separated": "male, divorced or separated",
    "female : divorced/separated/married": "female, divorced, separated or married",
}
TELEPHONE = {"none": "no", "yes, registered under the customers name": "yes"}


def _ordered(name: str, words: Mapping[str, str], label: str) -> Ordinal:
    """Return an ordinal feature whose worst level, mostly unknown, nobody is advised to have."""
    worst, *_ = words
    return Ordinal(name, tuple(words), label=label, labels=words, avoid=(worst,))


SCHEMA = Schema(
    [
        _ordered("account_check_status", CHECKING, "checking account"),
        Continuous("duration_in_month", step=1, label="duration", unit="months"),
        Categorical("credit_history", tuple(HISTORIES), label="credit history", labels=HISTORIES),
        Categorical("purpose", PURPOSES, avoid=("(vacation - does not exist?)",)),
        Continuous("credit_amount", step=1, label="amount of credit", unit="DM"),
        _ordered("savings", SAVINGS, "savings"),
        _ordered("present_emp_since", EMPLOYMENT, "time in employment"),
        Continuous("installment_as_income_perc", (1, 4), 1, label="class of the instalment rate"),
        Categorical(
            "personal_status_sex",
            tuple(PERSONAL),
            Action.FIXED,
            label="personal status and sex",
            labels=PERSONAL,
            protected=True,
        ),
        Categorical("other_debtors", ("none", "guarantor", "co-applicant"), label="other debtors"),
        Continuous("present_res_since", (1, 4), 1, label="class of the time of residence"),
        _ordered("property", PROPERTY, "property"),
        Continuous("age", (19, 75), 1, Action.INCREASE, unit="years"),
        Categorical(
            "other_installment_plans", ("none", "bank", "stores"), label="other instalment plans"
        ),
        Categorical("housing", ("own", "rent", "for free")),
        Continuous("credits_this_bank", (1, 4), 1, label="credits at this bank"),
        _ordered("job", JOBS, "job"),
        Continuous("people_under_maintenance", (1, 2), 1, label="dependants"),
        Categorical("telephone", tuple(TELEPHONE), labels=TELEPHONE),
        Categorical(
            "foreign_worker", ("yes", "no"), Action.FIXED, label="foreign worker", protected=True
        ),
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
    "credits_this_bank",
    "people_under_maintenance",
)


def load_german_credit() -> Dataset:
    """Load the German borrowers.

    The graph is assumed, not known, and so is the order of the levels of people without an
    account; nobody is advised to have none, or to be unemployed. Sex and personal status, foreign
    workers and, in ``recourse_schema``, age are protected. There the past (credit history,
    residence, other credits), the purpose and the family are fixed; the instalment rate is
    indirect; checking account, savings, employment, property and job can only improve, and the
    amount of credit can only fall: nobody is told to borrow more than they asked for.
    """
    table = parse(fetch(FILE))
    schema = SCHEMA.edit(FIXED_FOR_RECOURSE, action=Action.FIXED)
    schema = schema.edit("age", action=Action.WAITS, protected=True)
    schema = schema.edit("installment_as_income_perc", action=Action.INDIRECT)
    schema = schema.edit("credit_amount", action=Action.DECREASE)
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
        wanted=0,
    )


def parse(content: bytes) -> pd.DataFrame:
    """Read the published file; blanks at the ends of its texts are dropped."""
    table = pd.read_csv(BytesIO(content), keep_default_na=False)
    texts = table.select_dtypes(exclude="number").columns
    return table.assign(**{name: table[name].str.strip() for name in texts})
