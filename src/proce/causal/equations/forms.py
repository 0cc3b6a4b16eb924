"""The forms that an equation can have: a curve, of what, and with which terms."""

from dataclasses import dataclass, replace
from typing import Literal, cast

Curve = Literal["linear", "quadratic", "spline", "fine-spline"]
_CURVES = {
    "linear": "a straight line",
    "quadratic": "squares and products",
    "spline": "a spline",
    "fine-spline": "a fine spline",
}
_OTHERS = {
    "boosting": "boosted trees",
    "logistic": "a logistic regression",
    "given": "as it was given",
}


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a fitted equation; its ``kind`` is its name, such as ``log-sparse-spline``.

    Attributes
    ----------
    curve
        How it bends in each number.
    is_logarithmic
        Whether the logarithm of the effect has this curve, with noise in proportion to it.
    is_ordered
        Whether the curve is of a latent number whose thresholds separate ordered levels.
    is_sparse
        Whether terms are dropped that the rows do not speak for.
    """

    curve: Curve
    is_logarithmic: bool = False
    is_ordered: bool = False
    is_sparse: bool = False

    @classmethod
    def of(cls, kind: str) -> "Form":
        """Return the form with this name."""
        rest = kind
        flags = []
        for prefix in ("log-", "ordered-", "sparse-"):
            flags.append(rest.startswith(prefix))
            rest = rest.removeprefix(prefix)
        if rest not in _CURVES:
            raise ValueError(f"{kind!r} is not the name of a form.")
        return cls(cast(Curve, rest), *flags)

    @property
    def kind(self) -> str:
        """The name of the form."""
        log, ordered = "log-" * self.is_logarithmic, "ordered-" * self.is_ordered
        return f"{log}{ordered}{'sparse-' * self.is_sparse}{self.curve}"

    @property
    def n_steps(self) -> int:
        """How many steps the form is away from a straight line."""
        return list(_CURVES).index(self.curve) + self.is_logarithmic

    @property
    def finer(self) -> "Form | None":
        """The form with more knots, of a spline."""
        return replace(self, curve="fine-spline") if self.curve == "spline" else None

    @property
    def sparser(self) -> "Form | None":
        """The form without needless terms, of a curve."""
        return None if self.curve == "linear" or self.is_ordered else replace(self, is_sparse=True)


def describe(kind: str) -> str:
    """Return a kind of equation in words.

    >>> describe("log-sparse-spline")
    'a spline of the logarithm, without needless terms'
    >>> describe("ordered-linear")
    'a straight line with thresholds between the levels'
    """
    if kind in _OTHERS:
        return _OTHERS[kind]
    form = Form.of(kind)
    logarithm = " of the logarithm" * form.is_logarithmic
    thresholds = " with thresholds between the levels" * form.is_ordered
    sparse = ", without needless terms" * form.is_sparse
    return f"{_CURVES[form.curve]}{logarithm}{thresholds}{sparse}"
