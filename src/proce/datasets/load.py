"""``load_dataset``: a data set by its name."""

import inspect
from collections.abc import Callable
from typing import Any

from proce.arguments import brief, checked
from proce.datasets.adult import load_adult
from proce.datasets.credit_card import load_credit_card
from proce.datasets.dataset import Dataset
from proce.datasets.german_credit import load_german_credit
from proce.datasets.law import load_law
from proce.datasets.loan import load_loan
from proce.datasets.sangiovese import load_sangiovese
from proce.datasets.simple_bn import load_simple_bn
from proce.errors import DatasetError, did_you_mean

LOADERS: dict[str, Callable[..., Dataset]] = {
    "loan": load_loan,
    "simple_bn": load_simple_bn,
    "sangiovese": load_sangiovese,
    "adult": load_adult,
    "law": load_law,
    "credit_card": load_credit_card,
    "german_credit": load_german_credit,
}


@checked(DatasetError)
def load_dataset(name: str, **options: Any) -> Dataset:
    """Load a data set with its schema, causal graph, rules and, where known, its equations.

    Parameters
    ----------
    name
        ``"loan"``, ``"simple_bn"`` and ``"sangiovese"`` are generated; ``"adult"``,
        ``"law"``, ``"credit_card"`` and ``"german_credit"`` are read from ``PROCE_DATA``, from
        the cache or from where they are published.
    options
        ``loan``: ``n``, ``seed``. ``simple_bn``: ``label``, ``n``, ``seed``. ``sangiovese``:
        ``treatment``, ``n``, ``seed``. ``adult``: ``version``, ``part``. The others: none.

    Examples
    --------
    >>> data = load_dataset("loan", n=1000, seed=1)
    >>> data.frame.shape
    (1000, 12)
    """
    if name not in LOADERS:
        known = ", ".join(map(repr, LOADERS))
        raise DatasetError(
            f"unknown data set {brief(name)}; the data sets are {known}."
            + did_you_mean(name, LOADERS)
        )
    known_options = list(inspect.signature(LOADERS[name]).parameters)
    for option in options:
        if option not in known_options:
            listed = ", ".join(known_options)
            what = f"its options are {listed}" if known_options else "it has none"
            raise DatasetError(
                f"data set {name!r} has no option {option!r}; {what}."
                + did_you_mean(option, known_options)
            )
    return LOADERS[name](**options)
