"""How little candidates look like their target class, by auto-encoders of the classes."""

from dataclasses import dataclass

import numpy as np
import pytest

from proce.arrays import Array
from proce.latent import Judges, Reconstruction
from proce.latent.columns import NetworkColumns
from proce.objective import Likeness
from proce.schema import Categorical, Codec, Continuous, Schema

from ..worlds import SCHEMA, people
from .conftest import random_autoencoder

JOB_AND_AGE = Schema([Categorical("job", ("a", "b")), Continuous("age")])
CODEC = Codec(
    JOB_AND_AGE,
    np.zeros(2),
    np.array([1.0, 10.0]),  # ages from 0 to 10 are the bulk
    np.zeros(2, dtype=np.bool_),
    None,  # type: ignore[arg-type]
    np.zeros(2),
    np.array([0.0, 20.0]),  # and some are up to 20
)


@dataclass
class Says:
    """An auto-encoder that rebuilds every row as the same."""

    age: float
    job: tuple[float, float]
    codec: Codec = CODEC.by_range

    @property
    def columns(self) -> NetworkColumns:
        return NetworkColumns(self.codec)

    def reconstruct(self, rows: Array) -> Reconstruction:
        ages, jobs = (np.tile(each, (len(rows), 1)) for each in ((self.age,), self.job))
        return Reconstruction(ages.astype(np.float32), {"job": jobs})


def test_by_hand() -> None:
    """Job b at the age of 10, which is 1 of the bulk and half of the range."""
    rows = np.array([[[1.0, 1.0]]])
    target, own = Says(0.4, (0.0, 1.0)), Says(0.5, (0.5, 0.5))  # 0.01 and 0.25 + 0.25 away
    of_all = Says(0.5, (0.0, 1.0))
    likeness = Likeness(CODEC, {3: [own], 5: [target]}, [of_all])  # type: ignore[list-item]
    im1, im2 = 0.01 / (0.5 + 1e-6), 0.01 / (1.25 + 1e-6)
    found = likeness.loss(rows, np.array([5]), np.array([3]))
    assert found.item() == pytest.approx(im1 * im2**0.5, rel=1e-5)


def random_judges(codec: Codec, seed: int) -> Judges:
    first, second, third, of_all = (random_autoencoder(codec, 4 * seed + k) for k in range(4))
    return Judges((first, second, third), of_all)


def two_judges(codec: Codec) -> tuple[list[Judges], Likeness]:
    judges = [random_judges(codec.by_range, seed) for seed in (0, 1)]
    by_class = {label: [each.by_class[label] for each in judges] for label in range(3)}
    return judges, Likeness(codec, by_class, [each.of_all for each in judges])


def test_it_is_that_of_im1_and_im2_one_row_at_a_time() -> None:
    codec = Codec.fit(SCHEMA, people(), "bulk")
    judges, likeness = two_judges(codec)
    rows = codec.encode(people(35, seed=1)).reshape(5, 7, -1)
    target, own = np.array([1, 2, 0, 1, 1]), np.array([0, 0, 1, 2, 0])
    found = likeness.loss(rows, target, own)
    assert found.shape == (5, 7)
    for i in range(5):
        for c in range(7):
            row = codec.on_range(rows[i, c])[None]
            product = 1.0
            for each in judges:
                im1 = each.im1(row, int(target[i]), int(own[i])).item()
                product *= im1 * each.im2(row, int(target[i])).item() ** 0.5
            assert found[i, c].item() == pytest.approx(product**0.5, rel=1e-4)


def test_what_a_row_is_worth_does_not_depend_on_its_batch() -> None:
    codec = Codec.fit(SCHEMA, people(), "bulk")
    _, likeness = two_judges(codec)
    rows = codec.encode(people(130, seed=2)).reshape(10, 13, -1)
    target, own = np.ones(10, dtype=np.int64), np.zeros(10, dtype=np.int64)
    target[7], own[4] = 2, 2
    together = likeness.loss(rows, target, own)
    for i in range(10):
        for n in (1, 5, 13):
            alone = likeness.loss(rows[i : i + 1, :n], target[i : i + 1], own[i : i + 1])
            assert np.array_equal(alone[0], together[i, :n])
