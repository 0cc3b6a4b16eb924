"""The paper's two classifiers on every data set, beside a majority vote and boosted trees.

Run: ``python benchmarks/datasets.py``. Prints the two tables of ``docs/datasets.md``. Adult
and Law are left out where their files cannot be had.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from proce.classifier import fit_network
from proce.datasets import Dataset, load_dataset
from proce.errors import DownloadError
from proce.schema import Codec

SEED = 0
DATA: dict[str, dict[str, str]] = {
    "loan": {},
    "simple_bn": {},
    "simple_bn, Bernoulli label": {"label": "bernoulli"},
    "sangiovese": {},
    "adult": {},
    "law": {},
}
UNBALANCED = ("law",)  # their classes are weighted alike, or else everybody would pass

Scorer = Callable[[pd.DataFrame], "np.ndarray[Any, Any]"]  # gives probabilities of class 1


@dataclass(frozen=True)
class Split:
    """A data set split into 80% to train on and 20% to test on."""

    name: str
    data: Dataset
    train: pd.DataFrame
    train_label: "pd.Series[int]"
    test: pd.DataFrame
    test_label: "pd.Series[int]"

    @property
    def balanced(self) -> bool:
        """Whether the classes are weighted alike in training."""
        return self.name in UNBALANCED


def splits() -> Iterator[Split]:
    """Yield a split of every data set that can be had."""
    for title, options in DATA.items():
        try:
            data = load_dataset(title.split(",")[0], **options)
        except DownloadError as error:
            print(f"<!-- {title} is left out: {error} -->")
            continue
        parts = train_test_split(data.frame, data.label, test_size=0.2, random_state=SEED)
        yield Split(title, data, parts[0], parts[2], parts[1], parts[3])


def fit_majority(split: Split) -> Scorer:
    """Return a model that gives the share of class 1 to every row."""
    share = split.train_label.mean()
    return lambda frame: np.full(len(frame), share)


def fit_boosting(split: Split) -> Scorer:
    """Train boosted trees."""
    weight = "balanced" if split.balanced else None
    model = HistGradientBoostingClassifier(random_state=SEED, class_weight=weight)
    model.fit(split.train, split.train_label)
    return lambda frame: model.predict_proba(frame)[:, 1]


def train_network(split: Split, architecture: Any) -> Scorer:
    """Train one of the paper's networks."""
    codec = Codec.fit(split.data.schema, split.train)
    model = fit_network(
        codec,
        split.train,
        split.train_label,
        architecture=architecture,
        balanced=split.balanced,
        seed=SEED,
    )
    return lambda frame: model.predict_proba(codec.encode(frame))[:, 1]


MODELS: dict[str, Callable[[Split], Scorer]] = {
    "majority vote": fit_majority,
    "HistGradientBoosting": fit_boosting,
    "first network (64-32-16)": lambda split: train_network(split, "first"),
    "second network (256-128-64-32-16)": lambda split: train_network(split, "second"),
}


def broken_promises(split: Split, score: Scorer) -> tuple[int, float, float]:
    """Advise the smallest raise of income that flips the model; try it in the true equations.

    Returns
    -------
    tuple
        How many test rows the model rejects; the share of them that some raise of income, of at
        most 100%, helps; the share of these that the model rejects again once consequences follow.
    """
    assert split.data.truth is not None
    rejected = split.test[score(split.test) < 0.5].reset_index(drop=True)
    raised = np.full(len(rejected), np.nan)
    for factor in np.arange(2.0, 1.0, -0.02):
        income = (rejected["income"] * factor / 100).round().astype(int) * 100
        accepted = score(rejected.assign(income=income)) >= 0.5
        raised[accepted] = income[accepted]
    helped = ~np.isnan(raised)
    codec = split.data.truth.codec
    world = split.data.truth.counterfactual(
        codec.encode(rejected[helped]), {"income": raised[helped]}
    )
    failed = score(codec.decode(world)) < 0.5
    return len(rejected), float(helped.mean()), float(failed.mean())


def main() -> None:
    """Measure on one thread."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        measure()


def measure() -> None:
    """Fit every model to every data set, and print both tables."""
    promises = []
    print("| data set | rows | classifier | accuracy | balanced accuracy | AUC | training |")
    print("|---|---|---|---|---|---|---|")
    for split in splits():
        for title, fit in MODELS.items():
            start = time.process_time()
            score = fit(split)
            seconds = time.process_time() - start
            probabilities, truth = score(split.test), split.test_label
            figures = [
                split.name,
                f"{len(split.data.frame):,}",
                title,
                f"{accuracy_score(truth, probabilities >= 0.5):.3f}",
                f"{balanced_accuracy_score(truth, probabilities >= 0.5):.3f}",
                f"{roc_auc_score(truth, probabilities):.3f}",
                f"{seconds:.1f} s",
            ]
            print(f"| {' | '.join(figures)} |", flush=True)
            if split.name == "loan" and fit is not fit_majority:
                promises.append((title, *broken_promises(split, score)))
    print("\n| classifier | rejected | a raise alone would help | of these, rejected again |")
    print("|---|---|---|---|")
    for title, count, helped, failed in promises:
        print(f"| {title} | {count} | {helped:.0%} | {failed:.0%} |")


if __name__ == "__main__":
    main()
