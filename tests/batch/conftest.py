"""A small explainer, fitted once, and rows of any number for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce import ProCE, SearchSettings
from proce.latent import AutoEncoderSettings
from proce.training import TrainingSettings

SETTINGS = SearchSettings(
    population_size=20,
    n_offspring=20,
    n_generations=5,
    n_refits=0,
    autoencoder=AutoEncoderSettings(training=TrainingSettings(n_epochs=3)),
)


def drawn(n: int, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    job = draw.choice(["field", "office"], n)
    return pd.DataFrame({"savings": draw.integers(0, 100, n), "debt": draw.random(n), "job": job})


def bank(frame: pd.DataFrame) -> Any:
    """Return the probabilities of no and yes."""
    yes = 1 / (1 + np.exp(-(frame["savings"] / 20 - 4 * frame["debt"]).to_numpy(float)))
    return np.stack([1 - yes, yes], axis=1)


@pytest.fixture(scope="session")
def banker() -> ProCE:
    return ProCE(bank, settings=SETTINGS).fit(drawn(200))


@pytest.fixture
def people(tmp_path: Path) -> Callable[[int], Path]:
    """Return what writes so many people to a Parquet file."""

    def write(n: int) -> Path:
        path = tmp_path / f"people-{n}.parquet"
        drawn(n, seed=1).to_parquet(path)
        return path

    return write
