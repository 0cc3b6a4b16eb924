"""Three small saved explainers with rows to browse, fitted once for all tests of the service.

- The loan: the embedded data, where ``sex`` is protected, with a graph, rules and ids.
- The hostile: features and levels that no page would like, without a graph.
- The private: few features, one of them protected, one that may be missing, a discovered graph.
"""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce import CausalGraph, ProCE, SearchSettings, load_dataset
from proce.causal.graphs.dag import Origin
from proce.schema import Categorical, Continuous, Ordinal, Schema
from proce.server.explainer_api.api import ExplainerApi

from ..worlds import QUICK
from .live import LiveServer
from .running_workers import run

SETTINGS = SearchSettings(
    population_size=24, n_offspring=24, n_generations=8, n_refits=4, autoencoder=QUICK
)
SCRIPT = "<script>alert(1)</script>"
QUOTES = "\"double\" & 'single' <b>"
EMOJI = "👩‍💻 joy 😀"
RIGHT_TO_LEFT = "שלום עולם"
LONG = "long " * 2_000  # 10,000 characters


def _model(frame: pd.DataFrame, label: Any) -> Any:
    """Return a plain model that is saved without pickle."""
    by_type = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        remainder=OneHotEncoder(),
    )
    return make_pipeline(by_type, LogisticRegression(max_iter=500)).fit(frame, label)


def _saved(explainer: ProCE, frame: pd.DataFrame, label: Any, folder: Path) -> Path:
    return explainer.fit(frame, label).save(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def loan_folder(server_folder: Path) -> Path:
    """The loan explainer, saved; the classes are ``approved`` and ``rejected``."""
    data = load_dataset("loan", n=400, seed=3)
    label = data.label.map(dict(enumerate(data.class_names)))
    explainer = ProCE(
        _model(data.frame, label),
        data.recourse_schema,
        data.graph,
        data.rules,
        settings=SETTINGS,
    )
    return _saved(explainer, data.frame, label, server_folder / "loan")


@pytest.fixture(scope="session")
def loan_rows(server_folder: Path) -> Path:
    """Sixty rows for the loan explainer as csv, with the ids C0, C1, ... in ``customer``."""
    frame = load_dataset("loan", n=60, seed=4).frame
    frame.insert(0, "customer", [f"C{number}" for number in range(len(frame))])
    path = server_folder / "loan.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def loan_api(loan_folder: Path, loan_rows: Path) -> ExplainerApi:
    return ExplainerApi.open(loan_folder, loan_rows, "customer")


@pytest.fixture(scope="session")
def rejected(loan_api: ExplainerApi) -> int:
    """The position of a row of the loan file that is rejected, and can be helped."""
    return int(loan_api.rows(prediction="rejected", sort="probability")["rows"][0]["row"])


def _hostile(n: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            SCRIPT: draw.integers(0, 100, n),
            QUOTES: draw.normal(0, 1, n).round(2),
            EMOJI: draw.choice([SCRIPT, QUOTES, EMOJI, RIGHT_TO_LEFT, LONG], n),
            RIGHT_TO_LEFT: draw.choice(["a", "b", "c"], n),
        }
    )


@pytest.fixture(scope="session")
def hostile_folder(server_folder: Path) -> Path:
    """An explainer whose names and levels are markup, quotes, signs and very long."""
    frame = _hostile(300, 0)
    schema = Schema(
        [
            Continuous(SCRIPT, (0, 100), step=1, label=SCRIPT, unit="<i>"),
            Continuous(QUOTES),
            Categorical(EMOJI, (SCRIPT, QUOTES, EMOJI, RIGHT_TO_LEFT, LONG)),
            Ordinal(RIGHT_TO_LEFT, ("a", "b", "c"), labels={"b": SCRIPT}),
        ]
    )
    label = (frame[SCRIPT] / 50 + frame[QUOTES] > 1).astype(int)
    explainer = ProCE(
        _model(frame, label), schema, settings=SETTINGS, classes={0: SCRIPT, 1: QUOTES}
    )
    return _saved(explainer, frame, label, server_folder / "hostile")


@pytest.fixture(scope="session")
def hostile_rows(server_folder: Path) -> Path:
    """Twenty rows for the hostile explainer, as Parquet."""
    path = server_folder / "hostile.parquet"
    _hostile(20, 1).to_parquet(path)
    return path


@pytest.fixture(scope="session")
def hostile_api(hostile_folder: Path, hostile_rows: Path) -> ExplainerApi:
    return ExplainerApi.open(hostile_folder, hostile_rows)


def _private(n: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    birthplace = draw.choice(["north", "south"], n)
    study = draw.uniform(0, 10, n).round(1)
    skill = (study + 2 * (birthplace == "north") + draw.normal(0, 0.5, n)).round(1)
    return pd.DataFrame(
        {
            "birthplace": birthplace,
            "study": study,
            "skill": skill,
            "tests": np.where(draw.random(n) < 0.2, np.nan, draw.integers(0, 20, n)),
            "member": draw.random(n) < 0.5,
        }
    )


@pytest.fixture(scope="session")
def private_folder(server_folder: Path) -> Path:
    """An explainer with the protected ``birthplace``, ``tests`` that may be missing, and a flag.

    The graph study -> skill <- birthplace was learned, says its origin. Of its two rules one is
    about the protected feature, and the classes are numbers.
    """
    frame = _private(300, 0)
    schema = Schema(
        [
            Categorical("birthplace", ("north", "south"), action="fixed", protected=True),
            Continuous("study", (0, 12), step=0.1, unit="hours"),
            Continuous("skill", step=0.1, action="indirect"),
            Continuous("tests", (0, 20), step=1),
            Categorical("member", (False, True)),
        ]
    )
    label = (frame["skill"] + frame["tests"].fillna(0) / 10 > 7).astype(int)
    model = HistGradientBoostingClassifier(
        max_iter=20, random_state=0, categorical_features="from_dtype"
    )
    edges = [("study", "skill"), ("birthplace", "skill")]
    graph = CausalGraph(
        edges, schema.names, dict.fromkeys(edges, 0.9), Origin("direct_lingam", {}, ())
    )
    frame["birthplace"] = frame["birthplace"].astype("category")
    explainer = ProCE(
        model.fit(frame, label),
        schema,
        graph,
        ["cf.study >= x.study", "cf.birthplace == x.birthplace"],
        settings=SETTINGS,
        classes={0: "not yet", 1: "ready"},
    )
    return _saved(explainer, frame, label, server_folder / "private")


@pytest.fixture(scope="session")
def private_rows(server_folder: Path) -> Path:
    """Forty rows for the private explainer, as csv."""
    path = server_folder / "private.csv"
    _private(40, 1).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def private_api(private_folder: Path, private_rows: Path) -> ExplainerApi:
    return ExplainerApi.open(private_folder, private_rows)


@pytest.fixture
def said() -> Callable[[object], str]:
    """Return what makes one text of everything that an answer says."""
    return lambda answer: answer if isinstance(answer, str) else repr(answer)


@pytest.fixture(scope="session")
def live_server(
    loan_folder: Path, loan_rows: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    """A service of the loan explainer without tokens: one process that explains, sixty rows."""
    database = tmp_path_factory.mktemp("live") / "explanations.sqlite"
    words = ["--rows", loan_rows, "--id", "customer", "--title", "Loans", "--workers", 1]
    with LiveServer(loan_folder, *words, "--database", database) as server:
        yield server
