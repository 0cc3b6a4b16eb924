"""Frames and models of every kind: few columns and many, levels only, missing cells, libraries."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from proce import ModelError, ProCE, SearchError
from proce.schema import Schema

from ...worlds import (
    SCHEMA,
    SETTINGS,
    TINY,
    bank,
    lenient_bank,
    logistic,
    one,
    people,
    refused,
    without_diagnosis,
)


def with_missing_cells(frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return the frame with a tenth of its cells gone, but for the home."""
    draw = np.random.default_rng(seed)
    frame = frame.astype({"age": float, "savings": float, "debt": float})
    for name in ("age", "savings", "debt", "school"):
        frame.loc[draw.random(len(frame)) < 0.1, name] = None
    return frame


def test_a_single_row(banker: ProCE) -> None:
    result = banker.explain(one())
    assert len(result) == 1
    assert len(result[0]) == 4


@pytest.mark.parametrize(
    "n_rows", [600, pytest.param(10_000, marks=pytest.mark.slow, id="ten thousand")]
)
def test_many_rows_in_one_call(n_rows: int) -> None:
    """Several chunks; fronts are not kept beyond a thousand rows unless asked for."""
    explainer = ProCE(bank, schema=SCHEMA, settings=TINY).fit(people())
    rows = people(n=n_rows, seed=5)
    result = explainer.explain(rows, target=1, n=1, progress=without_diagnosis)
    outcomes = result.outcomes()
    assert len(outcomes) == n_rows
    assert set(outcomes["outcome"]) <= {"found", "already_target", "not_found"}
    assert (outcomes["outcome"] == "not_found").mean() < 0.1
    frame = result.to_frame()
    assert (bank(frame)[:, 1] > 0.5).all()
    assert len(frame) > n_rows / 4
    assert {item.front is not None for item in result if len(item)} == {n_rows <= 1_000}


def test_two_hundred_columns() -> None:
    draw = np.random.default_rng(0)
    names = [f"c{k}" for k in range(200)]
    frame = pd.DataFrame(draw.normal(size=(300, 200)), columns=names)
    model = LogisticRegression(max_iter=300).fit(frame, frame[names[:5]].sum(axis=1) > 0)
    result = ProCE(model, settings=SETTINGS).fit(frame).explain(frame.head(3), n=2)
    assert (result.outcomes()["outcome"] == "found").all()
    after, before = model.predict(result.counterfactuals()), model.predict(frame.head(3))
    assert (after != np.repeat(before, 2)).all()


def test_categorical_columns_only() -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({f"k{k}": draw.choice(list("abc"), 200) for k in range(5)})

    def counts_the_a(rows: pd.DataFrame) -> Any:
        return logistic(4 * ((rows == "a").sum(axis=1) - 1.5))

    result = ProCE(counts_the_a, settings=SETTINGS).fit(frame).explain(frame.head(6))
    assert (result.outcomes()["outcome"] == "found").all()
    target = np.repeat(result.outcomes()["target"], [len(item) for item in result])
    assert (counts_the_a(result.counterfactuals()).argmax(1) == target).all()


class TestMissingCells:
    """A missing cell stays missing, and the result says so."""

    def test_in_training_and_in_the_rows_explained(self) -> None:
        training, rows = with_missing_cells(people()), with_missing_cells(people(40, 3), 1)
        explainer = ProCE(lenient_bank, schema=SCHEMA, settings=SETTINGS).fit(training)
        result = explainer.explain(rows, target=1, n=2, progress=without_diagnosis)
        after = result.to_frame()
        before = rows.iloc[after["row"]]
        assert (lenient_bank(result.counterfactuals())[:, 1] > 0.5).all()
        assert before.isna().any().sum() >= 3  # columns, so there are rows
        for name in rows.columns:
            assert (after[name].isna().to_numpy() == before[name].isna().to_numpy()).all()
        for item in result:
            gone = rows.columns[rows.iloc[item.row].isna()]
            assert all(name in " ".join(item.notes) for name in gone)

    def test_a_row_of_which_little_is_known(self) -> None:
        explainer = ProCE(lenient_bank, schema=SCHEMA, settings=SETTINGS).fit(
            with_missing_cells(people())
        )
        row = one(savings=5.0, age=np.nan, school=None, debt=np.nan)
        result = explainer.explain(row)
        assert result[0].outcome == "found"
        assert set(result.changes()["feature"]) == {"savings"}

    def test_with_a_causal_graph(self) -> None:
        graph = [("age", "savings"), ("savings", "debt")]
        explainer = ProCE(lenient_bank, schema=SCHEMA, graph=graph, settings=SETTINGS).fit(
            with_missing_cells(people())
        )
        rows = with_missing_cells(refused(people(60, 4), 20), 2)
        result = explainer.explain(rows, target=1, n=1, progress=without_diagnosis)
        after = result.to_frame()
        before = rows.iloc[after["row"]]
        assert len(after) > 10
        assert (after.isna()[rows.columns].to_numpy() == before.isna().to_numpy()).all()

    @pytest.mark.parametrize(
        "n_rows", [2_000, pytest.param(150_000, marks=pytest.mark.slow, id="hundred thousands")]
    )
    def test_many_training_rows(self, n_rows: int) -> None:
        training = with_missing_cells(people(n_rows))
        explainer = ProCE(lenient_bank, schema=SCHEMA, settings=TINY).fit(training)
        rows = refused(people(20, 6), 5)
        result = explainer.explain(rows.astype(training.dtypes.to_dict()), n=1)
        assert result.provenance.training_rows == n_rows
        assert (lenient_bank(result.counterfactuals())[:, 1] > 0.5).all()
        assert (result.outcomes()["outcome"] == "found").sum() >= 4


class TestModels:
    """Whatever gives probabilities can be explained."""

    def test_a_pipeline_with_its_own_preprocessing(self) -> None:
        frame = with_missing_cells(people())
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        columns = make_column_transformer(
            (numbers, ["age", "savings", "debt"]),
            (OneHotEncoder(handle_unknown="ignore"), ["school", "home"]),
        )
        labels = np.where(lenient_bank(frame)[:, 1] > 0.5, "yes", "no")
        model = make_pipeline(columns, LogisticRegression()).fit(frame, labels)
        rows = frame[model.predict(frame) == "no"].head(5)
        result = ProCE(model, schema=SCHEMA, settings=SETTINGS).fit(frame).explain(rows)
        assert result.outcomes()["target"].tolist() == ["yes"] * 5
        assert (model.predict(result.counterfactuals()) == "yes").all()
        assert len(result.counterfactuals()) > 0

    def test_lightgbm_on_pandas_categories(self) -> None:
        lightgbm = pytest.importorskip("lightgbm")
        frame = people(600).astype({"school": "category", "home": "category"})
        labels = bank(frame)[:, 1] > 0.5
        model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1).fit(frame, labels)
        rows = frame[~model.predict(frame)].head(5)
        result = ProCE(model, settings=SETTINGS).fit(frame).explain(rows)
        after = result.counterfactuals()
        assert (result.outcomes()["outcome"] == "found").all()
        assert model.predict(after).all()
        assert after.dtypes.tolist() == frame.dtypes.tolist()

    def test_a_network_of_torch(self) -> None:
        from proce.classifier import fit_network
        from proce.schema import Codec

        codec = Codec.fit(SCHEMA, people())
        model = fit_network(codec, people(), (bank(people())[:, 1] > 0.5).astype(int), seed=0)
        explainer = ProCE(model, schema=SCHEMA, settings=SETTINGS).fit(people())
        rows = people()[model.predict(codec.encode(people())) == 0].head(4)
        result = explainer.explain(rows)
        again = model.predict(codec.encode(result.counterfactuals()))
        assert (result.outcomes()["outcome"] == "found").all()
        assert (again == 1).all()

    def test_three_classes(self) -> None:
        frame = people()
        labels = pd.cut(frame["savings"] - frame["debt"], [-101, -30, 30, 101], labels=list("abc"))
        numbers = frame[["age", "savings", "debt"]]
        model = LogisticRegression(max_iter=500).fit(numbers, labels.astype(str))
        explainer = ProCE(model, settings=SETTINGS).fit(numbers)
        for target in "abc":
            result = explainer.explain(numbers.head(8), target=target, n=2)
            outcomes = result.outcomes()
            assert set(outcomes["outcome"]) <= {"found", "already_target"}
            assert len(result.counterfactuals())
            assert (model.predict(result.counterfactuals()) == target).all()
            own = model.predict(numbers.head(8)) == target
            assert ((outcomes["outcome"] == "already_target").to_numpy() == own).all()

    def test_three_classes_keep_the_margin_to_the_next(self) -> None:
        frame = people()[["savings", "debt"]]

        def three(rows: pd.DataFrame) -> Any:
            scores = np.stack([rows["savings"], rows["debt"], 0 * rows["debt"] + 50], axis=1) / 15
            chances = np.exp(scores - scores.max(1, keepdims=True))
            return chances / chances.sum(1, keepdims=True)

        result = ProCE(three, settings=SETTINGS).fit(frame).explain(frame.head(6), target=2)
        explained = [item for item in result if len(item)]
        assert len(explained) >= 3
        for item in explained:
            chances = np.sort(three(result[item.row : item.row + 1].counterfactuals()), axis=1)
            assert (chances[:, -1] - chances[:, -2] >= 0.2 - 1e-6).all() == item.margin_met

    def test_of_three_classes_none_is_the_other(self) -> None:
        frame = people()[["savings", "debt"]]
        explainer = ProCE(lambda rows: np.tile([0.2, 0.3, 0.5], (len(rows), 1)), settings=TINY).fit(
            frame
        )
        with pytest.raises(SearchError, match=r"classes 0, 1, 2.*say which is wanted with target="):
            explainer.explain(frame.head(1))
        with pytest.raises(ModelError, match="unknown class 3"):
            explainer.explain(frame.head(1), target=3)

    def test_a_decision_threshold(self) -> None:
        explainer = ProCE(bank, schema=SCHEMA, settings=SETTINGS, threshold=0.8).fit(people())
        rows = people()[(bank(people())[:, 1] > 0.55) & (bank(people())[:, 1] < 0.75)].head(3)
        result = explainer.explain(rows, n=1)
        assert result.outcomes()["predicted"].tolist() == [0, 0, 0]
        assert len(result.counterfactuals()) == 3
        assert (bank(result.counterfactuals())[:, 1] >= 0.8).all()


class TestLibraries:
    """A frame comes back in the library that it came in."""

    def test_the_answer_is_the_same_in_every_library(self, banker: ProCE) -> None:
        polars = pytest.importorskip("polars")
        pyarrow = pytest.importorskip("pyarrow")
        rows = refused(people(), 3)
        expected = banker.explain(rows).to_frame().reset_index(drop=True)
        assert len(expected)
        for other in (
            polars.from_pandas(rows),
            pyarrow.Table.from_pandas(rows, preserve_index=False),
        ):
            got = banker.explain(other).to_frame()
            assert type(got) is type(other)
            assert got.to_pandas().astype(str).equals(expected.astype(str))

    def test_a_lazy_frame_is_refused(self, banker: ProCE) -> None:
        polars = pytest.importorskip("polars")
        with pytest.raises(ValueError, match=r"call \.collect\(\)"):
            banker.explain(polars.from_pandas(one()).lazy())

    def test_a_one_hot_feature_moves_as_one(self) -> None:
        frame = people()[["savings", "debt"]].assign(
            own=(people()["home"] == "owns").astype(int),
            rent=(people()["home"] == "rents").astype(int),
        )
        schema = Schema.infer(frame, one_hot={"home": ["own", "rent"]})

        def ask(rows: pd.DataFrame) -> Any:
            return logistic((rows["savings"] - rows["debt"]) / 25 + 3 * rows["own"] - 2.5)

        explainer = ProCE(ask, schema=schema, settings=SETTINGS).fit(frame)
        result = explainer.explain(frame.head(6), target=1, progress=without_diagnosis)
        after = result.counterfactuals()
        assert ((after["own"] + after["rent"]) == 1).all()
        assert "home" in set(result.changes()["feature"])
