"""A variational auto-encoder learns what rows are likely, given what never moves."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from proce.datasets import load_dataset
from proce.errors import SchemaError
from proce.latent import VariationalSettings, fit_variational
from proce.latent.columns import NetworkColumns
from proce.latent.training import (
    EvidenceLoss,
    VariationalModule,
    negative_log_likelihood,
)
from proce.schema import Categorical, Codec, Continuous, Ordinal, Schema
from proce.training_settings import TrainingSettings

SCHEMA = Schema(
    [
        Continuous("height", (0, 300)),
        Continuous("weight", (0, 300)),
        Ordinal("size", ("S", "M", "L")),
        Categorical("sport", ("chess", "rowing", "running")),
        Categorical("sex", ("f", "m")),
    ]
)
SEX = 4


def people(n=1500, seed=0) -> pd.DataFrame:
    """Return people whose sizes go together, and whose height depends on their sex."""
    draw = np.random.default_rng(seed)
    male, build = draw.random(n) < 0.5, draw.normal(size=n)
    height = 165 + 15 * male + 3 * draw.normal(size=n)
    return pd.DataFrame(
        {
            "height": height,
            "weight": 0.5 * height + 15 * build - 20,
            "size": np.array(["S", "M", "L"])[np.digitize(build, [-0.5, 0.5])],
            "sport": np.where(build > 0.5, "rowing", draw.choice(["chess", "running"], n)),
            "sex": np.where(male, "m", "f"),
        }
    )


def encoded(frame):
    codec = Codec.fit(SCHEMA, frame)
    return codec, np.ascontiguousarray(codec.encode(frame))


def brief(**settings) -> VariationalSettings:
    training = TrainingSettings(n_epochs=2, batch_size=64)
    return VariationalSettings(hidden_size=32, training=training, **settings)


@pytest.fixture(scope="module")
def learned():
    codec, rows = encoded(people())
    training = TrainingSettings(60, 32, 5e-3, patience=20, halve_after=8)
    settings = VariationalSettings(hidden_size=32, training=training)
    network, _ = fit_variational(codec, rows[:1200], [SEX], settings)
    return network, rows[1200:], rows[:1200]


def test_it_rebuilds_rows_that_it_has_not_seen_better_than_the_marginals_do(learned):
    network, unseen, seen = learned
    back = network.decode(network.posterior(unseen)[0], unseen)
    for number in (0, 1):
        off = np.sqrt(np.square(back[:, number] - unseen[:, number]).mean())
        usual = np.sqrt(np.square(seen[:, number].mean() - unseen[:, number]).mean())
        assert off < 0.5 * usual
    for level in (2, 3):
        right = (back[:, level] == unseen[:, level]).mean()
        most_frequent = np.bincount(seen[:, level].astype(int)).argmax()
        usual = (most_frequent == unseen[:, level]).mean()
        assert right > usual + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [400, 2000])
def test_the_usual_settings_learn_from_few_rows_and_from_many(n_rows):
    data = load_dataset("loan", n=n_rows + 400)
    codec = Codec.fit(data.schema, data.frame)
    rows = np.ascontiguousarray(codec.encode(data.frame))
    seen, unseen = rows[:n_rows], rows[n_rows:]
    network, _ = fit_variational(codec, seen, [])
    back = network.decode(network.posterior(unseen)[0], unseen)
    off = {}
    for position, feature in enumerate(data.schema):
        if isinstance(feature, Continuous):
            error = np.sqrt(np.square(back[:, position] - unseen[:, position]).mean())
            off[feature.name] = error / unseen[:, position].std(ddof=1)
    assert max(off.values()) < 0.6
    assert np.mean(list(off.values())) < 0.3


def test_the_latents_are_used_and_about_as_spread_as_their_prior(learned):
    network, unseen, _ = learned
    mean, log_variance = network.posterior(unseen)
    variance = np.exp(log_variance)
    divergence = (np.square(mean) + variance - 1 - log_variance).mean(0) / 2
    used = divergence > 0.1
    assert used.sum() >= 2
    together = mean.var(0, ddof=1) + variance.mean(0)
    assert ((together[used] > 0.5) & (together[used] < 2)).all()


def test_what_is_given_shapes_what_is_decoded_and_stays_as_it_is(learned):
    network, unseen, _ = learned
    latents = np.zeros((len(unseen), network.latent_size))
    women, men = (np.column_stack([unseen[:, :SEX], np.full(len(unseen), sex)]) for sex in (0, 1))
    as_women, as_men = (network.decode(latents, rows) for rows in (women, men))
    assert (as_women[:, SEX] == 0).all()
    assert (as_men[:, SEX] == 1).all()
    inches = (as_men - as_women)[:, 0] * network.codec.span[0]
    assert ((inches > 8) & (inches < 22)).all()  # 15 in truth


def test_what_was_learned_gives_what_the_layers_give(learned):
    network, unseen, _ = learned
    module = VariationalModule(network.columns, [SEX], network.latent_size, 32).double().eval()
    module.load_state_dict({name: torch.tensor(own) for name, own in network.weights.items()})
    rows = module.read_parts(unseen)
    with torch.no_grad():
        expected = module.posterior(rows.cells)
        numbers, logits = module.outputs(expected[0], rows.given)
    for found, own in zip(network.posterior(unseen), expected, strict=True):
        assert found == pytest.approx(own.numpy(), abs=1e-5)
    decoded = network.decode(expected[0].numpy(), unseen)
    raw = network.centre[:2] + network.spread[:2] * numbers.numpy()
    assert decoded[:, :2] == pytest.approx(raw, abs=1e-4)
    assert decoded[:, 2].tolist() == logits["size"].argmax(-1).tolist()
    assert decoded[:, 3].tolist() == logits["sport"].argmax(-1).tolist()


def test_without_a_condition_only_the_latent_counts():
    codec, rows = encoded(people(80))
    network, _ = fit_variational(codec, rows, [], brief())
    latents = np.random.default_rng(0).normal(size=(5, network.latent_size))
    assert np.array_equal(network.decode(latents, rows[:5]), network.decode(latents, rows[5:10]))


def test_the_loss_by_hand():
    """The decoder says height 0.5 and weight 0, L with 8 parts in 10, each sport alike.

    Heights are spread by 0.5 around 0.2: a height of 0.55 is 0.7 above, and 0.2 beyond 0.5.
    """
    codec, _ = encoded(people(80))
    columns = NetworkColumns(codec, np.array([0.2, 0, 0, 0, 0]), np.array([0.5, 1, 1, 1, 1]))
    network = VariationalModule(columns, [SEX], latent_size=2, hidden_size=4).eval()
    said = torch.tensor([0.5, 0.0, 0, 0, math.log(8), 0, 0, 0, 5, -5])
    for layer, bias in ((network.decoder[-1], said), (network.encoder[-1], [1.0, 2, 0, 0])):
        torch.nn.init.zeros_(layer.weight)
        layer.bias.data = torch.as_tensor(bias)
    network.log_scale.data = torch.tensor([0.1, 0.2]).log()
    row = np.array([[0.55, 0.2, 2.0, 1.0, 0.0]])
    height_unknown = np.array([[np.nan, 0.2, 2.0, 1.0, 0.0]])
    numbers = (2**2 / 2 + math.log(0.1)) + (1 / 2 + math.log(0.2)) + math.log(2 * math.pi)
    levels = math.log(10 / 8) + math.log(3)
    with torch.no_grad():
        found, unknown = (
            negative_log_likelihood(network, torch.zeros(1, 2), network.read_parts(one))
            for one in (row, height_unknown)
        )
        assert found.item() == pytest.approx(numbers + levels, abs=1e-5)  # sex is not asked for
        its_share = 2 + math.log(0.1) + math.log(2 * math.pi) / 2
        assert (unknown - found).item() == pytest.approx(-its_share, abs=1e-5)
        evidence = EvidenceLoss(
            network, row, brief(kl_weight=0.4), torch.Generator().manual_seed(0)
        )
        divergence = (1**2 + 2**2) / 2
        expected = numbers + levels + 0.4 * divergence
        assert evidence(torch.tensor([0])).item() == pytest.approx(expected, abs=1e-5)


def test_the_weight_of_the_divergence_warms_up_in_training_only():
    codec, rows = encoded(people(80))
    network = VariationalModule(NetworkColumns(codec), [], latent_size=2, hidden_size=4)
    evidence = EvidenceLoss(network, rows, brief(kl_weight=0.5, warm_up=1), torch.Generator())
    assert [evidence.divergence_weight(80) for _ in range(4)] == [0.25, 0.5, 0.5, 0.5]
    evidence.n_seen = 0
    network.eval()
    assert evidence.divergence_weight(80) == 0.5


def test_the_same_seed_gives_the_same_latents():
    codec, rows = encoded(people(100))
    first, second, other = (
        fit_variational(codec, rows, [SEX], brief(), seed=seed)[0].posterior(rows)[0]
        for seed in (3, 3, 4)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_missing_cells_are_no_obstacle():
    frame = people(200)
    frame.loc[::3, "height"] = np.nan
    frame.loc[::4, "sport"] = None
    frame.loc[::5, "sex"] = None
    codec, rows = encoded(frame)
    network, record = fit_variational(codec, rows, [SEX], brief())
    assert math.isfinite(record.held_out_loss)
    decoded = network.decode(network.posterior(rows)[0], rows)
    assert np.isfinite(decoded[:, :SEX]).all()
    assert np.array_equal(decoded[:, SEX], rows[:, SEX])


def test_progress_is_told_and_can_stop():
    codec, rows = encoded(people(80))
    _, record = fit_variational(codec, rows, [], progress=lambda epoch: epoch.number < 2)
    assert record.n_epochs == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"latent_size": 0}, "latent_size is 0; expected a whole number from 1"),
        ({"hidden_size": -3}, "hidden_size is -3"),
        ({"hidden_size": 10**12}, "hidden_size is 1000000000000; expected .* to 10,000"),
        ({"warm_up": 2}, "warm_up is 2; expected a share from 0 to 1"),
        ({"kl_weight": 0}, "kl_weight is 0; expected a number above 0"),
    ],
)
def test_what_cannot_be_learned_is_refused(settings, message):
    with pytest.raises(SchemaError, match=message):
        VariationalSettings(**settings)


def test_one_row_is_too_few():
    codec, rows = encoded(people(80))
    with pytest.raises(SchemaError, match="at least 2 rows to learn from, and got 1"):
        fit_variational(codec, rows[:1], [])
