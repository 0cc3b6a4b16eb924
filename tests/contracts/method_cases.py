"""Every method, as quick as it can be; and the models that they are tried on."""

from collections.abc import Callable
from typing import Any

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
from proce.schema import Schema
from proce.training_settings import TrainingSettings

from .. import worlds
from ..worlds import APPLICANT_SCHEMA, lender, logistic, never
from .network_cases import ByIncome, Lender, Never

SCHEMA = APPLICANT_SCHEMA
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
    return Cchvae(
        model, schema, CchvaeSettings(n_candidates=100, step=0.5, network=network), seed=seed
    )


METHODS: tuple[Made, ...] = (proce, nearest, face, growing_spheres, wachter, certifai, dice, cchvae)


def applicants(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Return applicants with jobs as categories, and with labels of their own."""
    frame = worlds.applicants(n, seed).astype({"job": "category"})
    return frame.set_axis([f"p{position}" for position in range(n)])


def lender_of_polars(frame: Any) -> Any:
    """Return what the lender says of a frame in polars."""
    return lender(frame.to_pandas())


def by_income(frame: pd.DataFrame) -> Any:
    """Return the probabilities of no and yes, of two columns alone."""
    return logistic((frame["income"] - 60) / 8)


_INCOMES = applicants()["income"]
_ENDS = float(_INCOMES.min()), float(_INCOMES.max())
NETWORKS = {  # for methods that need a gradient
    lender: Lender(*_ENDS),
    lender_of_polars: Lender(*_ENDS),
    by_income: ByIncome(*_ENDS),
    never: Never(),
}
