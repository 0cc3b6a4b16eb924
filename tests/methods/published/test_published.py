"""What the published methods share: limits, budgets and what is common."""

import logging
from typing import Any

import numpy as np
import pandas as pd
import pytest

from proce.errors import NotFittedError, SearchError, UnsupportedOption
from proce.latent import VariationalSettings
from proce.losses import Loss
from proce.methods import Cchvae, CchvaeSettings, Face, FaceSettings, Nearest, NearestSettings
from proce.methods.published.published import Published, losses_by_gower
from proce.methods.published.task import Candidates, CommonFit, Task, binding
from proce.objective import prediction_loss
from proce.schema import Action, Categorical, Codec, Continuous, MixedDistance, Ordinal, Schema
from proce.training_settings import TrainingSettings

from ... import worlds

BRIEF = VariationalSettings(training=TrainingSettings(n_epochs=40, batch_size=16))
NAMES = ["age", "savings", "home"]  # one goes up only, one merely follows, one is fixed
SCHEMA = Schema([worlds.SCHEMA[name] for name in NAMES]).edit("savings", action=Action.INDIRECT)
TRAINING = worlds.people(120)[NAMES]


def young_or_rich(frame: pd.DataFrame) -> Any:
    return worlds.two_classes((frame["age"] < 30) | (frame["savings"] > 80))


ROWS = pd.DataFrame({"age": [50, 40], "savings": [20, 70], "home": ["owns", "rents"]})


def test_only_what_is_fixed_binds_unless_asked() -> None:
    assert [f.action for f in binding(SCHEMA, respect_schema=True)] == [
        Action.INCREASE,
        Action.INDIRECT,
        Action.FIXED,
    ]
    loose = [Action.FREE, Action.FREE, Action.FIXED]
    assert [f.action for f in binding(SCHEMA, respect_schema=False)] == loose


@pytest.mark.parametrize("kind", [Nearest, Face])
def test_one_way_and_indirect_features_bind_with_respect_schema(kind: type) -> None:
    free = kind(young_or_rich, SCHEMA).fit(TRAINING)
    moved = free.explain(ROWS, n=1).counterfactuals()
    assert len(moved) == len(ROWS)
    assert (young_or_rich(moved)[:, 1] == 1).all()
    bound = kind(young_or_rich, SCHEMA, respect_schema=True).fit(TRAINING)
    assert (bound.explain(ROWS, n=1).outcomes()["outcome"] == "not_found").all()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Nearest, NearestSettings()),
        (Face, FaceSettings(n_neighbours=15)),
        (Cchvae, CchvaeSettings(network=BRIEF)),
    ],
)
def test_other_limits_give_what_a_fresh_fit_gives(kind: type, settings: object) -> None:
    rules = ["cf.savings <= 90"]
    fresh = kind(young_or_rich, SCHEMA, settings, reject_by=rules)
    first = fresh.fit(TRAINING).explain(ROWS, n=2).to_frame()
    shared = kind(young_or_rich, SCHEMA, settings, respect_schema=True).fit(TRAINING)
    second = shared.restricted(respect_schema=False, reject_by=rules).explain(ROWS, n=2)
    pd.testing.assert_frame_equal(first, second.to_frame())
    assert len(first)
    assert (first["savings"] <= 90).all()


def test_other_limits_need_a_fit() -> None:
    with pytest.raises(NotFittedError):
        Nearest(young_or_rich, SCHEMA).restricted(respect_schema=True, reject_by=())


def test_settings_of_another_method_are_refused() -> None:
    with pytest.raises(SearchError, match="expected NearestSettings"):
        Nearest(young_or_rich, SCHEMA, FaceSettings()).fit(TRAINING)  # type: ignore[arg-type]


class Scattered(Published[NearestSettings]):
    """Tries the same three rows for everybody."""

    Settings = NearestSettings

    def _prepare(self, common: CommonFit, progress: object) -> None:
        """Return nothing."""

    def _find(self, task: Task) -> Candidates:
        tried = np.tile(task.factual[:, None], (1, 3, 1))
        tried[:, :, 1] = np.array([0.5, 0.95, 0.99])
        everybody = np.arange(len(task))
        tried = task.repair(tried, everybody)
        flags, self.chances = task.reached(tried, everybody)
        self.evaluations_left = task.evaluations_left.tolist()
        return Candidates(tried, flags, np.zeros(len(task), np.bool_))


def test_evaluations_are_counted_for_each_row() -> None:
    method = Scattered(young_or_rich, SCHEMA).fit(TRAINING)
    result = method.explain(ROWS, n=3, max_evaluations=2)
    assert method.evaluations_left == [0, 0]
    assert np.isnan(method.chances).tolist() == [[False, False, True]] * 2
    assert [len(item) for item in result] == [1, 1]
    assert result.provenance.evaluations == 4
    assert len(method.explain(ROWS, n=3)[0]) == 2


def test_gower_and_deviation_by_hand() -> None:
    """Ages 0, 5, 10, 90: median 5 (the lower middle), deviations 5, 0, 5, 85 with median 5."""
    frame = pd.DataFrame(
        {
            "age": [0.0, 5.0, 10.0, 90.0],
            "school": ["low", "mid", "high", "low"],
            "sex": ["f", "m", "f", "m"],
        }
    )
    schema = Schema(
        [
            Continuous("age"),
            Ordinal("school", ("low", "mid", "high")),
            Categorical("sex", ("f", "m")),
        ]
    )
    codec = Codec.fit(schema, frame)
    rows = codec.encode(frame)
    gower = MixedDistance.gower(codec)(rows[0], rows[2])
    assert gower.tolist() == pytest.approx([10 / 90, 1.0, 0.0])
    deviation = MixedDistance.by_deviation(codec, rows)(rows[0], rows[2])
    assert deviation.tolist() == pytest.approx([2.0, 1.0, 0.0])


def test_a_target_without_any_chance_costs_what_it_costs_a_search() -> None:
    codec = Codec.fit(Schema([Continuous("x")]), pd.DataFrame({"x": [0.0, 1.0]}))
    chances = np.array([0.0, 0.5])
    losses = losses_by_gower(codec, np.array([[1.0], [0.5]]), np.zeros((2, 1)), chances)
    nobody = prediction_loss(np.stack([1 - chances, chances], -1)[:, None], np.array([1, 1]))[:, 0]
    assert losses[:, Loss.PREDICTION].tolist() == nobody.tolist()
    assert nobody[0] == pytest.approx(27.631, abs=1e-3)
    assert np.isnan(losses[:, Loss.PROTOTYPE]).all()
    assert losses[:, Loss.DISTANCE].tolist() == [1.0, 0.5]


def test_a_missing_cell_is_one_away_from_any_other() -> None:
    codec = Codec.fit(Schema([Continuous("x")]), pd.DataFrame({"x": [0.0, 1.0]}))
    distance = MixedDistance(codec, np.array([False]), np.array([2.0]))
    missing, known = np.array([np.nan]), np.array([4.0])
    assert distance(missing, known).item() == 1.0
    assert distance(missing, missing).item() == 0.0
    assert distance(known, known + 1).item() == 0.5


def test_a_feature_that_hardly_varies_is_scaled_by_its_mean_deviation() -> None:
    frame = pd.DataFrame({"x": [0.0, 0.0, 0.0, 10.0], "c": [1.0, 1.0, 1.0, 1.0]})
    codec = Codec.fit(Schema([Continuous("x"), Continuous("c", action=Action.FIXED)]), frame)
    scale = MixedDistance.by_deviation(codec, codec.encode(frame)).scale
    assert scale.tolist() == pytest.approx([0.25, 1.0])


def test_an_unknown_option_is_a_plain_type_error() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'") as caught:
        Nearest(young_or_rich, SCHEMA).fit(TRAINING).explain(ROWS, foo=1)
    assert not isinstance(caught.value, UnsupportedOption)


def test_of_a_model_that_answers_with_labels_its_user_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        Nearest(young_or_rich, SCHEMA).fit(TRAINING)
    assert ["0 and 1 alone" in record.getMessage() for record in caplog.records] == [True]


def test_a_parameter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SearchError, match="Nearest has no parameter 'margin'"):
        Nearest(young_or_rich, SCHEMA).set_params(margin=0.1)


def test_a_row_that_differs_from_a_collected_one_by_rounding_is_not_collected() -> None:
    candidates = Candidates(np.zeros((1, 2, 2)), np.zeros((1, 2), np.bool_), np.zeros(1, np.bool_))
    for number in (0.5, 0.5 + 1e-12, 0.5 + 1e-8):
        candidates.add(np.array([0]), np.array([[number, np.nan]]))
    assert candidates.found.tolist() == [[True, True]]
    assert candidates.rows[0, :, 0].tolist() == [0.5, 0.5 + 1e-8]


OF_PROCE = (
    "pick",
    "max_changes",
    "effort",
    "min_probability",
    "rules",
    "keep_front",
    "causal",
    "robust",
    "models",
)


@pytest.mark.parametrize("option", OF_PROCE)
def test_an_option_of_proce_is_named_with_the_method_and_what_to_do(option: str) -> None:
    match = rf"^Nearest cannot honour {option}, .* (Leave it out|Give the rules to the method)"
    with pytest.raises(UnsupportedOption, match=match):
        Nearest(young_or_rich, SCHEMA).explain(ROWS, **{option: 1})


def test_what_to_do_names_the_method() -> None:
    with pytest.raises(UnsupportedOption, match=r"Face\(\.\.\., reject_by=\[\.\.\.\]\)"):
        Face(young_or_rich, SCHEMA).explain(ROWS, rules=["cf.age >= x.age"])
