"""Mixed rows go to latents and back."""

import numpy as np
import pandas as pd
import pytest
import torch

from proce.errors import SchemaError
from proce.latent import AutoEncoder, AutoEncoderSettings, fit_autoencoder
from proce.latent.columns import NetworkColumns
from proce.latent.training import AutoEncoderModule
from proce.schema import Codec, Schema
from proce.training_settings import TrainingSettings

from ..worlds import APPLICANT_SCHEMA, applicants

NAMES = ["age", "income", "job", "school"]


def people(n=600) -> pd.DataFrame:
    return applicants(n)[NAMES]


def encoded(frame):
    codec = Codec.fit(Schema([APPLICANT_SCHEMA[name] for name in frame]), frame)
    return codec, codec.encode(frame)


def brief(**settings) -> AutoEncoderSettings:
    return AutoEncoderSettings(training=TrainingSettings(n_epochs=2), **settings)


def test_it_rebuilds_rows_that_it_has_not_seen():
    codec, rows = encoded(people(3000))
    settings = AutoEncoderSettings(training=TrainingSettings(n_epochs=40, learning_rate=5e-3))
    autoencoder, _ = fit_autoencoder(codec, rows[:2500], settings)
    back = autoencoder.reconstruct(rows[2500:])
    assert np.sqrt(np.square(back.units - rows[2500:, :2]).mean()) < 0.05
    assert (back.probabilities["job"].argmax(-1) == rows[2500:, 2]).mean() > 0.95
    assert (back.probabilities["school"].argmax(-1) == rows[2500:, 3]).mean() > 0.95


def test_shapes_follow_the_rows():
    codec, rows = encoded(people())
    autoencoder, _ = fit_autoencoder(codec, rows, brief(latent_size=5))
    candidates = rows[:12].reshape(3, 4, 4)
    assert autoencoder.encode(candidates).shape == (3, 4, 5)
    back = autoencoder.reconstruct(candidates)
    assert back.units.shape == (3, 4, 2)
    assert {name: p.shape for name, p in back.probabilities.items()} == {
        "job": (3, 4, 3),
        "school": (3, 4, 3),
    }
    assert back.probabilities["job"].sum(-1) == pytest.approx(np.ones((3, 4)))


def test_the_inputs_are_numbers_ranks_embeddings_and_flags_for_what_is_missing():
    codec, _ = encoded(people())
    module = AutoEncoderModule(codec, latent_size=2, hidden_size=4)
    autoencoder = AutoEncoder.of_weights(codec, module.learned_arrays())
    rows = np.array([[0.25, np.nan, 1.0, 1.0], [0.5, 0.75, -1.0, -1.0]])
    with torch.no_grad():
        inputs = module.inputs(module.read(rows)).numpy()
    assert inputs[0, :3].tolist() == [0.25, 0.0, 0.5]  # the middle school
    assert inputs[0, 3:5].tolist() == autoencoder.embed("job", np.array(1)).tolist()
    assert inputs[0, 5:].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert inputs[1].tolist() == [0.5, 0.75, 0, 0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("latent_size", [32, 256, 512])
def test_the_sizes_of_the_paper_work(latent_size):
    codec, rows = encoded(people(60))
    autoencoder, _ = fit_autoencoder(codec, rows, brief(latent_size=latent_size))
    assert autoencoder.encode(rows).shape == (60, latent_size)


def test_the_default_size_grows_with_the_features_to_a_limit():
    assert AutoEncoderSettings().sizes(4) == (16, 32)
    assert AutoEncoderSettings().sizes(100) == (64, 128)
    assert AutoEncoderSettings.paper().sizes(8) == (256, 256)


def test_fewer_rows_are_learned_in_smaller_batches_and_more_epochs():
    plans = {n: AutoEncoderSettings().schedule(n) for n in (100, 8_192, 26_048, 1_000_000)}
    sizes = {n: (plan.n_epochs, plan.batch_size) for n, plan in plans.items()}
    assert sizes == {100: (60, 64), 8_192: (31, 128), 26_048: (20, 256), 1_000_000: (1, 256)}
    given = TrainingSettings(n_epochs=7)
    assert AutoEncoderSettings(training=given).schedule(100) is given


def test_cells_are_read_as_plain_numbers_codes_and_flags_and_outliers_are_cut():
    frame = people()
    frame.loc[:5, "income"] = 5_000.0
    codec = Codec.fit(Schema([APPLICANT_SCHEMA[name] for name in frame]), frame, "bulk")
    rows = np.array([[0.25, 9.0, 2.0, 1.0], [np.nan, -9.0, -1, -1]])
    cells = NetworkColumns(codec).read(rows)
    assert cells[0].tolist() == [0.25, 1.5, 0.5, 2.0, 0, 0, 0, 0]  # job last
    centre, spread = np.array([0, 0.5, 0, 0]), np.array([1, 0.5, 1, 1])
    assert NetworkColumns(codec, centre, spread).read(rows)[:, 1].tolist() == [2.0, -2.0]
    assert cells[1].tolist() == [0, -0.5, 0, 0, 1, 0, 1, 1]


def test_the_same_seed_gives_the_same_latents():
    codec, rows = encoded(people(100))
    latents = [fit_autoencoder(codec, rows, brief(), seed=s)[0].encode(rows) for s in (3, 3, 4)]
    assert np.array_equal(latents[0], latents[1])
    assert not np.array_equal(latents[0], latents[2])


def test_missing_cells_are_neither_fed_nor_asked_for():
    frame = people(200).astype({"age": float})
    frame.loc[::3, "age"] = np.nan
    frame.loc[::4, "job"] = None
    codec, rows = encoded(frame)
    autoencoder, record = fit_autoencoder(codec, rows, brief())
    assert np.isfinite(record.held_out_loss)
    assert np.isfinite(autoencoder.encode(rows)).all()


def test_frames_of_one_type_work():
    for columns in (["age", "income"], ["job"], ["school"]):
        codec, rows = encoded(people(80)[columns])
        autoencoder, _ = fit_autoencoder(codec, rows, brief())
        assert np.isfinite(autoencoder.encode(rows)).all()


def test_only_categorical_features_are_embedded():
    codec, rows = encoded(people(80))
    autoencoder, _ = fit_autoencoder(codec, rows, brief())
    assert autoencoder.embed("job", np.array([[0, 1], [2, 2]])).shape == (2, 2, 2)
    with pytest.raises(SchemaError, match="'school' is ordinal; only categorical"):
        autoencoder.embed("school", np.array([0]))


def test_the_weights_make_the_same_auto_encoder():
    codec, rows = encoded(people(80))
    autoencoder, _ = fit_autoencoder(codec, rows, brief())
    before = torch.random.get_rng_state()
    again = AutoEncoder.of_weights(codec, autoencoder.weights)
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(autoencoder.encode(rows), again.encode(rows))
    first, second = autoencoder.reconstruct(rows), again.reconstruct(rows)
    assert np.array_equal(first.units, second.units)
    assert again.latent_size == autoencoder.latent_size == 16


def test_weights_of_other_features_are_refused():
    codec, rows = encoded(people(80))
    weights = fit_autoencoder(codec, rows, brief())[0].weights
    fewer, _ = encoded(people(80).drop(columns="job"))
    with pytest.raises(SchemaError, match="of other features"):
        AutoEncoder.of_weights(fewer, weights)
    with pytest.raises(SchemaError, match="not the weights of an auto-encoder"):
        AutoEncoder.of_weights(codec, {})


def test_progress_is_told_and_can_stop():
    codec, rows = encoded(people(80))
    _, record = fit_autoencoder(codec, rows, progress=lambda epoch: epoch.number < 2)
    assert record.n_epochs == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AutoEncoderSettings(latent_size=0), "latent_size is 0"),
        (lambda: fit_autoencoder(*_one_row()), "at least 2 rows to learn from, and got 1"),
    ],
)
def test_what_cannot_be_learned_is_refused(make, message):
    with pytest.raises(SchemaError, match=message):
        make()


def _one_row():
    codec, rows = encoded(people(80))
    return codec, rows[:1]


def with_gaps(rows):
    rows = rows.copy()
    rows[::7, 0] = np.nan
    rows[1::5, 2] = -1
    rows[2::5, 3] = -1
    rows[3::9, 1] = 40.0  # far outside of what was seen
    return rows


def test_kernels_encode_and_rebuild_as_the_layers_do():
    frame = people()
    frame.loc[:5, "income"] = 5_000.0
    codec = Codec.fit(Schema([APPLICANT_SCHEMA[name] for name in frame]), frame, "bulk")
    rows = with_gaps(codec.encode(frame))
    autoencoder, _ = fit_autoencoder(codec, rows, brief(latent_size=5))
    module = AutoEncoderModule(codec, 5, 10)
    learned = {name: torch.tensor(own) for name, own in autoencoder.weights.items()}
    module.load_state_dict(learned)
    with torch.no_grad():
        latents = module.encoder(module.inputs(module.read(rows)))
        units, logits = module.outputs(latents)
    assert autoencoder.encode(rows) == pytest.approx(latents.numpy(), rel=1e-5, abs=1e-5)
    back = autoencoder.reconstruct(rows)
    assert back.units == pytest.approx(units.numpy(), rel=1e-5, abs=1e-5)
    for name, own in logits.items():
        expected = own.softmax(-1).numpy()
        assert back.probabilities[name] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_latents_of_a_row_do_not_depend_on_its_batch():
    codec, rows = encoded(people())
    autoencoder, _ = fit_autoencoder(codec, rows, brief())
    latents = autoencoder.encode(with_gaps(rows))
    for start, count in ((0, 1), (3, 7), (100, 65)):
        some = slice(start, start + count)
        assert np.array_equal(autoencoder.encode(with_gaps(rows)[some]), latents[some])
