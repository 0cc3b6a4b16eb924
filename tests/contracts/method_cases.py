"""Every method, as quick as it can be; and the people and models that they are tried on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE, SearchSettings
from proce.latent import AutoEncoderSettings, VariationalSettings
from proce.methods import (
    Cchvae,
    CchvaeSettings,
    Certifai,
    CertifaiSettings,
    Dice,
    DiceSettings,
    Face,
    FaceSettings,
    GrowingSpheres,
    GrowingSpheresSettings,
    Method,
    Nearest,
    Wachter,
    WachterSettings,
)
from proce.schema import Action, Categorical, Continuous, Ordinal, Schema
from proce.training import TrainingSettings

from .network_cases import ByIncome, Lender, Never

SCHEMA = Schema(
    [
        Continuous("age", (18, 90), step=1, action=Action.INCREASE),
        Continuous("income", (0, 200)),
        Ordinal("school", ("none", "basic", "high")),
        Categorical("job", ("clerk", "driver", "nurse")),
        Categorical("sex", ("f", "m"), action=Action.FIXED),
    ]
)
Made = Callable[..., Method]


def proce(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    settings = SearchSettings(
        population_size=30,
        n_offspring=30,
        n_generations=10,
        autoencoder=AutoEncoderSettings(training=TrainingSettings(n_epochs=2)),
    )
    return ProCE(model, schema=schema, settings=settings, seed=seed)


def nearest(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    return Nearest(model, schema=schema, seed=seed)


def face(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    return Face(model, schema, FaceSettings(n_neighbours=20), seed=seed)


def growing_spheres(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    settings = GrowingSpheresSettings(n_candidates=200, max_rounds=30)
    return GrowingSpheres(model, schema, settings, seed=seed)


def wachter(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    return Wachter(NETWORKS[model], schema, WachterSettings(n_steps=25, n_refinements=1), seed=seed)


def certifai(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    pytest.importorskip("pygad")
    settings = CertifaiSettings(population_size=20, n_generations=10, start_rounds=5)
    return Certifai(model, schema, settings, seed=seed)


def dice(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    pytest.importorskip("dice_ml")
    return Dice(model, schema, DiceSettings(sample_size=50), seed=seed)


def cchvae(model: Any, schema: Schema | None = SCHEMA, seed: int = 0) -> Method:
    training = TrainingSettings(n_epochs=4, batch_size=32)
    network = VariationalSettings(hidden_size=16, training=training)
    return Cchvae(model, schema, CchvaeSettings(n_candidates=100, network=network), seed=seed)


METHODS: tuple[Made, ...] = (proce, nearest, face, growing_spheres, wachter, certifai, dice, cchvae)


def applicants(n: int = 200, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(20, 70, n),
            "income": draw.normal(60, 20, n).clip(0, 150).round(2),
            "school": draw.choice(["none", "basic", "high"], n),
            "job": pd.Categorical(draw.choice(["clerk", "driver", "nurse"], n)),
            "sex": draw.choice(["f", "m"], n),
        },
        index=[f"p{at}" for at in range(n)],
    )


def lender(frame: pd.DataFrame) -> Any:
    """Return the probabilities of no and yes; what is missing counts as nothing."""
    income = frame["income"].fillna(0).to_numpy(float)
    school = (frame["school"].astype(str) == "high").to_numpy(float)
    nurse = (frame["job"].astype(str) == "nurse").to_numpy(float)
    yes = 1 / (1 + np.exp(-((income - 65) / 8 + school + nurse - 0.7)))
    return np.stack([1 - yes, yes], axis=1)


def never(frame: pd.DataFrame) -> Any:
    """Return no, whatever is asked."""
    return np.tile([0.9, 0.1], (len(frame), 1))


def lender_of_polars(frame: Any) -> Any:
    """Return what the lender says of a frame in polars."""
    return lender(frame.to_pandas())


def by_income(frame: pd.DataFrame) -> Any:
    """Return the probabilities of no and yes, of two columns alone."""
    yes = 1 / (1 + np.exp(-(frame["income"].to_numpy() - 60) / 8))
    return np.stack([1 - yes, yes], axis=1)


_INCOMES = applicants()["income"]
_ENDS = float(_INCOMES.min()), float(_INCOMES.max())
NETWORKS = {  # for methods that need a gradient
    lender: Lender(*_ENDS),
    lender_of_polars: Lender(*_ENDS),
    by_income: ByIncome(*_ENDS),
    never: Never(),
}
