"""A saved explainer, a cluster inside this process, and folders of people."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce import ProCE
from proce.batch.cluster.explainer_payload import ExplainerPayload, pack
from proce.batch.cluster.plan import FolderRequest

from ... import worlds
from .jobs import OPTIONS


@pytest.fixture(scope="session")
def clerk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an explainer that a worker can load, whoever starts it."""
    frame = worlds.people(200)
    text = make_column_transformer(
        (OneHotEncoder(), ["school", "home"]), remainder=StandardScaler()
    )
    decisions = np.where(worlds.score(frame) > 0, "yes", "no")
    model = make_pipeline(text, LogisticRegression()).fit(frame, decisions)
    explainer = ProCE(model, schema=worlds.SCHEMA, settings=worlds.TINY).fit(frame)
    return explainer.save(tmp_path_factory.mktemp("clerk") / "explainer")


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Return the client of a cluster of two threads in this process."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def folder_of(tmp_path: Path) -> Callable[..., Path]:
    """Return what writes frames as the files of a folder."""

    def write(name: str = "rows", **frames: pd.DataFrame) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        for file, frame in frames.items():
            frame.to_parquet(folder / f"{file}.parquet", index=False)
        return folder

    return write


@pytest.fixture(scope="session")
def payload(banker: ProCE) -> ExplainerPayload:
    return pack(banker)


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., FolderRequest]:
    """Return what asks for a folder in small pieces."""

    def make(rows: Path | str, **changes: Any) -> FolderRequest:
        out = str(tmp_path / "out")
        asked = FolderRequest(str(rows), out, None, OPTIONS, piece_rows=8, chunk_rows=8)
        return replace(asked, **changes)

    return make
