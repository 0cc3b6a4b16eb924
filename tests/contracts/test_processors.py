"""A saved explainer gives the same rows and sentences on other processors.

Environment variables make the libraries below compute as other processors do: without wide
vectors, with sums in another order, on another number of threads.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce import ProCE

from ..worlds import SETTINGS, applicants, decisions

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "processors.py"
ANSWER = """
import json, sys
import pandas as pd
from proce import ProCE

folder, rows = sys.argv[1:]
result = ProCE.load(folder).explain(pd.read_csv(rows), target="yes", n=3)
told = [sentence for item in result for sentence in item.sentences()]
print(json.dumps({"rows": result.counterfactuals().to_csv(), "told": told}))
"""


@pytest.fixture(scope="module")
def processors() -> ModuleType:
    spec = importlib.util.spec_from_file_location("processors", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A saved explainer of a model that multiplies matrices, and a file of rows to explain."""
    folder, frame = tmp_path_factory.mktemp("saved"), applicants(300)
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    model = make_pipeline(columns, LogisticRegression()).fit(frame, decisions(frame))
    ProCE(model, settings=SETTINGS).fit(frame).save(folder / "explainer")
    refused: pd.DataFrame = frame[model.predict(frame) == "no"].head(12)
    refused.to_csv(folder / "rows.csv", index=False)
    return folder / "explainer", folder / "rows.csv"


def answer(saved: tuple[Path, Path], variables: dict[str, str]) -> Any:
    """Return what a process says whose environment has some variables more."""
    command = [sys.executable, "-c", ANSWER, *map(str, saved)]
    environment = {**os.environ, **variables}
    ended = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=300)
    return json.loads(ended.stdout)


def test_an_old_processor_says_the_same(processors: ModuleType, saved: tuple[Path, Path]) -> None:
    """But for the kernels of numba, which would have to be compiled again."""
    old = processors.ENVIRONMENTS["an old processor"]
    old = {name: value for name, value in old.items() if not name.startswith("NUMBA")}
    usual = answer(saved, processors.THREADS)
    assert len(usual["told"]) >= 12, "a search that finds nothing proves nothing"
    assert answer(saved, processors.THREADS | old) == usual


@pytest.mark.slow
def test_every_environment_says_the_same(processors: ModuleType, tmp_path: Path) -> None:
    """Logistic models, trees and networks on mixed rows: plain, typical and robust."""
    names = list(processors.ENVIRONMENTS)
    shared = ["--folder", str(tmp_path), "--rows", "3", "--data", "mixed"]
    processors.run(["--step", "make", *shared], {})
    answers = []
    for name in names:
        out = tmp_path / f"{name}.json"
        processors.run(
            ["--step", "answer", "--out", str(out), *shared], processors.ENVIRONMENTS[name]
        )
        known = json.loads(out.read_text())
        answers.append({key: (own["rows"], own["said"]) for key, own in known.items()})
    assert [name for name, own in zip(names, answers, strict=True) if own != answers[0]] == []
