"""All families of equations: a new one is added here, and nowhere else."""

from typing import Literal, get_args

from proce.causal.equations.boosted import BOOSTING
from proce.causal.equations.learning import EffectRows, Family
from proce.causal.equations.levels import LOGISTIC, ORDERED
from proce.causal.equations.regression import REGRESSION
from proce.errors import GraphError, did_you_mean
from proce.schema import Categorical

# What a person may ask for; ``auto`` chooses among curves, see `fitting.py`.
Kind = Literal[
    "auto",
    "linear",
    "quadratic",
    "spline",
    "log-linear",
    "log-quadratic",
    "log-spline",
    "boosting",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
FAMILIES = (REGRESSION, ORDERED, BOOSTING, LOGISTIC)
EQUATIONS = {equation.form: equation for family in FAMILIES for equation in family.equations}


def check_kind(kind: str) -> None:
    """Raise a GraphError where nobody may ask for a kind of equation."""
    if kind not in KINDS:
        raise GraphError(
            f"unknown kind of mechanism {kind!r}; expected one of {', '.join(KINDS)}."
            + did_you_mean(kind, KINDS)
        )


def describe(kind: str) -> str:
    """Return a kind of equation in words.

    >>> describe("log-sparse-spline")
    'a spline of the logarithm, without needless terms'
    >>> describe("ordered-linear")
    'a straight line with thresholds between the levels'
    """
    if kind == "given":
        return "as it was given"
    words = family_of(kind).words(kind)
    assert words is not None, "a family has words for its kinds"
    return words


def family_for(kind: str, effect: EffectRows) -> Family:
    """Return the family that fits a kind to an effect; levels without an order have but one."""
    return LOGISTIC if isinstance(effect.feature, Categorical) else family_of(kind)


def family_of(kind: str) -> Family:
    """Return the family with a kind."""
    for family in FAMILIES:
        if family.words(kind) is not None:
            return family
    raise ValueError(f"{kind!r} is not the name of a kind of equation.")
