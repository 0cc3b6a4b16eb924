"""All families of equations: a new one is added here, and nowhere else."""

from typing import Literal, get_args

from proce.arrays import Array
from proce.causal.equations.boosted import BOOSTING
from proce.causal.equations.effect_rows import EffectRows, Folds
from proce.causal.equations.family import Family, Fit
from proce.causal.equations.logistic import LOGISTIC
from proce.causal.equations.ordered import ORDERED
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


def fit_of(kind: str, effect: EffectRows, seed: int) -> Fit:
    """Return how a mechanism of some kind is fitted; levels without an order have but one."""
    return _family_for(kind, effect).fit(kind, effect, seed)


def held_out_of(kind: str, effect: EffectRows, folds: Folds, seed: int) -> Array:
    """Return what a kind of equation predicts of the rows of each fold, fitted on the others.

    A number or rank ``(u,)``, or chances ``(u, l)`` of levels that are fitted as such.
    """
    return _family_for(kind, effect).predict_unseen(kind, effect, folds, seed)


def family_of(kind: str) -> Family:
    """Return the family with a kind."""
    for family in FAMILIES:
        if family.words(kind) is not None:
            return family
    raise ValueError(f"{kind!r} is not the name of a kind of equation.")


def _family_for(kind: str, effect: EffectRows) -> Family:
    return LOGISTIC if isinstance(effect.feature, Categorical) else family_of(kind)
