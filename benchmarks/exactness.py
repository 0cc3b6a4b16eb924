"""Whether a model says of the returned rows what was told of them: a line of ``docs/quality.md``.

Run: ``python benchmarks/exactness.py [--rows 100000] [--models histograms forest ...]``.
Trees are trained on unrounded floats, and the training rows themselves are explained: their values
are where the trees split, so that a last bit decides. All returned rows are sent to the model
again, in another order and, once more, after a way through JSON.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from proce import Explanations, ProCE, SearchSettings
from proce.latent import AutoEncoderSettings
from proce.training_settings import TrainingSettings

N_TRAINING = 2000
MAX_EVALUATIONS = 80
SMALL_SEARCH = SearchSettings(
    population_size=20,
    n_offspring=20,
    n_generations=3,
    n_refits=0,
    chunk_size=2000,
    autoencoder=AutoEncoderSettings(training=TrainingSettings(n_epochs=2)),
)


@dataclass(frozen=True)
class Tally:
    """How many rows were sent back, and how many of them the model answered otherwise.

    Attributes
    ----------
    rows
        The rows that were sent back.
    other_class, other_probability
        Rows that are not of the told class, and rows with another probability, in any bit.
    largest
        The largest difference between a told probability and the model's.
    changed_values
        Rows that came out of JSON with another value, in any bit.
    """

    rows: int = 0
    other_class: int = 0
    other_probability: int = 0
    largest: float = 0.0
    changed_values: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.rows + other.rows,
            self.other_class + other.other_class,
            self.other_probability + other.other_probability,
            max(self.largest, other.largest),
            self.changed_values + other.changed_values,
        )

    @property
    def is_clean(self) -> bool:
        """Whether the model said of every row what was told."""
        return not (self.other_class or self.other_probability or self.changed_values)


def unrounded_rows(n: int, seed: int) -> pd.DataFrame:
    """Return rows of floats with all their digits: heavy tails, small shares, both signs."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "debt": np.exp(draw.normal(8, 1.5, n)),
            "share": draw.beta(2, 5, n),
            "balance": draw.normal(0, 3000, n),
            "rate": 0.03 + draw.gamma(2, 0.01, n),
            "score": draw.normal(600, 50, n),
        }
    )


def outcome(frame: pd.DataFrame, seed: int) -> Any:
    """Return two classes that hang on all columns, with noise that trees learn by heart."""
    signal = (
        (frame["score"] - 600) / 50
        - np.log(frame["debt"] / 3000) / 2
        - 2 * (frame["share"] - 0.3)
        + frame["balance"] / 6000
        - 20 * (frame["rate"] - 0.05)
    )
    return (signal + np.random.default_rng(seed).normal(0, 1, len(frame)) > 0).astype(int)


def _histograms(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=1, random_state=seed)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=10, random_state=seed)


def _tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=5, random_state=seed)


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1, random_state=seed)


def _xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=20, n_jobs=1, random_state=seed)


MODELS: dict[str, Callable[[int], Any]] = {
    "histograms": _histograms,
    "forest": _forest,
    "tree": _tree,
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
}


def send_back(name: str, seed: int) -> Tally:
    """Train a model, explain its training rows, and send the returned rows to it."""
    rows = unrounded_rows(N_TRAINING, seed)
    model = MODELS[name](seed).fit(rows, outcome(rows, seed))
    explainer = ProCE(model, causal="off", settings=SMALL_SEARCH, seed=seed).fit(rows)
    # Where answers are counted, none are spent on how far each action may go.
    result = explainer.explain(rows, n=8, max_evaluations=MAX_EVALUATIONS)
    returned, ways = result.counterfactuals(), result.rows.counterfactuals
    target = result.rows.target[ways.owner]
    order = np.random.default_rng(seed).permutation(len(returned))
    answers = np.empty((len(returned), 2))
    answers[order] = model.predict_proba(returned.iloc[order])
    now = answers[np.arange(len(target)), target]
    told = ways.probabilities
    part = result[:100]
    again = Explanations.from_json(part.to_json()).counterfactuals()
    changed = (again.to_numpy() != part.counterfactuals().to_numpy()).any(1)
    return Tally(
        len(returned),
        int((answers.argmax(1) != target).sum()),
        int((now != told).sum()),
        float(np.abs(now - told).max(initial=0.0)),
        int(changed.sum()),
    )


def send_back_at_least(name: str, n_rows: int, first_seed: int = 0) -> Tally:
    """Train models and explain rows until at least so many rows were sent back."""
    tally, seed = Tally(), first_seed
    while tally.rows < n_rows:
        tally, seed = tally + send_back(name, seed), seed + 1
    return tally


def main() -> int:
    """Print a line for each kind of model; fail where a row is not as told."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000, help="rows to send back, of all models")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    given = parser.parse_args()
    total = Tally()
    print(
        "| model | rows sent back | other class | other probability | largest | other values | s |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in given.models:
        began = time.perf_counter()
        tally = send_back_at_least(name, -(-given.rows // len(given.models)))
        total = total + tally
        print(_line(name, tally, time.perf_counter() - began), flush=True)
    print(_line("all", total, time.process_time()))
    return 0 if total.is_clean else 1


def _line(name: str, tally: Tally, seconds: float) -> str:
    return (
        f"| {name} | {tally.rows:,} | {tally.other_class} | {tally.other_probability}"
        f" | {tally.largest:.3g} | {tally.changed_values} | {seconds:.0f} |"
    )


if __name__ == "__main__":
    sys.exit(main())
