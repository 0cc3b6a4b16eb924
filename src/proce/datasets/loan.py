"""Loan: who is granted a consumer loan? Written for this package, with every equation known.

None of its people exists. Dollars are of one year, and income is per year.
"""

import math

import numpy as np
import pandas as pd

from proce.arrays import Array, Floats
from proce.causal import (
    Additive,
    CausalGraph,
    Choice,
    Mechanism,
    Multiplicative,
    Ordered,
    StructuralCausalModel,
    generate,
)
from proce.causal.equations.terms import Parents
from proce.compiled.elementary import exponentials, logarithms, logistics, quantiles
from proce.datasets.dataset import Dataset, check_draw, edges_into, generated_frame, label_column
from proce.schema import Action, Categorical, Codec, Continuous, Ordinal, Schema

EDUCATION = ("no diploma", "high school", "some college", "bachelor", "master", "doctorate")
JOBS = (
    "manual",
    "service",
    "office",
    "technical",
    "professional",
    "management",
    "self-employed",
)
HOUSING = ("with family", "rents", "mortgage", "owns")

START_OF_WORK = (17, 18, 20, 22, 24, 27)  # the usual age, by education
TYPICAL_INCOME = 45_000.0


def _table(*figures: object) -> Array:
    return np.array(figures, dtype=np.float64)


_START = _table(*START_OF_WORK)
_JOB_BY_EDUCATION = _table(
    # manual service office technical professional management self-employed
    (2.0, 1.6, -0.6, -1.2, -9.0, -3.5, -0.4),
    (1.7, 1.2, 0.8, 0.0, -7.0, -1.4, 0.0),
    (0.9, 0.9, 1.2, 1.0, -3.0, -0.4, 0.1),
    (-1.4, -0.6, 1.1, 1.1, 1.0, 0.6, 0.1),
    (-3.5, -2.2, 0.1, 0.8, 1.9, 1.3, 0.1),
    (-6.0, -4.0, -1.5, 0.3, 2.6, 0.9, 0.0),
)
_JOB_BY_SEX = _table((-0.9, 0.4, 0.6, -0.4, 0.2, -0.2, -0.2), (0.6, -0.3, -0.4, 0.3, 0.0, 0.1, 0.1))
_JOB_BY_DECADE = _table(-0.05, -0.1, 0.0, -0.05, 0.0, 0.45, 0.25)
_PAY_OF_JOB = _table(33_000, 27_500, 35_500, 47_000, 52_000, 60_000, 40_000)
_PAY_BY_EDUCATION = _table(-0.14, 0.0, 0.05, 0.18, 0.3, 0.42)
_PAY_BY_SEX = _table(0.0, 0.06)
_HOUSING_NOISE = 0.7  # of a level
_HOUSING_THRESHOLDS = _table(0.5, 1.5, 2.5) / _HOUSING_NOISE
_AMOUNT_BY_HOUSING = _table(0.8, 1.0, 1.2, 1.15)


def _job(p: Parents) -> Array:
    decades = (p["age"] - 40) / 10
    return (
        _look_up(_JOB_BY_EDUCATION, p["education"])
        + _look_up(_JOB_BY_SEX, p["sex"])
        + _JOB_BY_DECADE * decades[..., None]
    )


def _years_employed(p: Parents) -> Array:
    return p["age"] - _look_up(_START, p["education"])


def _income(p: Parents) -> Array:
    years = p["years_employed"]
    career = 0.031 * years - 0.00055 * np.square(years)
    log_pay = (
        logarithms(_look_up(_PAY_OF_JOB, p["job"]))
        + _look_up(_PAY_BY_EDUCATION, p["education"])
        + _look_up(_PAY_BY_SEX, p["sex"])
    )
    return exponentials(log_pay + career)


def _housing(p: Parents) -> Array:
    return (0.8 + 0.036 * (p["age"] - 30) + 0.8 * _log_income(p)) / _HOUSING_NOISE


def _savings(p: Parents) -> Array:
    return 8_000 * exponentials(1.5 * _log_income(p) + 0.03 * (p["age"] - 35))


def _debt(p: Parents) -> Array:
    prime = exponentials(-np.square((p["age"] - 36) / 22))
    thrift = 1 + p["savings"] / p["income"]
    return (2_500 + 7_500 * prime) * exponentials(0.35 * _log_income(p)) / thrift


def _credit_score(p: Parents) -> Array:
    return (
        655
        + 30 * np.tanh((p["age"] - 35) / 20)
        + 35 * np.tanh(p["years_employed"] / 8)
        + 40 * np.tanh(p["savings"] / 25_000)
        - 160 * np.tanh(p["debt"] / p["income"])
    )


def _amount(p: Parents) -> Array:
    # People who earn more ask for more, which takes back part of what a raise does for them.
    return 13_500 * exponentials(0.6 * _log_income(p)) * _look_up(_AMOUNT_BY_HOUSING, p["housing"])


def _duration(p: Parents) -> Array:
    return 12 + 60 * (1 - exponentials(-p["amount"] / (0.5 * p["income"])))


def _log_income(p: Parents) -> Array:
    """Return the logarithm of the income over the typical one."""
    return logarithms(p["income"] / TYPICAL_INCOME)


def _look_up(table: Array, codes: Array) -> Array:
    """Return the entries of a table for level codes."""
    return table[codes.astype(np.int64)]


MECHANISMS: dict[str, Mechanism] = {
    "job": Choice(_job, len(JOBS)),
    "years_employed": Additive(_years_employed, limits=(0, 60)),
    "income": Multiplicative(_income),
    "housing": Ordered(_housing, _HOUSING_THRESHOLDS),
    "savings": Multiplicative(_savings),
    "debt": Multiplicative(_debt),
    "credit_score": Additive(_credit_score, limits=(300, 850)),
    "amount": Multiplicative(_amount),
    "duration": Additive(_duration, limits=(12, 84)),
}


SCHEMA = Schema(
    [
        Continuous("age", (18, 80), step=1, action=Action.INCREASE, unit="years"),
        Categorical("sex", ("female", "male"), action=Action.FIXED),
        Ordinal("education", EDUCATION),
        Categorical("job", JOBS),
        Continuous("years_employed", (0, 60), step=1, label="time in employment", unit="years"),
        Continuous("income", (5_000, 500_000), step=100, label="yearly income", unit="$"),
        Ordinal("housing", HOUSING),
        Continuous("savings", (0, 1_000_000), step=100, unit="$"),
        Continuous("debt", (0, 500_000), step=100, unit="$"),
        Continuous("credit_score", (300, 850), step=1),
        Continuous("amount", (500, 300_000), step=100, label="loan amount", unit="$"),
        Continuous("duration", (12, 84), step=6, label="loan duration", unit="months"),
    ]
)
GRAPH = CausalGraph(
    edges_into(
        {
            "job": ("age", "sex", "education"),
            "years_employed": ("age", "education"),
            "income": ("sex", "education", "job", "years_employed"),
            "housing": ("age", "income"),
            "savings": ("age", "income"),
            "debt": ("age", "income", "savings"),
            "credit_score": ("age", "years_employed", "income", "savings", "debt"),
            "amount": ("income", "housing"),
            "duration": ("income", "amount"),
        }
    ),
    SCHEMA.names,
)
RULES = (
    "cf.age >= x.age",
    "cf.education >= x.education",
    "cf.education > x.education => cf.age > x.age",
)
INDIRECT = ("years_employed", "credit_score")


def load_loan(n: int = 5_000, seed: int = 0) -> Dataset:
    """Draw loan applications and the bank's decisions.

    Age, sex and education have no cause here, but they are not independent: nobody has a
    doctorate at 19. In ``recourse_schema`` age waits, and the credit score and the years in
    employment are indirect: they follow from debt, savings, age and schooling. Sex is protected.

    A higher income invites a larger loan, which weighs against the applicant: of the people whom
    a model would accept with a somewhat higher income and all else equal, a part is still
    rejected once the consequences have come about.
    """
    check_draw("loan", n, seed)
    rng = np.random.default_rng(seed)
    values = generate(GRAPH, MECHANISMS, SCHEMA, _roots(n, rng), _noise(n, rng))
    frame = generated_frame(values, SCHEMA)
    approved = rng.random(n) < chance_of_approval(frame)
    return Dataset(
        name="loan",
        frame=frame,
        label=label_column("approved", approved),
        class_names=("rejected", "approved"),
        schema=SCHEMA,
        recourse_schema=SCHEMA.edit(INDIRECT, action=Action.INDIRECT)
        .edit("age", action=Action.WAITS)
        .edit("sex", protected=True),
        graph=GRAPH,
        rules=RULES,
        truth=StructuralCausalModel(GRAPH, MECHANISMS, Codec.fit(SCHEMA, frame)),
        sampler=load_loan,
    )


def chance_of_approval(frame: pd.DataFrame) -> Floats:
    """Return the probability that the bank says yes."""
    income, amount, debt = (frame[name].to_numpy(float) for name in ("income", "amount", "debt"))
    payment = amount * (1 / frame["duration"].to_numpy() + 0.09 / 24)  # monthly, 9% a year
    burden = (payment + 0.025 * debt) / (income / 12)
    cushion = logarithms((frame["savings"].to_numpy() + 1_000) / (amount + 1_000))
    logit = (
        -22 * (burden - 0.14)
        + 2.2 * np.tanh((frame["credit_score"].to_numpy() - 660) / 60)
        + 0.9 * cushion
        + frame["years_employed"].clip(upper=5).to_numpy() / 5
        + 0.4 * (frame["housing"] == "owns").to_numpy()
    )
    return logistics(1.3 * logit)


def _roots(n: int, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the features that have no cause; nobody is too young for an education."""
    education = rng.choice(len(EDUCATION), n, p=(0.07, 0.31, 0.25, 0.24, 0.1, 0.03))
    youngest = np.array(START_OF_WORK)[education] + 1
    age = youngest + (72 - youngest) * rng.beta(1.4, 2.4, n)
    sex = rng.random(n) < 0.52
    roots = {"age": np.floor(age), "sex": sex, "education": education}
    return {name: root.astype(np.float64) for name, root in roots.items()}


def _noise(n: int, rng: np.random.Generator) -> dict[str, Array]:
    """Draw the noise of every equation."""
    without_debt = rng.random(n) < 0.12
    noise = {
        "job": rng.gumbel(size=(n, len(JOBS))),
        "years_employed": -rng.gamma(1.2, 1.8, n),
        "income": _normal(0.22, n, rng),
        "housing": _normal(1.0, n, rng),
        "savings": _normal(0.8, n, rng),
        "debt": np.where(without_debt, -math.inf, _normal(0.8, n, rng)),
        "credit_score": _normal(38.0, n, rng),
        "amount": _normal(0.45, n, rng),
        "duration": _normal(9.0, n, rng),
    }
    return {name: draws.reshape(n, -1) for name, draws in noise.items()}


def _normal(sd: float, n: int, rng: np.random.Generator) -> Floats:
    """Draw normal noise without the outermost 0.6%, so that no row is absurd."""
    quantile = rng.uniform(0.003, 0.997, n)
    return sd * quantiles(quantile)
