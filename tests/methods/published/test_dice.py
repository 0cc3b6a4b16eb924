"""DiCE behind our interface: what its own package finds, within our limits and counts."""

import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from proce import MissingExtraError
from proce.classifier import TrainedNetwork, fit_network
from proce.compiled.streams import RowStreams, row_keys
from proce.errors import ModelInterfaceError
from proce.methods import Dice, DiceSettings
from proce.methods.published.dice.dice import _RowSearch
from proce.methods.published.dice.worker import score_of
from proce.methods.published.task import Task
from proce.schema import Categorical, Codec, Continuous, Schema
from proce.training_settings import TrainingSettings

from ...worlds import SCHEMA, WatchedBank, bank, one, people, refused

dice_ml = pytest.importorskip("dice_ml")
TRAINING = people(300)
ROWS = refused(people(60, seed=5), 4)
QUICK = DiceSettings(sample_size=60)
# Levels in the order of the alphabet: DiCE numbers them in that order.
WORKERS = Schema(
    [
        Continuous("age", (18, 90), step=1),
        Continuous("pay", (0, 100), step=0.1),
        Categorical("job", ("clerk", "driver", "nurse")),
    ]
)


def workers(n: int = 300, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    ends = {"age": (18, 90), "pay": (0.0, 100.0), "job": ("clerk", "nurse")}  # the whole range
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 90, n),
            "pay": draw.uniform(0, 100, n).round(1),
            "job": draw.choice(["clerk", "driver", "nurse"], n),
        }
    )
    return pd.concat([pd.DataFrame(ends), frame], ignore_index=True)


@pytest.fixture(scope="module")
def network() -> TrainedNetwork:
    frame = workers()
    nurse = frame["job"] == "nurse"
    label = (frame["pay"] + 30 * nurse + 0.3 * frame["age"] > 80).astype(int)
    codec = Codec.fit(WORKERS, frame)
    return fit_network(codec, frame, label, settings=TrainingSettings(n_epochs=20))


@contextmanager
def quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class AsSklearn:
    """The network as a person would hand it to DiCE."""

    classes_ = np.array([0, 1])

    def __init__(self, network: TrainedNetwork) -> None:
        self.network = network

    def predict_proba(self, frame: pd.DataFrame) -> Any:
        typed = frame[list(WORKERS.columns)].astype({"age": float, "pay": float})
        return self.network.predict_proba(self.network.codec.encode(typed))

    def predict(self, frame: pd.DataFrame) -> Any:
        return self.predict_proba(frame).argmax(1)


def directly(method: str, network: TrainedNetwork, row: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return what DiCE's package finds for a row with the seed that the adapter gives it."""
    frame = workers()
    label = network.predict(network.codec.encode(frame))
    data = dice_ml.Data(
        dataframe=frame.assign(outcome=label),
        continuous_features=["age", "pay"],
        continuous_features_precision={"age": 0, "pay": 1},
        outcome_name="outcome",
    )
    explainer = dice_ml.Dice(
        data, dice_ml.Model(model=AsSklearn(network), backend="sklearn"), method=method
    )
    factual = network.codec.encode(row)
    seed = int(RowStreams.of(0, row_keys(factual)).states[0]) & (2**31 - 1)
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - where DiCE draws from
    found = explainer.generate_counterfactuals(
        row,
        total_CFs=n,
        desired_class=1,
        features_to_vary=["age", "pay", "job"],
        permitted_range={
            "age": [18, 90],
            "pay": [0.0, 100.0],
            "job": ["clerk", "driver", "nurse"],
        },
    )
    return found.cf_examples_list[0].final_cfs_df_sparse[list(WORKERS.columns)]


@pytest.mark.parametrize("method", ["random", "genetic"])
def test_it_finds_what_the_package_itself_finds(method: Any, network: TrainedNetwork) -> None:
    rows = workers(40, seed=1)
    rows = rows[network.predict(network.codec.encode(rows)) == 0][3:6]
    explainer = Dice(network, WORKERS, DiceSettings(method=method)).fit(workers())
    result = explainer.explain(rows, n=2)
    assert len(rows) == 3
    for position in range(len(rows)):
        with quietly():
            row = rows[position : position + 1]
            expected = directly(method, network, row, 2).astype(rows.dtypes)
        ours = result[position : position + 1].counterfactuals()
        assert len(ours)
        by = list(WORKERS.columns)
        pd.testing.assert_frame_equal(
            ours.sort_values(by).reset_index(drop=True),
            expected.drop_duplicates().sort_values(by).reset_index(drop=True),
        )


@pytest.mark.parametrize(("threshold", "target"), [(None, 1), (0.5, 1), (0.7, 1), (0.7, 0)])
def test_a_score_rises_with_the_probability_and_is_one_half_where_it_decides(
    threshold: float | None, target: int
) -> None:
    needed = {None: 0.5, 0.5: 0.5, 0.7: 0.7 if target else 0.3}[threshold]
    wanted = np.array([0.0, needed / 2, needed, (needed + 1) / 2, 1.0])
    expected = [0.0, 0.25, 0.5, 0.75, 1.0]
    scores = score_of(wanted, 1 - wanted, target, threshold)
    assert scores.tolist() == pytest.approx(expected)
    descended = score_of(*map(torch.from_numpy, (wanted, 1 - wanted)), target, threshold)
    assert descended.tolist() == scores.tolist()


def test_three_classes_are_scored_against_the_likeliest_other() -> None:
    assert score_of(np.array([0.4]), np.array([0.35]), 0, None).tolist() == [0.4 / 0.75]


def test_dice_is_told_how_near_a_row_is_to_a_threshold_that_is_not_one_half() -> None:
    """It was told one half but for a millionth, where the gradient method saw 0.4286."""

    def unsure(frame: pd.DataFrame) -> Any:
        chance = np.where(frame["savings"] > 60, 0.6, 0.2)
        return np.stack([1 - chance, chance], axis=-1)

    asked: list[Any] = []

    class Asking(Dice):
        def _find(self, task: Task) -> Any:
            view, _ = self.prepared_
            search = _RowSearch(task, 0, view, view.varied(task, 0))
            rows = view.codec.to_raw(view.codec.encode(TRAINING))
            asked.append(search.score(rows))
            return super()._find(task)

    explainer = Asking(unsure, SCHEMA, QUICK, threshold=0.7).fit(TRAINING)
    explainer.explain(ROWS[:1], n=1, target=1)
    assert set(asked[0].round(4)) == {0.4286, 0.1429}


def test_the_gradient_method_sees_the_network_as_it_is(network: TrainedNetwork) -> None:
    explainer = Dice(network, WORKERS, DiceSettings(method="gradient", max_iterations=80))
    view, setup = explainer.fit(workers()).prepared_
    rows = workers(50, seed=2)
    entries = network.codec.encode(rows)
    module = setup.network.of_row(entries[0], 1, view.names, view.names)
    codes = [f"{int(code):03d}" for code in entries[:, 2]]
    theirs = pd.DataFrame({"x000": rows["age"], "x001": rows["pay"], "x002": codes})
    with quietly():
        inputs = setup.data.get_ohe_min_max_normalized_data(theirs).to_numpy(np.float32)
    scores = module(torch.from_numpy(inputs))[:, 0]
    expected = network.predict_proba(entries)[:, 1]
    assert scores.numpy() == pytest.approx(expected, abs=1e-5)
    held = setup.network.of_row(entries[0], 1, ["x000"], view.names)
    assert held(torch.zeros(len(inputs[0]))).shape == (1,)
    same_but_age = torch.from_numpy(inputs[1]).clone()
    same_but_age[0] = torch.from_numpy(inputs[0])[0]
    assert float(held(same_but_age)) == pytest.approx(float(expected[0]), abs=1e-5)


def test_the_gradient_method_answers(network: TrainedNetwork) -> None:
    rows = workers(40, seed=1)
    rows = rows[network.predict(network.codec.encode(rows)) == 0][3:5]
    settings = DiceSettings(method="gradient", max_iterations=80)
    explainer = Dice(network, WORKERS, settings).fit(workers())
    result = explainer.explain(rows, n=1, vary=["pay", "job"])
    frame = result.counterfactuals()
    assert len(frame) == 2
    assert (frame["age"].to_numpy() == rows["age"].to_numpy()).all()
    limited = explainer.explain(rows, n=1, max_evaluations=20)
    assert limited.provenance.evaluations == 40
    assert len(limited.counterfactuals()) == 0


@pytest.mark.parametrize("most", [1, 40, 90])
def test_evaluations_are_limited_and_what_was_found_is_kept(most: int) -> None:
    result = Dice(bank, SCHEMA, QUICK).fit(TRAINING).explain(ROWS, max_evaluations=most)
    assert 0 < result.provenance.evaluations <= len(ROWS) * most
    assert (len(result.counterfactuals()) > 0) == (most > 1)
    nothing_found = [item for item in result if item.outcome == "not_found"]
    assert all("evaluations were used up" in item.notes[0] for item in nothing_found)


def test_what_the_model_was_asked_is_what_is_counted() -> None:
    model = WatchedBank()
    explainer = Dice(model, SCHEMA, QUICK).fit(TRAINING)
    model.frames.clear()
    result = explainer.explain(ROWS[:1], n=2)
    assert len(result.counterfactuals())
    # Without the row itself, the last check, and the question about the frame that is returned.
    inner = model.sizes[1:-2]
    assert result.provenance.evaluations == sum(inner)


def test_one_way_actions_and_rules_bind_when_asked_for() -> None:
    rule = ["cf.savings <= x.savings + 30"]
    explainer = Dice(bank, SCHEMA, QUICK, respect_schema=True, reject_by=rule).fit(TRAINING)
    frame = explainer.explain(ROWS, n=3).to_frame()
    before = ROWS.iloc[frame["row"]].reset_index(drop=True)
    after = frame.reset_index(drop=True)
    assert len(after) > len(ROWS)
    assert (after["age"] >= before["age"]).all()
    assert (after["debt"] <= before["debt"]).all()
    assert (after["savings"] <= before["savings"] + 30).all()


def test_a_threshold_is_met() -> None:
    result = Dice(bank, SCHEMA, QUICK, threshold=0.8).fit(TRAINING).explain(ROWS, target=1, n=1)
    assert len(result.counterfactuals()) == len(ROWS)
    assert (bank(result.counterfactuals())[:, 1] >= 0.8).all()


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    Dice(bank, SCHEMA, QUICK).fit(TRAINING).explain(ROWS[:1])
    assert capfd.readouterr() == ("", "")


def test_a_level_that_was_never_seen_is_left_alone() -> None:
    seen = TRAINING[TRAINING["school"] != "none"]
    result = Dice(bank, SCHEMA, QUICK).fit(seen).explain(one(school="none"), n=2)
    assert len(result.counterfactuals()) > 0
    assert (result.counterfactuals()["school"] == "none").all()


def test_the_gradient_method_needs_a_gradient(network: TrainedNetwork) -> None:
    gradient = DiceSettings(method="gradient")
    with pytest.raises(ModelInterfaceError, match="needs a network"):
        Dice(bank, SCHEMA, gradient).fit(TRAINING)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("dice_ml")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"proce\[bench\]"):
        Dice(bank, SCHEMA).fit(TRAINING)
