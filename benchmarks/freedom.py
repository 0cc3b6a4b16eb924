"""Is an answer ever farther because more is allowed? It should not be: what was allowed still is.

Run: ``PROCE_DATA=... python benchmarks/freedom.py [--split report] [--rows 30] [--chains 6]``.
Features that can be acted on are put in a random order, and rows are explained with the first of
them as ``vary``, then with the first two, four and so on up to all. Every answer is compared with
those of the same row that had fewer features. It is worse where it is missing, less sure to work,
or as sure and farther. Settings are chosen on the split ``choose`` and reported on the other one.
Answers that gave up the margin are not compared: they are nearer because less is asked of them.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import proce
from proce.arrays import Array, with_rows
from proce.classifier import fit_network
from proce.datasets import load_dataset
from proce.explanation.record.counterfactuals import SURE
from proce.losses import Loss
from proce.methods.phases.choosing import is_better
from proce.schema import Action, Codec

SEEDS = {"choose": 1_000, "report": 0}
WANTED = {"loan": 1, "german_credit": 0, "credit_card": 0}
MAX_TRAINING_ROWS = 4_000
SAME = 1e-6  # answers whose distances differ by a smaller share are as far


@dataclass(frozen=True)
class Answers:
    """The first answers to some rows, as columns ``(i,)``.

    Attributes
    ----------
    distance, missing
        How far they are, and what they lack until they are sure; infinite where there is none.
    with_margin
        Whether the margin is kept.
    """

    distance: Array
    missing: Array
    with_margin: Array


def world_of(name: str, folder: Path) -> tuple[proce.ProCE, pd.DataFrame]:
    """Return an explainer with the graph and the rules of the data, and rows to draw from."""
    data = load_dataset(name)
    drawn = data.frame.sample(min(len(data.frame), MAX_TRAINING_ROWS + 1_000), random_state=7)
    n_train = min(MAX_TRAINING_ROWS, len(drawn) * 7 // 10)
    train, rest = drawn.iloc[:n_train], drawn.iloc[n_train:]
    if (folder / name).exists():
        return proce.ProCE.load(folder / name), rest
    label, schema = data.label[train.index], data.recourse_schema
    model: Any
    if name == "loan":
        model = fit_network(Codec.fit(schema, train), train, label)
    else:
        columns = make_column_transformer(
            (
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                make_column_selector(dtype_exclude="number"),
            ),
            remainder="passthrough",
        )
        model = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=60, random_state=0))
        model.fit(train, label)
    explainer = proce.ProCE(model, schema, data.graph, data.rules).fit(train)
    explainer.save(folder / name)
    return explainer, rest


def answers_to(explainer: proce.ProCE, rows: pd.DataFrame, target: Any, vary: Any) -> Answers:
    """Return the recommended answers of some rows."""
    result = explainer.explain(rows, target=target, vary=vary, n=1, keep_front=False)
    ways = result.rows.counterfactuals
    nothing = np.full(len(rows), np.inf)
    lacking = np.maximum(SURE - np.nan_to_num(ways.confidence, nan=1.0), 0.0)
    distance = with_rows(nothing, ways.owner, ways.losses[:, Loss.DISTANCE])
    missing = with_rows(nothing, ways.owner, lacking)
    return Answers(distance, missing, result.rows.margin_met)


def chains(explainer: proce.ProCE, n: int, seed: int) -> Iterator[list[list[str]]]:
    """Yield lists of features, each with those before it; nobody waits."""
    schema = explainer.schema
    assert schema is not None, "it was fitted with one"
    free = [f.name for f in schema if f.can_be_acted_on and f.action is not Action.WAITS]
    draw = np.random.default_rng(seed)
    for _ in range(n):
        order = list(draw.permutation(free))
        sizes = [size for size in (1, 2, 4, 8, 16) if size < len(free)]
        yield [order[:size] for size in (*sizes, len(free))]


def compare(less: Answers, more: Answers, tally: dict[str, float]) -> None:
    """Count the rows whose answer with more freedom is worse."""
    counts = less.with_margin & np.isfinite(less.distance)
    worse = counts & is_better(
        less.missing, less.distance * (1 + SAME), more.missing, more.distance
    )
    farther = worse & np.isfinite(more.distance) & (less.distance < more.distance)
    excess = np.where(farther, more.distance / less.distance - 1, 0.0)
    tally["pairs"] += int(counts.sum())
    tally["worse"] += int(worse.sum())
    tally["missing"] += int((worse & np.isinf(more.distance)).sum())
    tally["by 1%"] += int((excess > 0.01).sum())
    tally["by 10%"] += int((excess > 0.1).sum())
    tally["excess"] += float(excess.sum())


def measure(name: str, folder: Path, split: str, n_rows: int, n_chains: int) -> dict[str, float]:
    """Return what came of a data set."""
    (explainer, rest), target = world_of(name, folder), WANTED[name]
    rest = rest.sample(frac=1.0, random_state=SEEDS[split])
    half = len(rest) // 2
    rows = (rest.iloc[:half] if split == "choose" else rest.iloc[half:]).head(4 * n_rows)
    first = explainer.explain(rows, target=target, n=1, max_evaluations=50)
    needs = first.rows.predicted != first.rows.target
    rows = rows[needs].head(n_rows)
    keys = ("pairs", "worse", "missing", "by 1%", "by 10%", "excess")
    tally = dict.fromkeys(keys, 0.0)
    distances: list[float] = []
    began, n_asked, n_found, n_sure = time.process_time(), 0, 0, 0
    for chain in chains(explainer, n_chains, SEEDS[split]):
        answers = [answers_to(explainer, rows, target, vary) for vary in chain]
        n_asked += len(rows) * len(chain)
        for less, more in combinations(answers, 2):
            compare(less, more, tally)
        n_found += sum(int(np.isfinite(own.distance).sum()) for own in answers)
        n_sure += sum(int((own.missing <= 0).sum()) for own in answers)
        distances += [float(own.distance[np.isfinite(own.distance)].sum()) for own in answers]
    tally["ms a row"] = 1e3 * (time.process_time() - began) / n_asked
    counts = {"asked": n_asked, "found": n_found, "sure": n_sure}
    return tally | counts | {"distance": sum(distances) / n_found}


def main() -> None:
    """Parse, measure and print."""
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=list(SEEDS), default="report")
    parser.add_argument("--data", nargs="+", choices=list(WANTED), default=list(WANTED))
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--chains", type=int, default=6)
    parser.add_argument("--folder", type=Path, default=Path("build/freedom"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.data:
        tally = measure(name, given.folder, given.split, given.rows, given.chains)
        print(name, json.dumps(tally), flush=True)


if __name__ == "__main__":
    main()
