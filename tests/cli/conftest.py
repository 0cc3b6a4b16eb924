"""A desk with everything that a person has: data, a model, a graph, rules, a fitted explainer."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce import CausalGraph, Explanations, ProCE
from proce.classifier.saved import write_model
from proce.cli.main import main

from .. import worlds
from ..worlds import SCHEMA

QUICK = ["--population", "20", "--generations", "5"]


def people(n: int, seed: int) -> pd.DataFrame:
    """Return people with the bank's decisions; who saves has less debt."""
    frame, draw = worlds.people(n, seed), np.random.default_rng(seed)
    debt = 0.3 * frame["debt"] + 0.7 * (100 - frame["savings"])
    frame = frame.assign(debt=debt.round().astype(int))
    good = worlds.score(frame) + draw.normal(0, 0.3, n) > 0
    return frame.assign(decision=np.where(good, "yes", "no"))


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all the files, and the explainer ``credit`` fitted by the command."""
    folder = tmp_path_factory.mktemp("desk")
    seen, new = people(300, 0), people(40, 1)
    seen.to_csv(folder / "people.csv", index=False)
    new.drop(columns="decision").to_csv(folder / "new.csv", index=False)
    new.to_parquet(folder / "new.parquet")
    text = make_column_transformer(
        (OneHotEncoder(), ["school", "home"]), remainder=StandardScaler()
    )
    model = make_pipeline(text, LogisticRegression())
    write_model(model.fit(seen[list(SCHEMA.names)], seen["decision"]), folder / "model.skops")
    (folder / "schema.json").write_text(SCHEMA.to_json())
    (folder / "graph.json").write_text(CausalGraph([("savings", "debt")]).to_json())
    (folder / "rules.txt").write_text("# nobody gets younger\ncf.age >= x.age  # or lighter\n\n")
    words = f"--label decision --model {folder / 'model.skops'} --graph {folder / 'graph.json'}"
    files = f"--schema {folder / 'schema.json'} --rules {folder / 'rules.txt'}"
    fitted = ["fit", str(folder / "people.csv"), *words.split(), *files.split(), *QUICK]
    assert main([*fitted, "--out", str(folder / "credit")]) == 0
    return folder


@pytest.fixture
def at_desk(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work at the desk; what is written goes to the test's own folder."""
    monkeypatch.chdir(desk)
    monkeypatch.delenv("PROCE_DEBUG", raising=False)
    return desk


@contextmanager
def interrupted_at(call: int) -> Iterator[list[int]]:
    """Press Ctrl-C at a call of ``explain``, the first of which is 1; yield how many rows each had.

    Calls on no rows, which only tell what a result looks like, do not count.
    """
    explain, asked = ProCE.explain, list[int]()

    def count(self: ProCE, rows: Any, **options: Any) -> Explanations:
        asked.extend([len(rows)] * bool(len(rows)))
        if len(rows) and len(asked) == call:
            raise KeyboardInterrupt
        return explain(self, rows, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ProCE, "explain", count)
        yield asked


@pytest.fixture
def run(desk: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Return what runs the installed command in a process of its own, at the desk."""
    program = Path(sys.executable).with_name("proce")

    def command(*words: object, **options: Any) -> "subprocess.CompletedProcess[str]":
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        line = [str(program), *map(str, words)]
        return subprocess.run(line, cwd=desk, text=True, timeout=300, **options)

    return command
