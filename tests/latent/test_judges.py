"""Do counterfactuals look like the target class (Eqs. 23 and 24)?"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from proce.latent import AutoEncoder, AutoEncoderSettings, Reconstruction
from proce.latent.columns import NetworkColumns
from proce.latent.judges import JUDGE_TRAINING, judge_settings
from proce.latent.training import AutoEncoderModule
from proce.metrics import Judges
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema
from proce.training import random_stream
from proce.training_settings import TrainingSettings

SCHEMA = Schema(
    [
        Categorical("job", ("a", "b", "c")),
        Continuous("age"),
        Ordinal("school", ("low", "high")),
        Continuous("income"),
    ]
)


def people(n=400, seed=0) -> pd.DataFrame:
    """Two groups: income falls with age in the first, and rises with it in the second."""
    draw = np.random.default_rng(seed)
    second = draw.random(n) < 0.5
    age = draw.uniform(0, 1, n)
    return pd.DataFrame(
        {
            "job": np.where(second, "a", draw.choice(["b", "c"], n)),
            "age": age,
            "school": np.where(age > 0.5, "high", "low"),
            "income": np.where(second, age, 1 - age),
        }
    )


CODEC = Codec.fit(SCHEMA, people())


@dataclass
class Says:
    """An auto-encoder that rebuilds every row as the same."""

    units: tuple[float, float]
    job: tuple[float, float, float]
    school: tuple[float, float]
    codec: Codec = CODEC

    @property
    def columns(self):
        return NetworkColumns(self.codec)

    def reconstruct(self, rows):
        def each(values):
            return np.tile(np.array(values, np.float64), (len(rows), 1))

        return Reconstruction(
            each(self.units), {"job": each(self.job), "school": each(self.school)}
        )


ROW = np.array([[2, 0.5, 1, 0.25]])  # c, 0.5, high, 0.25
EXACT = Says((0.5, 0.25), (0, 0, 1), (0, 1))
CLOSE = Says((0.4, 0.25), (0, 0.2, 0.8), (0, 1))  # 0.01 + 0.04 + 0.04 away
FAR = Says((0.5, 0.75), (1, 0, 0), (0.5, 0.5))  # 0.25 + 1 + 1 + 0.25 + 0.25 away


def test_im1_is_the_error_of_the_targets_judge_over_that_of_the_own_class():
    judges = Judges((FAR, CLOSE), EXACT)
    assert judges.im1(ROW, target=1, own=0).item() == pytest.approx(0.09 / 2.75, rel=1e-5)
    assert judges.im1(ROW, target=0, own=1).item() == pytest.approx(2.75 / 0.09, rel=1e-4)


def test_im1_of_a_row_that_its_own_class_rebuilds_exactly_is_large_and_finite():
    assert Judges((EXACT, CLOSE), EXACT).im1(ROW, 1, 0).item() == pytest.approx(0.09 / 1e-6)


def test_im2_is_the_difference_of_two_rebuilt_rows_over_the_size_of_the_row():
    size = 1 + 0.25 + 1 + 0.0625  # two levels, and the numbers squared
    judges = Judges((FAR, CLOSE), EXACT)
    assert judges.im2(ROW, target=1).item() == pytest.approx(0.09 / size, rel=1e-5)
    assert judges.im2(ROW, target=0).item() == pytest.approx(2.75 / size, rel=1e-5)
    assert Judges((EXACT, EXACT), EXACT).im2(ROW, 1).item() == 0


def test_the_authors_variant_takes_norms_that_are_not_squared():
    judges = Judges((FAR, CLOSE), EXACT)
    im1 = judges.im1(ROW, target=1, own=0, norm="unsquared")
    assert im1.item() == pytest.approx(math.sqrt(0.09) / math.sqrt(2.75), rel=1e-5)
    im2 = judges.im2(ROW, target=1, norm="unsquared")
    assert im2.item() == pytest.approx(math.sqrt(0.09) / math.sqrt(2.3125), rel=1e-5)


def test_every_row_may_have_classes_of_its_own():
    judges, rows = Judges((FAR, CLOSE, EXACT), EXACT), np.tile(ROW, (3, 1))
    target, own = np.array([1, 0, 2]), np.array([0, 1, 0])
    im1, im2 = judges.im1(rows, target, own), judges.im2(rows, target)
    assert im1.tolist() == pytest.approx([0.09 / 2.75, 2.75 / 0.09, 0], rel=1e-4)
    assert im2.tolist() == pytest.approx([0.09 / 2.3125, 2.75 / 2.3125, 0], rel=1e-4)


def test_a_missing_cell_has_no_size():
    missing = np.array([[-1, math.nan, 1, 0.25]])
    judges = Judges((FAR, CLOSE), EXACT)
    assert judges.im2(missing, target=1).item() == pytest.approx(0.09 / (1 + 0.0625), rel=1e-5)


def spread(row) -> list[float]:
    """A row as its numbers, then one number per level."""
    job, age, school, income = row
    hot = [float(job == k) for k in range(3)] + [float(school == k) for k in range(2)]
    return [age, income, *hot]


def rebuilt(autoencoder, row) -> list[float]:
    back = autoencoder.reconstruct(np.array([row]))
    parts = [back.units, back.probabilities["job"], back.probabilities["school"]]
    return np.concatenate(parts, axis=-1)[0].tolist()


def squared(one, other) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def untrained(seed) -> AutoEncoder:
    with random_stream(seed):
        return AutoEncoder.of_weights(CODEC, AutoEncoderModule(CODEC, 3, 8).learned_arrays())


def test_both_agree_with_a_loop():
    rows = CODEC.encode(people(25, seed=1))
    own, target, of_all = (untrained(seed) for seed in range(3))
    judges = Judges((own, target), of_all)
    im1, im2 = judges.im1(rows, 1, 0), judges.im2(rows, 1)
    assert len(rows) == 25
    for position, row in enumerate(rows.tolist()):
        wanted, before = rebuilt(target, row), rebuilt(own, row)
        error, usual = squared(wanted, spread(row)), squared(before, spread(row))
        assert im1[position].item() == pytest.approx(error / (usual + 1e-6), rel=1e-4)
        size = sum(value**2 for value in spread(row))
        apart = squared(wanted, rebuilt(of_all, row))
        assert im2[position].item() == pytest.approx(apart / (size + 1e-6), rel=1e-4, abs=1e-9)


@pytest.fixture(scope="module")
def trained():
    rows = CODEC.encode(people())
    predicted = (rows[:, 0] == 0).astype(np.int64)  # who has job a
    training = TrainingSettings(n_epochs=15, batch_size=32, learning_rate=1e-2)
    settings = AutoEncoderSettings(latent_size=4, hidden_size=16, training=training)
    return Judges.fit(CODEC, rows, predicted, 2, settings=settings), settings, rows, predicted


def test_judges_are_trained_on_the_rows_predicted_as_their_class(trained):
    judges, *_ = trained
    fresh = CODEC.encode(people(200, seed=5))
    of_second = fresh[:, 0] == 0
    assert np.median(judges.im1(fresh[of_second], target=1, own=0)) < 0.5
    assert np.median(judges.im1(fresh[~of_second], target=1, own=0)) > 2


def test_the_same_seed_gives_the_same_judges(trained):
    judges, settings, rows, predicted = trained
    again = Judges.fit(CODEC, rows, predicted, 2, settings=settings)
    assert np.array_equal(judges.im2(rows[:9], 1), again.im2(rows[:9], 1))


def test_judges_keep_their_training_whatever_a_latent_space_has():
    assert judge_settings(AutoEncoderSettings(latent_size=3)).training == JUDGE_TRAINING
    own = TrainingSettings(n_epochs=2)
    assert judge_settings(AutoEncoderSettings(training=own)).training is own
