"""What a result tells is what the model says of the frame that it returns, bit for bit."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn

from proce import ProCE
from proce.classifier import as_classifier, one_hot
from proce.schema import Codec, Schema

from ..worlds import TINY

Frames = Callable[[pd.DataFrame], Any]
NUMBERS = ["debt", "ratio", "months"]
HOMES = pd.CategoricalDtype(["owns", "rents", "with parents"])


def unrounded(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return rows of unrounded floats, on which trees split between neighbouring values."""
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "debt": np.exp(draw.normal(8, 1.5, n)),
            "ratio": draw.normal(0.3, 0.2, n),
            "months": draw.integers(0, 240, n),
            "home": draw.choice(["owns", "rents", "with parents"], n),
            "employed": draw.random(n) < 0.6,
        }
    )


def labels(frame: pd.DataFrame) -> Any:
    noise = np.random.default_rng(7).normal(0, 0.3, len(frame))
    score = 0.3 - frame["ratio"] + (8 - np.log(frame["debt"])) / 3 + 0.4 * frame["employed"]
    return (score + noise > 0.2).astype(int).to_numpy()


TRAINING = unrounded()
LABELS = labels(TRAINING)


def nullable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(
        {"debt": "Float64", "ratio": "Float64", "months": "Int64", "employed": "boolean"}
    )


def arrow_dtypes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(
        {
            "debt": "double[pyarrow]",
            "ratio": "double[pyarrow]",
            "months": "int64[pyarrow]",
            "home": "string[pyarrow]",
            "employed": "bool[pyarrow]",
        }
    )


def categories(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(home=frame["home"].astype("category"))


def single(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype({"debt": "float32", "ratio": "float32", "months": "int16"})


def turned_round(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame.columns[::-1]].set_index(np.arange(len(frame)) * 3)


FRAMES: dict[str, Frames] = {
    "float64": lambda frame: frame,
    "float32": single,
    "nullable": nullable,
    "arrow dtypes": arrow_dtypes,
    "categories": categories,
    "columns turned round": turned_round,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def columns_of(frame: Any) -> pd.DataFrame:
    """Return a frame of any library as pandas, with nothing rounded."""
    if isinstance(frame, pl.DataFrame):
        return frame.to_pandas()
    return frame.to_pandas() if isinstance(frame, pa.Table) else frame


def pipeline(model: Any) -> Any:
    columns = make_column_transformer(
        (OneHotEncoder(), ["home"]), ("passthrough", [*NUMBERS, "employed"])
    )
    return make_pipeline(columns, model).fit(TRAINING, LABELS)


def histogram_boosting() -> Any:
    return pipeline(HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=1))


def forest() -> Any:
    return pipeline(RandomForestClassifier(n_estimators=20, random_state=0))


def linear() -> Any:
    return pipeline(make_pipeline(StandardScaler(), LogisticRegression()))


def perceptron() -> Any:
    return pipeline(
        make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=30, random_state=0))
    )


def light_boosting() -> Any:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1)
    return model.fit(TRAINING.astype({"home": HOMES}), LABELS)


def extreme_boosting() -> Any:
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=10, n_jobs=1, enable_categorical=True)
    return model.fit(TRAINING.astype({"home": HOMES}), LABELS)


MODELS = (histogram_boosting, forest, linear, perceptron)
BOOSTERS = {"lightgbm": light_boosting, "xgboost": extreme_boosting}


@cache
def fitted(make: Callable[[], Any]) -> tuple[Any, ProCE]:
    """Return a model and its explainer, both fitted on the plain training rows."""
    model = make()
    return model, ProCE(model, causal="off", settings=TINY).fit(TRAINING)


def explained(model: Any, training: Any, rows: Any, **options: Any) -> Any:
    explainer = ProCE(model, causal="off", settings=TINY, **options).fit(training)
    return explainer.explain(rows, n=3)


@pytest.mark.filterwarnings("ignore:.*Maximum iterations:Warning")
@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_the_model_says_of_the_returned_frame_what_is_told(make: Any, frames: Frames) -> None:
    """The explained frame is of any library and dtypes; the training frame is plain."""
    (model, explainer), rows = fitted(make), frames(TRAINING.sample(24, random_state=1))
    result = explainer.explain(rows, n=3)
    returned = result.counterfactuals()
    answers = model.predict_proba(columns_of(returned))
    assert_told(result, answers)
    before = model.predict_proba(columns_of(rows))
    target = result.rows.target
    assert result.rows.probability.tolist() == before[np.arange(len(before)), target].tolist()


def assert_told(result: Any, answers: Any) -> None:
    """Check every counterfactual's class and probability against answers ``(n, k)``."""
    ways = result.rows.counterfactuals
    target = result.rows.target[ways.owner]
    assert len(target), "a search that finds nothing proves nothing"
    assert np.asarray(answers).argmax(1).tolist() == target.tolist()
    assert ways.probabilities.tolist() == np.asarray(answers)[range(len(target)), target].tolist()


@pytest.mark.parametrize("kind", [kind for kind in FRAMES if kind != "pyarrow"])
def test_training_rows_of_any_kind_change_nothing(kind: str) -> None:
    """But for tables of pyarrow, which a pipeline of scikit-learn cannot take."""
    (model, _), frames = fitted(histogram_boosting), FRAMES[kind]
    result = explained(model, frames(TRAINING), frames(TRAINING.sample(12, random_state=1)))
    assert_told(result, model.predict_proba(columns_of(result.counterfactuals())))


@pytest.mark.parametrize("library", BOOSTERS)
@pytest.mark.parametrize("frames", FRAMES.values(), ids=FRAMES)
def test_boosters_that_take_categories_only_get_the_same_values(
    library: str, frames: Frames
) -> None:
    """Text becomes categories on the way to the model; the numbers stay what they are."""
    pytest.importorskip(library)
    model, explainer = fitted(BOOSTERS[library])
    result = explainer.explain(frames(TRAINING.sample(12, random_state=1)), n=3)
    plain = {"debt": float, "ratio": float, "months": int, "employed": bool, "home": HOMES}
    returned = columns_of(result.counterfactuals())[list(TRAINING)].astype(plain)
    assert_told(result, model.predict_proba(returned))


def test_a_model_fitted_on_an_array_gets_the_array_of_the_frame() -> None:
    model = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=1)
    model.fit(TRAINING[NUMBERS].to_numpy(), LABELS)
    for dtypes in ("float64", "float32", "Float64", "double[pyarrow]"):
        rows = TRAINING.sample(16, random_state=1)[NUMBERS].astype(dtypes)
        result = explained(model, TRAINING[NUMBERS], rows)
        returned = result.counterfactuals()
        assert_told(result, model.predict_proba(returned.to_numpy(dtype=float)))


def test_a_network_gets_what_its_owner_would_encode() -> None:
    codec = Codec.fit(Schema.infer(TRAINING), TRAINING)
    generator = torch.Generator().manual_seed(1)
    module = nn.Sequential(nn.Linear(one_hot(codec).width, 8), nn.Tanh(), nn.Linear(8, 2))
    for parameter in module.parameters():
        nn.init.normal_(parameter, generator=generator)
    result = explained(module, TRAINING, TRAINING.sample(16, random_state=1))
    rows = codec.encode(result.counterfactuals())
    assert_told(result, as_classifier(module, codec).predict_proba(rows))


def test_a_function_gets_the_frame_that_is_returned() -> None:
    seen: list[pd.DataFrame] = []

    def lender(frame: pd.DataFrame) -> Any:
        seen.append(frame)
        score = np.sin(frame["debt"].to_numpy(float) * 1e3) - frame["ratio"].to_numpy(float)
        yes = 1 / (1 + np.exp(-4 * score))
        return np.stack([1 - yes, yes], axis=1)

    rows = turned_round(TRAINING.sample(16, random_state=1))
    result = explained(lender, TRAINING, rows)
    returned = result.counterfactuals()
    pd.testing.assert_frame_equal(seen[-1], returned[list(TRAINING)], check_exact=True)
    assert_told(result, lender(returned))
