"""Counterfactuals come from the latent neighbourhood, and what is fixed stays fixed."""

import numpy as np
import pandas as pd
import pytest

from proce import Progress
from proce.compiled.streams import RowStreams, row_keys
from proce.latent import VariationalSettings
from proce.methods import Cchvae, CchvaeSettings
from proce.schema import Action
from proce.training_settings import TrainingSettings

from ...worlds import SCHEMA, bank, never, people, refused

TRAINING = people(400)
BRIEF = TrainingSettings(n_epochs=80, batch_size=32, learning_rate=5e-3, patience=20, halve_after=8)
SETTINGS = CchvaeSettings(network=VariationalSettings(hidden_size=32, training=BRIEF))


@pytest.fixture(scope="module")
def fitted() -> Cchvae:
    return Cchvae(bank, SCHEMA, SETTINGS).fit(TRAINING)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    rows = refused(people(60, seed=5), 12)
    assert len(rows) == 12
    return rows


def test_immutable_features_never_move_not_even_on_the_way(
    fitted: Cchvae, rows: pd.DataFrame
) -> None:
    codec = fitted.common_.codec
    factual = np.ascontiguousarray(codec.encode(rows))
    home = codec.schema.position("home")
    assert fitted.prepared_.is_given.tolist() == [name == "home" for name in codec.schema.names]
    latents = np.random.default_rng(0).normal(0, 3, (12, 50, fitted.prepared_.latent_size))
    decoded = fitted._decode(latents, factual)
    assert (decoded[..., home] == factual[:, None, home]).all()
    frame = fitted.explain(rows, n=4).to_frame()
    assert (frame["home"].to_numpy() == rows["home"].iloc[frame["row"]].to_numpy()).all()
    assert len(frame) > 30


def test_without_fixed_features_the_network_has_no_condition(rows: pd.DataFrame) -> None:
    free = SCHEMA.edit("home", action=Action.FREE)
    fitted = Cchvae(bank, free, SETTINGS).fit(TRAINING)
    assert not fitted.prepared_.is_given.any()
    assert (fitted.explain(rows, n=1).outcomes()["outcome"] == "found").all()


def test_features_that_only_follow_are_given_where_the_schema_is_respected() -> None:
    schema = SCHEMA.edit("school", action=Action.INDIRECT)
    brief = CchvaeSettings(network=VariationalSettings(training=TrainingSettings(n_epochs=1)))
    for respect, given in ((False, 1), (True, 2)):
        fitted = Cchvae(bank, schema, brief, respect_schema=respect).fit(TRAINING)
        assert fitted.prepared_.is_given.sum() == given


def test_draws_fill_a_shell_evenly(fitted: Cchvae) -> None:
    """In d dimensions, half of a shell's volume lies beyond the d-th root of the mean power."""
    centre = np.ones((3, 4))
    streams = RowStreams.of(0, np.arange(3))
    drawn = fitted._draw_latents(streams, 4, centre) - 1  # from 0.4 to 0.5
    radius = np.linalg.norm(drawn, axis=-1)
    assert ((radius > 0.4) & (radius < 0.5)).all()
    middle = ((0.4**4 + 0.5**4) / 2) ** (1 / 4)
    assert (radius > middle).mean() == pytest.approx(0.5, abs=0.05)
    assert np.abs(drawn.mean((0, 1))).max() < 0.03


def test_it_is_the_nearest_that_reaches_the_class_in_the_first_shell_with_one(
    fitted: Cchvae, rows: pd.DataFrame
) -> None:
    """Shell by shell, written out for one row."""
    codec, person = fitted.common_.codec, rows.head(1)
    found = fitted.explain(person, n=1)
    number = found.provenance.evaluations // SETTINGS.n_candidates - 1
    factual = np.ascontiguousarray(codec.encode(person))
    centre = fitted.prepared_.posterior(factual)[0]
    streams = RowStreams.of(0, row_keys(factual))
    expected = None
    for shell in range(number + 1):
        assert expected is None
        decoded = fitted._decode(fitted._draw_latents(streams, shell, centre), factual)[0]
        on_grid = codec.encode(codec.decode(decoded).round({"age": 0, "savings": 0, "debt": 0}))
        frame = codec.decode(on_grid)
        good = frame[bank(frame)[:, 1] > 0.5].drop_duplicates()
        if len(good):
            away = np.abs(codec.encode(good) - factual) / codec.reach
            expected = good.iloc[int(away.mean(-1).argmin())]
    assert expected is not None
    assert found.counterfactuals().iloc[0].to_dict() == expected.to_dict()


def test_further_ones_come_from_further_shells(fitted: Cchvae, rows: pd.DataFrame) -> None:
    one, four = (fitted.explain(rows, n=n) for n in (1, 4))
    assert four.provenance.evaluations > one.provenance.evaluations
    frame = four.to_frame()
    assert frame.groupby("row").size().tolist() == [4] * len(rows)
    first = frame[frame["rank"] == 1].drop(columns=["row", "rank"])
    pd.testing.assert_frame_equal(first, one.counterfactuals())


def test_fitting_reports_its_progress_and_is_repeatable(rows: pd.DataFrame) -> None:
    reports: list[Progress] = []
    brief = CchvaeSettings(network=VariationalSettings(training=TrainingSettings(n_epochs=2)))
    first = Cchvae(bank, SCHEMA, brief).fit(TRAINING, progress=reports.append)
    stages = [(report.stage, report.done, report.total) for report in reports]
    assert stages == [("fit", 1, 2), ("fit", 2, 2)]
    second, other = (Cchvae(bank, SCHEMA, brief, seed=seed).fit(TRAINING) for seed in (0, 1))
    frames = [method.explain(rows, n=1).to_frame() for method in (first, second, other)]
    assert len(frames[0])
    pd.testing.assert_frame_equal(frames[0], frames[1])
    assert not frames[0].equals(frames[2])


def test_where_no_shell_has_one_that_is_said() -> None:
    brief = VariationalSettings(training=TrainingSettings(n_epochs=1))
    settings = CchvaeSettings(n_candidates=5, max_rounds=3, network=brief)
    item = Cchvae(never, SCHEMA, settings).fit(TRAINING).explain(TRAINING.head(1))[0]
    assert item.outcome == "not_found"
    assert "from within 0.3 of this row's latent" in item.notes[0]
