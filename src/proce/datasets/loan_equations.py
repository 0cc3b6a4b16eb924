"""The equations of the loan data, in dollars, years and level codes."""

import numpy as np

from proce.arrays import Array
from proce.causal import Additive, Choice, Mechanism, Multiplicative, Ordered
from proce.causal.equations.terms import Parents
from proce.compiled.elementary import exponentials, logarithms

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
