"""Does another processor give the same answer? What is promised: ``docs/saving.md``.

Run: ``PROCE_DATA=... python benchmarks/processors.py [--folder build/processors] [--rows 8]``.
Environment variables make numba compile for another processor than the one at hand, and the
libraries below compute as on other processors: another width of vectors, another order of sums,
another number of threads. Explainers are fitted and saved once, and every environment explains the
same rows with each of them, in a process of its own. With ``--fit`` every environment fits its own
explainers first, for which PyTorch learns. What is compared is the returned rows,
cell by cell to the last bit, and the sentences.

Every environment that is done is a file in the folder and is not run again.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

DATASETS = ("loan", "german_credit", "credit_card", "mixed")
MODELS = ("logistic", "boosting", "forest", "network")
TRAINED = {
    *((name, kind) for name in DATASETS for kind in MODELS if kind != "forest"),
    ("mixed", "forest"),
}
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "as it is": {},
    "numba generic": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "numba Haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"},
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"},
    "NumPy without vectors": {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL"},
    "NumPy AVX2": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL"},
    "OpenBLAS Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "OpenBLAS Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "OpenBLAS Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "C library without FMA": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"},
    "an old processor": {
        "ATEN_CPU_CAPABILITY": "default",  # of PyTorch, which learns with --fit
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL",
        "OPENBLAS_CORETYPE": "Prescott",
        "MKL_CBWR": "COMPATIBLE",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
    },
}
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MAX_TRAINING_ROWS = 1_500
N_REFITS = 6  # of the model, for answers that are robust
Answers = dict[str, dict[str, Any]]


@cache
def world(name: str) -> tuple[Any, pd.DataFrame, pd.DataFrame, Any]:
    """Return a data set, the rows to train on, those to draw from, and the labels of the first."""
    from proce.datasets import load_dataset

    if name == "mixed":
        data, frame, label = mixed()
    else:
        data = load_dataset(name)
        frame, label = data.frame, data.label
    drawn = frame.sample(min(len(frame), MAX_TRAINING_ROWS + 500), random_state=5)
    train, rest = drawn.iloc[:-500], drawn.iloc[-500:]
    return data, train, rest, label[train.index].to_numpy()


def mixed() -> tuple[Any, pd.DataFrame, "pd.Series[int]"]:
    """Return numbers of many digits beside whole ones and levels, without a schema or a graph.

    They are rounded: the last digit of an exponential is another one on another processor, and so
    the rows themselves would be.
    """
    draw = np.random.default_rng(3)
    n = 1_500
    frame = pd.DataFrame(
        {
            "debt": np.exp(draw.normal(8, 1.5, n)).round(7),
            "ratio": draw.normal(0.3, 0.2, n).round(9),
            "months": draw.integers(0, 240, n),
            "visits": draw.poisson(3, n),
            "home": draw.choice(["owns", "rents", "with parents"], n),
            "employed": draw.random(n) < 0.6,
        }
    )
    score = 0.3 - frame["ratio"] + (8 - np.log(frame["debt"])) / 3 + 0.4 * frame["employed"]
    label = (score + draw.normal(0, 0.3, n) > 0.2).astype(int)
    return None, frame, label


def trained(kind: str, data: Any, train: pd.DataFrame, label: Any) -> Any:
    """Return a fitted model of a kind."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from proce.classifier import fit_network
    from proce.schema import Codec, Schema

    if kind == "network":
        schema = Schema.infer(train) if data is None else data.recourse_schema
        return fit_network(Codec.fit(schema, train), train, label, seed=1)
    levels = make_column_selector(dtype_exclude="number")
    numbers = make_column_selector(dtype_include="number")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), levels), (StandardScaler(), numbers)
    )
    models = {
        "logistic": LogisticRegression(max_iter=500),
        "forest": RandomForestClassifier(30, min_samples_leaf=4, random_state=1, n_jobs=1),
        "boosting": HistGradientBoostingClassifier(max_iter=40, random_state=1),
    }
    return make_pipeline(columns, models[kind]).fit(train, label)


def fitted(name: str, kind: str, causal: bool) -> Any:
    """Return an explainer, without a graph or with the graph and the rules of the data."""
    import proce

    data, train, _, label = world(name)
    model = trained(kind, data, train, label)
    schema = None if data is None else data.recourse_schema
    graph, rules = (data.graph, data.rules) if causal else (None, ())
    explainer = proce.ProCE(model, schema, graph, rules, seed=1)
    return explainer.fit(train, None if kind == "network" else label)


def calls(kind: str, causal: bool) -> dict[str, dict[str, Any]]:
    """Return what is asked of an explainer, by name."""
    asked: dict[str, dict[str, Any]] = {"graph and rules" if causal else "no graph": {}}
    if not causal:
        asked["typical"] = {"pick": "typical"}
    if kind != "network" and not causal:
        asked["robust"] = {"robust": 0.9, "models": N_REFITS}
    return asked


def cells(names: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield the data set and the kind of model of each explainer, and whether it has a graph."""
    for name in names:
        for kind in MODELS:
            for causal in (False, True):
                is_known = (name, kind) in TRAINED and not (causal and name == "mixed")
                if is_known:
                    yield name, kind, causal


def file_name(name: str, kind: str, causal: bool) -> str:
    """Return the name of the folder of an explainer."""
    return f"{name}-{kind}-{'graph' if causal else 'plain'}"


def rows_of(name: str, n: int) -> pd.DataFrame:
    """Return the first rows that no model was trained on."""
    _, _, rest, _ = world(name)
    return rest.head(n)


def answers_of(explainer: Any, cell: tuple[str, str, bool], n_rows: int) -> Answers:
    """Return what an explainer answers, row by row: returned cells, losses and sentences."""
    name, kind, causal = cell
    rows, answers = rows_of(name, n_rows), {}
    for asked, options in calls(kind, causal).items():
        result = explainer.explain(rows, n=3, **options)
        owner = result.rows.counterfactuals.owner.tolist()
        returned = result.counterfactuals()
        cells_of = [[repr(value) for value in row] for row in returned.itertuples(index=False)]
        for position in range(len(result)):
            lines = [line for line, own in enumerate(owner) if own == position]
            answers[f"{name} | {kind} | {asked} | {position}"] = {
                "rows": [cells_of[line] for line in lines],
                "distance": [float(result.rows.counterfactuals.losses[line, 2]) for line in lines],
                "said": str(result[position]),
            }
    return answers


def make(folder: Path, names: Sequence[str], n_rows: int) -> None:
    """Fit and save every explainer that the folder does not hold."""
    for cell in cells(names):
        if not (folder / file_name(*cell)).exists():
            explainer = fitted(*cell)
            answers_of(explainer, cell, min(n_rows, 2))  # makes what is learned when first asked
            explainer.save(folder / file_name(*cell))
            print(f"saved {file_name(*cell)}", file=sys.stderr, flush=True)


def answer(folder: Path, names: Sequence[str], out: Path, n_rows: int, *, fit: bool) -> None:
    """Write the answers of this process to a file."""
    import proce

    answers: Answers = {}
    for cell in cells(names):
        known = None if fit else proce.ProCE.load(folder / file_name(*cell))
        answers |= answers_of(known or fitted(*cell), cell, n_rows)
    out.write_text(json.dumps(answers, indent=1))


def run(arguments: list[str], variables: Mapping[str, str]) -> None:
    """Run this script in a process whose environment has some variables more."""
    environment = {**os.environ, **THREADS, **variables}
    subprocess.run([sys.executable, __file__, *arguments], env=environment, check=True)


def table(folder: Path, names: list[str], suffix: str) -> Iterator[str]:
    """Yield a line for each environment: how many rows and sentences are as in the first one."""
    usual = json.loads((folder / f"{names[0]}{suffix}.json").read_text())
    yield "| environment | rows | other rows | other sentences | found, or not | mean distance |"
    yield "|---|---|---|---|---|---|"
    for name in names[1:]:
        other = json.loads((folder / f"{name}{suffix}.json").read_text())
        rows = [key for key in usual if usual[key]["rows"] != other[key]["rows"]]
        said = [key for key in usual if usual[key]["said"] != other[key]["said"]]
        found = [key for key in rows if bool(usual[key]["rows"]) != bool(other[key]["rows"])]
        first, second = (
            np.mean([answers[key]["distance"][0] for key in usual if answers[key]["distance"]])
            for answers in (usual, other)
        )
        yield (
            f"| {name} | {len(usual)} | {len(rows)} | {len(said)} | {len(found)} |"
            f" {second / first - 1:+.2%} |"
        )
        for key in rows[:20]:
            print(f"  {name}: {key}", file=sys.stderr)


def main() -> None:
    """Make explainers, ask them in every environment, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("build/processors"))
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--fit", action="store_true", help="fit in every environment too")
    parser.add_argument("--data", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--only", nargs="+", choices=list(ENVIRONMENTS), default=None)
    parser.add_argument("--step", choices=("make", "answer"), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.step == "make":
        return make(given.folder, given.data, given.rows)
    if given.step == "answer":
        return answer(given.folder, given.data, given.out, given.rows, fit=given.fit)
    shared = ["--folder", str(given.folder), "--rows", str(given.rows)]
    shared += ["--data", *given.data, *["--fit"] * given.fit]
    names = [name for name in ENVIRONMENTS if given.only is None or name in given.only]
    suffix = " fitted" if given.fit else ""
    if not given.fit:
        run(["--step", "make", *shared], {})
    for name in names:
        out = given.folder / f"{name}{suffix}.json"
        if not out.exists():
            run(["--step", "answer", "--out", str(out), *shared], ENVIRONMENTS[name])
    for line in table(given.folder, names, suffix):
        print(line)
    return None


if __name__ == "__main__":
    main()
