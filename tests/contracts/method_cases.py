"""Every method, as quick as it can be; and the people and models that they are tried on."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from proce import ProCE, SearchSettings
from proce.latent import AutoEncoderSettings
from proce.methods import Method
from proce.schema import Action, Categorical, Continuous, Ordinal, Schema
from proce.training import TrainingSettings

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


METHODS: tuple[Made, ...] = (proce,)


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
