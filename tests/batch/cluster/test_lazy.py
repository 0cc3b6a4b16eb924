"""A Dask frame is explained partition by partition, later, as it would be at once."""

from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from distributed import Client
from pandas.testing import assert_frame_equal

import proce
from proce import ProCE, explain_dask
from proce.batch.cluster import connection, explainer_payload
from proce.batch.cluster.lazy import conform
from proce.errors import (
    MissingExtraError,
    ModelError,
    PersistenceError,
    SchemaError,
    SearchError,
    UnsupportedOption,
)
from proce.methods import Nearest

from ... import worlds

OPTIONS: dict[str, Any] = {"target": 1, "n": 2}


@pytest.fixture(autouse=True)
def at_once() -> Any:
    """Compute in this thread."""
    with dask.config.set(scheduler="synchronous", **{"dataframe.convert-string": False}):
        yield


def labelled(n: int = 12) -> pd.DataFrame:
    """Return people with labels, and a column that is no feature."""
    frame = worlds.people(n, seed=1).assign(remark="none")
    return frame.set_axis([f"P{row:02}" for row in range(n)])


def test_the_lines_and_labels_are_those_of_one_call(banker: ProCE) -> None:
    frame = labelled()
    lazy = explain_dask(banker, dd.from_pandas(frame, npartitions=3), **OPTIONS)
    expected = banker.explain(frame, **OPTIONS).to_frame().drop(columns="remark", errors="ignore")
    got = lazy.compute()
    assert lazy.divisions == ("P00", "P04", "P08", "P11")
    assert got.index.tolist() == expected.index.tolist()
    assert_frame_equal(got.drop(columns="row"), expected.drop(columns="row"))
    assert got["row"].max() < 4  # it counts in a partition


def test_the_frame_is_declared_before_any_row_is_asked_about() -> None:
    bank = worlds.WatchedBank()
    explainer = ProCE(bank, settings=worlds.TINY).fit(worlds.people(200))
    lazy = explain_dask(explainer, dd.from_pandas(labelled(), npartitions=3), **OPTIONS)
    n_asked = len(bank.frames)
    computed = lazy.compute()
    assert len(bank.frames) > n_asked
    assert lazy.columns.tolist() == computed.columns.tolist()
    assert lazy.dtypes.tolist() == computed.dtypes.tolist()


def test_partitions_may_be_empty_or_of_another_order_and_dtype(banker: ProCE) -> None:
    frame = worlds.people(12, seed=1)
    first = frame[:5].astype({"age": "int32", "debt": "float64"})[list(frame.columns[::-1])]
    parts = [first, frame[:0], frame[5:]]
    ddf = dd.from_map(lambda place: parts[place], [0, 1, 2], meta=frame[:0], enforce_metadata=False)
    got = explain_dask(banker, ddf, **OPTIONS).compute()
    expected = banker.explain(frame, **OPTIONS).to_frame()
    assert_frame_equal(got.drop(columns="row"), expected.drop(columns="row"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"age": [30.5]}, "'age' as float64, with values that int64"),
        ({"age": [None]}, "'age' as object, with values that int64"),
        ({"age": ["old"]}, "with values that int64"),
    ],
)
def test_a_value_that_the_declared_dtype_does_not_hold_is_refused(
    banker: ProCE, wrong: dict[str, Any], message: str
) -> None:
    frame = worlds.people(1, seed=1)
    odd = frame.assign(**wrong)
    ddf = dd.from_map(lambda _: odd, [0], meta=frame[:0], enforce_metadata=False)
    with pytest.raises(SchemaError, match=message):
        explain_dask(banker, ddf, **OPTIONS).compute()


def test_a_partition_without_a_column_is_refused() -> None:
    frame = worlds.people(3, seed=1)
    with pytest.raises(SchemaError, match="lacks the column 'debt'"):
        conform(frame.rename(columns={"debt": "debts"}), frame[:0])


def test_categories_may_be_unknown(banker: ProCE) -> None:
    frame = worlds.people(12, seed=1).astype({"home": "category"})
    ddf = dd.from_pandas(frame, npartitions=2)
    unknown = ddf.assign(home=ddf["home"].cat.as_unknown())
    got = explain_dask(banker, unknown, **OPTIONS).compute()
    expected = banker.explain(frame, **OPTIONS).to_frame()
    assert got["home"].astype(str).tolist() == expected["home"].astype(str).tolist()


def test_a_saved_folder_will_do(clerk: Path) -> None:
    frame = labelled()
    lazy = explain_dask(clerk, dd.from_pandas(frame, npartitions=2), target="yes", n=1)
    expected = ProCE.load(clerk).explain(frame, target="yes", n=1).to_frame()
    assert_frame_equal(
        lazy.compute().drop(columns="row"),
        expected.drop(columns=["row", "remark"], errors="ignore"),
    )


def test_a_published_method_will_do() -> None:
    frame = labelled()
    nearest = Nearest(worlds.bank, schema=worlds.SCHEMA).fit(worlds.people(200))
    lazy = explain_dask(nearest, dd.from_pandas(frame, npartitions=2), **OPTIONS)
    expected = nearest.explain(frame.drop(columns="remark"), **OPTIONS).to_frame()
    assert len(expected)
    assert_frame_equal(lazy.compute().drop(columns="row"), expected.drop(columns="row"))


def test_an_explainer_is_loaded_once_in_a_process(
    clerk: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    load = explainer_payload._load
    monkeypatch.setattr(explainer_payload, "_load", lambda files: loaded.append(1) or load(files))
    monkeypatch.setattr(explainer_payload, "_opened", {})
    ddf = dd.from_pandas(labelled(2), npartitions=2)
    lazy = explain_dask(str(clerk), ddf, target="yes", n=1)
    lazy.compute(scheduler=client)
    explain_dask(str(clerk), ddf, target="yes", n=2).compute(scheduler=client)
    assert len(loaded) == 1


def test_a_saved_explainer_travels_as_files_and_a_function_as_an_object(
    banker: ProCE, clerk: Path
) -> None:
    loaded = ProCE.load(clerk)
    assert explainer_payload.pack(loaded).files is not None
    assert explainer_payload.pack(banker).files is None
    with_models = ProCE.load(clerk).set_params(models=[loaded.model])
    assert explainer_payload.pack(with_models).files is None  # a folder would not hold the list


def test_what_cannot_be_sent_is_refused() -> None:
    def model(frame: pd.DataFrame) -> Any:
        lock.acquire(blocking=False)
        return worlds.bank(frame)

    lock = explainer_payload.threading.Lock()
    explainer = ProCE(model, settings=worlds.TINY).fit(worlds.people(200))
    with pytest.raises(ModelError, match="cannot be sent to other processes"):
        explainer_payload.pack(explainer)


def test_wrong_requests_are_refused_at_once(banker: ProCE, tmp_path: Path) -> None:
    ddf = dd.from_pandas(labelled(), npartitions=2)
    with pytest.raises(SearchError, match="pick is 'best'"):
        explain_dask(banker, ddf, pick="best")
    with pytest.raises(TypeError, match="colour"):
        explain_dask(banker, ddf, colour="red")
    with pytest.raises(UnsupportedOption, match="progress belongs to a call"):
        explain_dask(banker, ddf, progress=print)
    with pytest.raises(SchemaError, match="'debt'"):
        explain_dask(banker, ddf.drop(columns="debt"))
    with pytest.raises(SchemaError, match=r"expected a dask.dataframe.DataFrame"):
        explain_dask(banker, labelled())
    with pytest.raises(PersistenceError, match="is not a folder"):
        explain_dask(tmp_path / "none", ddf)


def test_without_dask_the_extra_is_named(banker: ProCE, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'proce\[batch\]'"):
        proce.explain_dask(banker, None)


@pytest.mark.slow
def test_what_is_typical_is_learned_once_and_travels_along(
    clerk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught = explainer_payload.pack(clerk).with_looks()
    monkeypatch.setattr(explainer_payload, "_opened", {})
    fitted = taught.open().fitted_
    assert fitted.looks.knows({0, 1})
    assert taught.sha256 == explainer_payload.pack(clerk).sha256
