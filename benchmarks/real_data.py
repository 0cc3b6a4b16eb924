"""Advice on real credit data: the table of ``docs/quality.md``.

Run: ``PROCE_DATA=... python benchmarks/real_data.py [--rows 24] [--out runs/real_data]``. Two data
sets, three kinds of model, and ProCE beside DiCE and NICE under the same limits. Every number is
recomputed here from the returned raw values and the model itself. A cell that is done is kept in
the folder and not run again; the table is written to ``table.md`` and ``table.csv`` there.

The split has a seed of its own: no setting was chosen on these test rows.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import proce
from proce.classifier import fit_network
from proce.datasets import Dataset, load_dataset
from proce.methods import Dice, DiceSettings, Nearest
from proce.schema import Categorical, Codec, Continuous, Ordinal

SPLIT_SEED = 77
SEED = 77
MAX_ROWS = 10_000  # of a data set, to train on and to draw from
TARGET = 0  # pays
DATASETS = ("credit_card", "german_credit")
MODELS = ("boosting", "forest", "network")
GRAPH, UNSURE = "ProCE, graph", "ProCE, graph, unsure"  # the second without refits of equations
METHODS = ("ProCE", "ProCE, no margin", GRAPH, UNSURE, "DiCE random", "DiCE genetic", "NICE")
CLOSER = 1e-3  # a distance that is smaller by less than this share is the same
Ask = Callable[[pd.DataFrame], NDArray[np.float64]]
Ways = pd.DataFrame


@dataclass(frozen=True)
class World:
    """A data set, split, with a model and rows that the model expects to default.

    Attributes
    ----------
    data
        The data set.
    train
        The rows that the model was trained on.
    model
        What the methods are given.
    ask
        The model itself: a frame in, the probability of the target out.
    rejected
        The rows to explain.
    explainers
        What was fitted already, by the name of the method.
    """

    data: Dataset
    train: pd.DataFrame
    model: Any
    ask: Ask
    rejected: pd.DataFrame
    explainers: dict[str, proce.ProCE]

    def explainer(self, method: str) -> proce.ProCE:
        """Return ProCE, fitted once."""
        key = method if method in (GRAPH, UNSURE) else "ProCE"
        if key not in self.explainers:
            explainer = proce.ProCE(
                self.model,
                self.data.recourse_schema,
                None if key == "ProCE" else self.data.graph,
                settings=proce.SearchSettings(n_refits=0) if key == UNSURE else None,
                seed=SEED,
            )
            self.explainers[key] = explainer.fit(self.train)
        return self.explainers[key]


def world_of(name: str, kind: str, n_rows: int) -> World:
    """Split a data set, or 10,000 rows of it, train a model and draw the rows."""
    data = load_dataset(name)
    drawn = data.frame.sample(min(len(data.frame), MAX_ROWS), random_state=SPLIT_SEED)
    train, test, label, _ = train_test_split(
        drawn, data.label[drawn.index], test_size=0.2, random_state=SPLIT_SEED
    )
    model, ask = trained(kind, data, train, label)
    rejected = test[ask(test) < 0.5].sample(n_rows, random_state=SPLIT_SEED)
    return World(data, train, model, ask, rejected, {})


def trained(kind: str, data: Dataset, train: pd.DataFrame, label: Any) -> tuple[Any, Ask]:
    """Return a model of a kind, and how to ask it about a frame."""
    if kind == "network":
        codec = Codec.fit(data.recourse_schema, train)
        network = fit_network(codec, train, label, seed=SEED)
        return network, lambda frame: _answer(network.predict_proba(codec.encode(frame)))
    model: Any
    if kind == "boosting":
        model = lightgbm.LGBMClassifier(n_estimators=60, random_state=SEED, n_jobs=1, verbose=-1)
    else:
        ranks = [feature for feature in data.schema if isinstance(feature, Ordinal)]
        levels = [feature.name for feature in data.schema if isinstance(feature, Categorical)]
        columns = make_column_transformer(
            (
                OrdinalEncoder(categories=[list(feature.levels) for feature in ranks]),
                [feature.name for feature in ranks],
            ),
            (OneHotEncoder(handle_unknown="ignore"), levels),
            remainder="passthrough",
        )
        forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=SEED, n_jobs=1)
        model = make_pipeline(columns, forest)
    model.fit(train, label)
    return model, lambda frame: _answer(model.predict_proba(frame))


def _answer(probabilities: Any) -> NDArray[np.float64]:
    return np.asarray(probabilities[:, TARGET], dtype=np.float64)


def run_cell(world: World, method: str) -> dict[str, Any]:
    """Explain the rows with one method, and measure."""
    started = time.perf_counter()
    schema = world.data.recourse_schema
    if method.startswith("ProCE"):
        explainer = world.explainer(method)
        fitted = time.perf_counter()
        needed = 0.5 if method == "ProCE, no margin" else 0.5 + explainer.fitted_.settings.margin
        result = explainer.explain(world.rejected, target=TARGET, n=4, min_probability=needed)
        answered = time.perf_counter()
        more = {"closer_with_fewer": closer_with_fewer(explainer, world, result, needed)}
    else:
        if method == "NICE":
            explainer = Nearest(world.model, schema, respect_schema=True, seed=SEED)
        else:
            settings = DiceSettings(method=method.removeprefix("DiCE "))
            explainer = Dice(world.model, schema, settings, respect_schema=True, seed=SEED)
        explainer.fit(world.train)
        fitted = time.perf_counter()
        result = explainer.explain(world.rejected, target=TARGET, n=1)
        answered = time.perf_counter()
        needed, more = 0.5, {}
    return {
        "rows": len(world.rejected),
        "fit_seconds": fitted - started,
        "explain_seconds": answered - fitted,
        **measured(world, result, needed, explainer if method in (GRAPH, UNSURE) else None),
        **more,
    }


def measured(
    world: World, result: Any, needed: float, causal: proce.ProCE | None
) -> dict[str, Any]:
    """Return the measures of a result, all but its words recomputed from the raw values."""
    ways = result.to_frame().reset_index(drop=True)
    names = list(world.data.schema.names)
    told = np.array([p for item in result for p in np.asarray(item.probabilities)])
    own = world.ask(ways[names]) if len(ways) else np.array([])
    factual = world.rejected.iloc[ways["row"]].reset_index(drop=True)
    changes = result.changes()
    acted = np.zeros((len(ways), len(names)), dtype=bool)
    line = {
        (row, rank): at
        for at, (row, rank) in enumerate(zip(ways["row"], ways["rank"], strict=True))
    }
    for change in changes[changes["kind"] != "consequence"].itertuples():
        acted[line[change.row, change.rank], names.index(change.feature)] = True
    outcomes = result.outcomes().reset_index(drop=True)
    met = outcomes["margin_met"].fillna(False).to_numpy(dtype=bool)[ways["row"]]
    required = np.where(met, needed, 0.5)
    if causal is None:
        needless = needless_alone(world, ways, factual, acted, required)
    else:
        needless = needless_with_causes(world, causal, ways, acted, required)
    first = (ways["rank"] == 1).to_numpy()
    outside = acted & outside_the_bulk(world, ways, factual)
    distance = gower(world, ways, factual, acted)
    return {
        "answered": int(first.sum()),
        "actions": int(acted[first].sum()),
        "needless": int(needless[first].sum()),
        "alternative_actions": int(acted[~first].sum()),
        "alternative_needless": int(needless[~first].sum()),
        "outside": int(outside[first].sum()),
        "alternative_outside": int(outside[~first].sum()),
        "not_of_the_class": int((own < 0.5).sum()),
        "told_otherwise": int((told != own).sum()),
        "ways": len(ways),
        "distances": dict(zip(map(int, ways["row"][first]), distance[first].tolist(), strict=True)),
        "outcomes": outcomes["outcome"].value_counts().to_dict(),
    }


def needless_alone(
    world: World,
    ways: Ways,
    factual: pd.DataFrame,
    acted: NDArray[np.bool_],
    required: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which actions can each be taken back with the target still met; nothing follows."""
    needless = np.zeros_like(acted)
    names = list(world.data.schema.names)
    for position, name in enumerate(names):
        rows = acted[:, position]
        if rows.any():
            trial = ways[names].assign(**{name: factual[name]})[rows]
            needless[rows, position] = world.ask(trial) >= required[rows]
    return needless


def needless_with_causes(
    world: World,
    explainer: proce.ProCE,
    ways: Ways,
    acted: NDArray[np.bool_],
    required: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which actions can each be left out: the others, and what follows, would do."""
    needless = np.zeros_like(acted)
    names = list(world.data.schema.names)
    for at, position in zip(*np.nonzero(acted), strict=True):
        way = ways.iloc[at]
        kept = {names[other]: way[names[other]] for other in np.flatnonzero(acted[at])}
        kept.pop(names[position])
        if not kept:
            continue  # the row as it is, which is not of the class
        row = world.rejected.iloc[[way["row"]]]
        answer = explainer.what_if(row, kept)
        enough = world.ask(answer.frame)[0] >= required[at]
        needless[at, position] = enough and keeps_limits(world, row, answer.frame)
    return needless


def keeps_limits(world: World, row: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Return whether all that would move, consequences included, is within the schema's limits."""
    for feature in world.data.recourse_schema:
        if isinstance(feature, Categorical):
            continue
        before, after = row[feature.name].iloc[0], other[feature.name].iloc[0]
        if isinstance(feature, Ordinal):
            before, after = feature.levels.index(before), feature.levels.index(after)
        if (feature.action == "increase" and after < before) or (
            feature.action == "decrease" and after > before
        ):
            return False
        if isinstance(feature, Continuous) and feature.range is not None and after != before:
            low, high = feature.range
            if not min(low, before) <= after <= max(high, before):
                return False
    return True


def outside_the_bulk(world: World, ways: Ways, factual: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which values lie beyond the central 99% of people and beyond the person's own."""
    outside = np.zeros((len(ways), len(world.data.schema)), dtype=bool)
    for position, feature in enumerate(world.data.schema):
        if isinstance(feature, Continuous):
            column = world.train[feature.name].to_numpy(dtype=float)
            low, high = np.quantile(column, [0.005, 0.995], method="inverted_cdf")
            own = factual[feature.name].to_numpy(dtype=float)
            value = ways[feature.name].to_numpy(dtype=float)
            outside[:, position] = (value < np.minimum(low, own)) | (value > np.maximum(high, own))
    return outside


def gower(
    world: World, ways: Ways, factual: pd.DataFrame, acted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return Gower distances of what is acted on; numbers by the span from 1% to 99%."""
    parts = np.zeros((len(ways), len(world.data.schema)))
    for position, feature in enumerate(world.data.schema):
        before, after = factual[feature.name], ways[feature.name]
        if isinstance(feature, Continuous):
            low, high = np.quantile(world.train[feature.name].to_numpy(dtype=float), [0.01, 0.99])
            parts[:, position] = np.abs(after.to_numpy(float) - before.to_numpy(float)) / (
                high - low
            )
        elif isinstance(feature, Ordinal):
            ranks = after.cat.codes.to_numpy(float) - before.cat.codes.to_numpy(float)
            parts[:, position] = np.abs(ranks) / (len(feature.levels) - 1)
        else:
            parts[:, position] = after.astype(str).to_numpy() != before.astype(str).to_numpy()
    return np.asarray((parts * acted).mean(1))


def closer_with_fewer(explainer: proce.ProCE, world: World, result: Any, needed: float) -> int:
    """Return for how many rows a search of at most 1, 2 or 3 actions finds a closer way."""
    default = result.outcomes().reset_index(drop=True)
    closer = np.zeros(len(default), dtype=bool)
    for most in (1, 2, 3):
        fewer = explainer.explain(
            world.rejected, target=TARGET, n=1, max_changes=most, min_probability=needed
        )
        other = fewer.outcomes().reset_index(drop=True)
        comparable = (other["margin_met"] == default["margin_met"]).fillna(False).to_numpy(bool)
        nearer = other["distance"] < default["distance"] * (1 - CLOSER)
        gained = (other["outcome"] == "found") & (default["outcome"] != "found")
        closer |= (comparable & nearer.fillna(False).to_numpy(bool)) | gained.to_numpy(bool)
    return int(closer.sum())


def cells() -> Iterator[tuple[str, str, str]]:
    """Yield data set, model and method; the graph is of the credit-card data alone."""
    for name in DATASETS:
        for kind in MODELS:
            for method in METHODS:
                if method not in (GRAPH, UNSURE) or name == "credit_card":
                    yield name, kind, method


def table_of(found: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> pd.DataFrame:
    """Return one line per cell; distances also over the rows that every method answered."""
    lines = []
    for (name, kind, method), cell in found.items():
        beside = [other["distances"] for key, other in found.items() if key[:2] == (name, kind)]
        shared = set.intersection(*(set(distances) for distances in beside))
        own = cell["distances"]
        lines.append(
            {
                "data set": name,
                "model": kind,
                "method": method,
                "answered": f"{cell['answered']} of {cell['rows']}",
                "actions a row": round(cell["actions"] / max(cell["answered"], 1), 2),
                "needless": f"{cell['needless']} of {cell['actions']}",
                "needless in alternatives": f"{cell['alternative_needless']} of"
                f" {cell['alternative_actions']}"
                if cell["alternative_actions"]
                else "–",
                "outside the bulk": cell["outside"] + cell["alternative_outside"],
                "distance": _mean(list(own.values())),
                "distance, rows of all": _mean([own[row] for row in sorted(shared)]),
                "closer with 1 to 3": cell.get("closer_with_fewer", "–"),
                "told otherwise": f"{cell['told_otherwise']} of {cell['ways']}",
                "seconds a row": round(cell["explain_seconds"] / cell["rows"], 2),
            }
        )
    return pd.DataFrame(lines)


def _mean(distances: list[float]) -> str:
    return f"{np.mean(distances):.4f}" if distances else "–"


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    lines = [list(table.columns), ["---"] * table.shape[1], *table.astype(str).to_numpy().tolist()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Run the cells that are not there yet, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--out", type=Path, default=Path("runs/real_data"))
    parser.add_argument("--only", default="", help="a part of 'data set, model, method'")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    todo = [cell for cell in cells() if arguments.only in ", ".join(cell)]
    world, of = None, None
    for number, cell in enumerate(todo, 1):
        path = arguments.out / f"{'-'.join(cell).replace(', ', '-').replace(' ', '-')}.json"
        if not path.exists():
            if of != cell[:2]:
                world, of = world_of(*cell[:2], arguments.rows), cell[:2]
            assert world is not None
            measures = run_cell(world, cell[2])
            part = path.with_suffix(".part")
            part.write_text(json.dumps(measures, indent=1), "utf-8")
            part.replace(path)
            seconds = measures["fit_seconds"] + measures["explain_seconds"]
            print(f"{number} of {len(todo)}: {', '.join(cell)}: {seconds:.0f} s", flush=True)
        found[cell] = json.loads(path.read_text("utf-8"))
    table = table_of(found)
    table.to_csv(arguments.out / "table.csv", index=False)
    (arguments.out / "table.md").write_text(markdown(table), "utf-8")
    print(markdown(table))


if __name__ == "__main__":
    main()
