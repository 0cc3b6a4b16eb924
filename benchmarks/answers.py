"""Are the answers the same as before? Record them, change the code, record them again, compare.

Run: ``PROCE_DATA=... python benchmarks/answers.py fit --folder build/answers`` once, with the code
whose answers are to be kept. Then ``... answers.py record before`` with that code and
``... answers.py record after`` with the changed code; both load the explainers that were saved by
``fit``, so that what is compared is the search and what is told, not the learning. At last
``... answers.py compare before after``.

Fifty rejected rows of each of six data sets are asked in the four causal modes, with every pick,
under limits, with missing cells, where nothing can be found, and of four kinds of model; the
published methods are asked about ten rows of two data sets. Of a row everything is kept that a
person sees or a program reads: cells, kinds of change, probabilities, losses, chances, fronts,
intervals, sentences, diagnoses.

A case that is done is a file in the folder and is not run again.
"""

import argparse
import json
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import proce
from proce import methods
from proce.datasets import load_dataset

DATASETS = ("loan", "adult", "law", "german_credit", "credit_card", "simple_bn")
MODELS = ("network", "logistic", "forest", "boosting")
MODES = ("hard", "soft", "paper", "off")
MAX_TRAINING_ROWS = 2_000
SEED = 28
SPEEDS = (
    *("loan-network", "loan-logistic", "adult-network"),
    *("german_credit-network", "german_credit-forest"),
)
Case = tuple[str, Callable[[Any, pd.DataFrame], Any], int]  # its name, the call, how many rows


@cache
def split(name: str) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """Return a data set, the rows to train on and those to draw from."""
    data = load_dataset(name)
    drawn = data.frame.sample(min(len(data.frame), MAX_TRAINING_ROWS + 1_000), random_state=SEED)
    n_rest = min(1_000, len(drawn) // 3)
    return data, drawn.iloc[:-n_rest].copy(), drawn.iloc[-n_rest:].copy()


def with_gaps(frame: pd.DataFrame, names: list[str], seed: int) -> pd.DataFrame:
    """Return rows of which one cell in ten is missing in some columns."""
    draws = np.random.default_rng(seed)
    frame = frame.copy()
    for name in names:
        gone = draws.random(len(frame)) < 0.1
        column = frame[name]
        if not isinstance(column.dtype, pd.CategoricalDtype):
            column = column.astype(float)
        frame[name] = column.mask(gone)
    return frame


def gap_columns(data: Any) -> list[str]:
    """Return the columns in which cells go missing: one of three."""
    return list(data.schema.names)[::3]


def train(kind: str, data: Any, frame: pd.DataFrame, label: Any) -> Any:
    """Return a model of a kind."""
    if kind == "network":
        from proce.classifier import fit_network
        from proce.schema import Codec

        return fit_network(Codec.fit(data.recourse_schema, frame), frame, label, seed=SEED)
    levels = [f.name for f in data.schema if not isinstance(f, proce.Continuous)]
    numbers = [f.name for f in data.schema if isinstance(f, proce.Continuous)]
    if kind == "logistic":
        columns = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), levels), (StandardScaler(), numbers)
        )
        return make_pipeline(columns, LogisticRegression(max_iter=1_000)).fit(frame, label)
    ranks = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((ranks, levels), remainder="passthrough")
    if kind == "forest":
        model: Any = RandomForestClassifier(50, random_state=SEED)
    else:
        model = HistGradientBoostingClassifier(max_iter=50, random_state=SEED)
    return make_pipeline(columns, model).fit(frame, label)


def fit(folder: Path) -> None:
    """Fit and save the explainers, and the rows that are asked about."""
    for name in DATASETS:
        data, training, rest = split(name)
        for kind in MODELS:
            place = folder / "explainers" / f"{name}-{kind}"
            if (place / "manifest.json").exists():
                continue
            rows, others = training, rest
            if kind == "boosting":
                rows = with_gaps(training, gap_columns(data), 1)
                others = with_gaps(rest, gap_columns(data), 2)
            label = data.label[training.index].to_numpy()
            model = train(kind, data, rows, label)
            explainer = proce.ProCE(
                model, data.recourse_schema, data.graph, data.rules, seed=SEED
            ).fit(rows, label)
            explainer.save(place)
            target = data.wanted
            asked = explainer.explain(others, target=target, max_evaluations=1, keep_front=False)
            is_rejected = (asked.outcomes()["outcome"] != "already_target").to_numpy()
            others[is_rejected].iloc[:50].to_parquet(folder / f"{name}-{kind}.parquet")
            print(f"{name} {kind}: {is_rejected.sum()} rejected", flush=True)


def cases(name: str, kind: str) -> Iterator[Case]:
    """Return what is asked of an explainer."""
    data = split(name)[0]
    target = data.wanted
    free = [f.name for f in data.recourse_schema if f.can_be_acted_on]
    numbers = [f for f in free if isinstance(data.recourse_schema[f], proce.Continuous)]

    def call(**options: Any) -> Callable[[Any, pd.DataFrame], Any]:
        return lambda explainer, rows: explainer.explain(rows, target=target, **options)

    yield "default", call(), 50
    if kind == "network":
        for mode in MODES[1:]:
            yield f"mode {mode}", call(causal=mode), 50
        yield "limits vary", call(vary=free[:2]), 20
        yield "limits changes", call(max_changes=1), 20
        yield "limits probability", call(min_probability=0.9), 20
        yield "limits effort", call(effort={free[0]: 4.0, free[-1]: 0.5}), 20
        yield "limits evaluations", call(max_evaluations=2_000), 20
        if numbers:
            column = split(name)[1][numbers[0]]
            low, high = float(column.quantile(0.3)), float(column.quantile(0.7))
            yield "limits range", call(ranges={numbers[0]: (low, high)}), 20
            column = split(name)[1][numbers[-1]]
            ends = float(column.quantile(0.45)), float(column.quantile(0.55))
            yield "diagnosis", call(vary=[numbers[-1]], ranges={numbers[-1]: ends}), 20
            yield (
                "diagnosis rule",
                call(rules=[f'cf["{numbers[0]}"] == x["{numbers[0]}"]'], max_changes=1),
                20,
            )
        yield "one row", call(n=1), 1
    for pick in ("balanced", "typical", "first"):
        yield f"pick {pick}", call(pick=pick), 20 if kind == "network" else 5
    if kind == "logistic":
        yield "robust", call(robust=0.9, models=6), 10
        yield "mode soft", call(causal="soft"), 10
        yield "mode paper", call(causal="paper"), 10


def published(name: str) -> Iterator[Case]:
    """Return the published methods as cases."""
    data, training, _ = split(name)
    label = data.label[training.index].to_numpy()

    def call(method: str) -> Callable[[Any, pd.DataFrame], Any]:
        def ask(explainer: Any, rows: pd.DataFrame) -> Any:
            made = getattr(methods, method)(explainer.model, data.recourse_schema, seed=SEED)
            return made.fit(training, label).explain(rows, target=data.wanted)

        return ask

    names = ("Wachter", "GrowingSpheres", "Certifai", "Face", "Cchvae", "Nearest", "Dice")
    for method in names:
        yield f"method {method}", call(method), 10


def answers(result: Any) -> list[dict[str, Any]]:
    """Return everything that a result says of each row, but for times."""
    entries = json.loads(result.to_json(view="auditor"))["explanations"]
    frame, changes = result.to_frame(), result.changes()
    return [
        {
            "outcome": entry["outcome"],
            "cells": _cells(frame[frame["row"] == position]),
            "changes": _cells(changes[changes["row"] == position]),
            "told": _without_times(entry),
        }
        for position, entry in enumerate(entries)
    ]


def _cells(frame: pd.DataFrame) -> list[list[Any]]:
    return [[_plain(cell) for cell in row] for row in frame.itertuples(index=False)]


def _plain(cell: Any) -> Any:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)
    return cell if isinstance(cell, int | float | str | bool | None) else str(cell)


def _without_times(entry: Any) -> Any:
    if isinstance(entry, dict):
        gone = ("seconds", "elapsed_seconds", "created")
        return {key: _without_times(value) for key, value in entry.items() if key not in gone}
    if isinstance(entry, list):
        return [_without_times(value) for value in entry]
    return entry


def record(folder: Path, name: str) -> None:
    """Ask every case of the saved explainers, and keep the answers under a name."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for dataset in DATASETS:
        for kind in MODELS:
            explainer, all_cases = None, list(cases(dataset, kind))
            if kind == "network" and dataset in ("loan", "german_credit"):
                all_cases += published(dataset)
            for case, ask, n_rows in all_cases:
                file = place / f"{dataset}-{kind}-{case.replace(' ', '_')}.json"
                if file.exists():
                    continue
                if explainer is None:
                    explainer = proce.ProCE.load(folder / "explainers" / f"{dataset}-{kind}")
                    rows = pd.read_parquet(folder / f"{dataset}-{kind}.parquet")
                started = time.perf_counter()
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        told: Any = answers(ask(explainer, rows.iloc[:n_rows]))
                except Exception as error:
                    told = [{"outcome": f"{type(error).__name__}: {error}"}]
                seconds = time.perf_counter() - started
                file.write_text(json.dumps(told))
                print(f"{dataset} {kind} {case}: {len(told)} rows, {seconds:.1f} s", flush=True)


def compare(folder: Path, before: str, after: str) -> None:
    """Print how many answers are the same, case by case, and what differs."""
    columns = "rows  bits  cells  ways  outcome  distance"
    print(f"{'case':48}{columns}")
    totals: Counter[str] = Counter()
    for file in sorted((folder / before).glob("*.json")):
        other = folder / after / file.name
        if not other.exists():
            print(f"{file.stem:48}not recorded")
            continue
        ours, theirs = json.loads(file.read_text()), json.loads(other.read_text())
        if len(ours) != len(theirs):
            error = min(ours, theirs, key=len)[0]["outcome"]
            print(f"{file.stem:48}{len(ours):4}  {error[:100]}")
            continue
        pairs = list(zip(ours, theirs, strict=True))
        counts: Counter[str] = Counter()
        ratios = []
        for old, new in pairs:
            counts["rows"] += 1
            counts["bits"] += old == new
            counts["outcome"] += old["outcome"] == new["outcome"]
            counts["cells"] += _close(old.get("cells"), new.get("cells"))
            counts["ways"] += _ways(old) == _ways(new)
            first, second = _distance(old), _distance(new)
            if first and second:
                ratios.append(second / first)
        totals += counts
        ratio = f"{np.exp(np.mean(np.log(ratios))):.4f}" if ratios else "-"
        print(
            f"{file.stem:48}{counts['rows']:4}{counts['bits']:6}{counts['cells']:7}"
            f"{counts['ways']:6}{counts['outcome']:9}  {ratio}"
        )
    print(f"{'all':48}" + "  ".join(f"{key} {totals[key]}" for key in columns.split()[:-1]))


def _close(old: Any, new: Any) -> bool:
    """Return whether two tables are the same but for the last digits of numbers."""
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_close, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12)
    return bool(old == new)


def _ways(row: dict[str, Any]) -> set[tuple[Any, ...]]:
    """Return the sets of features that the counterfactuals of a row act on."""
    ways: dict[Any, set[str]] = {}
    for change in row.get("changes", []):
        if "consequence" not in change:
            ways.setdefault(change[1], set()).add(str(change[2]))
    return {tuple(sorted(way)) for way in ways.values()}


def _distance(row: dict[str, Any]) -> float | None:
    """Return the distance of the first counterfactual of a row."""
    for way in (row.get("told") or {}).get("counterfactuals", []):
        distance = way.get("losses", {}).get("distance")
        return None if distance is None else float(distance)
    return None


def speed(folder: Path) -> None:
    """Print the CPU time of one row alone, the median of twelve, and of a row among forty."""
    for name in SPEEDS:
        explainer = proce.ProCE.load(folder / "explainers" / name)
        rows = pd.read_parquet(folder / f"{name}.parquet")
        target = split(name.rsplit("-", 1)[0])[0].wanted
        explainer.explain(rows.iloc[:2], target=target)  # which compiles
        alone = [
            _cpu_seconds(explainer, rows.iloc[row : row + 1], target)
            for row in range(min(12, len(rows)))
        ]
        among = _cpu_seconds(explainer, rows.iloc[:40], target) / len(rows.iloc[:40])
        print(f"{name:24}{1e3 * np.median(alone):8.1f} ms alone{1e3 * among:8.1f} ms of forty")


def _cpu_seconds(explainer: Any, rows: pd.DataFrame, target: Any) -> float:
    started = time.process_time()
    explainer.explain(rows, target=target)
    return time.process_time() - started


def main() -> None:
    """Fit, record, compare or time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("fit", "record", "compare", "speed"))
    parser.add_argument("names", nargs="*", help="record NAME; compare NAME NAME")
    parser.add_argument("--folder", type=Path, default=Path("build/answers"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.verb == "fit":
        fit(arguments.folder)
    elif arguments.verb == "speed":
        speed(arguments.folder)
    elif arguments.verb == "record":
        record(arguments.folder, *arguments.names)
    else:
        compare(arguments.folder, *arguments.names)


if __name__ == "__main__":
    main()
