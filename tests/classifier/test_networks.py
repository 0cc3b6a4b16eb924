"""The paper's two classifiers: architecture, training, reproducibility."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

from proce.classifier import Classifier, DifferentiableClassifier, as_classifier, fit_network
from proce.classifier.network_training import build_network
from proce.classifier.networks import TrainedNetwork
from proce.errors import ModelError
from proce.schema import Codec, Schema
from proce.training_settings import TrainingSettings

from ..worlds import applicants

N_ROWS = 1200
QUICK = TrainingSettings(n_epochs=3)


def rows_and_labels(seed=0):
    """Applicants whose job counts by their age: young nurses and old others are worth more."""
    frame = applicants(N_ROWS, seed)[["age", "income", "job"]]
    frame.loc[:20, "income"] = np.nan
    bonus = 25 * ((frame["job"] == "nurse") == (frame["age"] < 45))
    noise = np.random.default_rng(seed).normal(0, 7, N_ROWS)
    return frame, np.where(frame["income"].fillna(45) + bonus + noise > 73, "yes", "no")


X, Y = rows_and_labels()
CODEC = Codec.fit(Schema.infer(X), X)
ROWS = CODEC.encode(X)


@pytest.fixture(scope="module")
def network():
    return fit_network(CODEC, ROWS, Y, settings=QUICK)


def weights(network):
    return list(network.weights.values())


def by_layers(network, rows):
    """What PyTorch makes of the weights that were learned, normalisation and all."""
    hidden = tuple(network.layer_sizes[:-1])
    module = build_network(network.encoding.width, hidden, network.layer_sizes[-1]).eval()
    module.load_state_dict({name: torch.tensor(own) for name, own in network.weights.items()})
    classifier = as_classifier(module, network.codec, encoding=network.encoding.kind)
    return classifier.predict_proba(rows)


def test_the_layers_are_those_of_the_paper():
    kinds = [type(layer) for layer in build_network(5, (64, 32, 16), 1)]
    assert kinds == [nn.Linear, nn.BatchNorm1d, nn.Dropout, nn.ReLU] * 3 + [nn.Linear]
    assert {layer.p for layer in build_network(5, (8,), 1) if isinstance(layer, nn.Dropout)} == {
        0.1
    }
    second = fit_network(CODEC, ROWS, Y, architecture="second", settings=QUICK)
    assert second.layer_sizes == [256, 128, 64, 32, 16, 1]


def test_it_learns_what_depends_on_several_features():
    network = fit_network(CODEC, X, Y)
    assert isinstance(network, Classifier)
    assert isinstance(network, DifferentiableClassifier)
    assert network.classes == ("no", "yes")
    assert network.record.n_epochs <= TrainingSettings().n_epochs
    frame, labels = rows_and_labels(seed=1)
    answer = network.predict_proba(CODEC.encode(frame))
    assert roc_auc_score(labels == "yes", answer[:, 1]) > 0.95
    linear = fit_network(CODEC, X, Y, encoding="label")
    answer = linear.predict_proba(CODEC.encode(frame))
    assert roc_auc_score(labels == "yes", answer[:, 1]) > 0.93


def test_the_same_seed_gives_the_same_weights_and_leaves_the_callers_stream_alone():
    before = torch.random.get_rng_state()
    first, again = (fit_network(CODEC, ROWS, Y, seed=3, settings=QUICK) for _ in range(2))
    other = fit_network(CODEC, ROWS, Y, seed=4, settings=QUICK)
    assert torch.equal(torch.random.get_rng_state(), before)
    pairs = zip(weights(first), weights(again), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)
    assert not np.array_equal(weights(first)[0], weights(other)[0])


@pytest.mark.parametrize("seed", range(4))
def test_a_row_has_the_same_answer_to_the_last_bit_whatever_its_batch(seed):
    network = fit_network(CODEC, ROWS, Y, seed=seed, settings=QUICK)
    many = np.tile(ROWS, (2, 1))
    whole = network.predict_proba(many)
    for start, n_rows in ((0, 1), (5, 7), (1000, 100), (17, 1500)):
        part = network.predict_proba(many[start : start + n_rows])
        assert np.array_equal(part, whole[start : start + n_rows])
    few, all_of_them = network.gradient(many[5:12], 1), network.gradient(many, 1)
    assert few == pytest.approx(all_of_them[5:12], abs=1e-6)


def test_folding_keeps_the_function(network):
    folded = network.module
    assert [type(layer) for layer in folded.module] == [nn.Linear, nn.ReLU] * 3 + [nn.Linear]
    expected = by_layers(network, ROWS)
    assert folded.predict_proba(ROWS) == pytest.approx(expected, abs=1e-5)
    assert network.predict_proba(ROWS) == pytest.approx(expected, abs=1e-5)


def test_it_passes_the_door_and_takes_a_threshold(network):
    assert as_classifier(network, CODEC) is network
    strict = as_classifier(network, Codec.fit(CODEC.schema, X), 0.9)
    second = network.predict_proba(ROWS)[:, 1]
    assert np.array_equal(strict.predict(ROWS), second >= 0.9)


def test_its_gradient_is_that_of_the_network_itself(network):
    asked = as_classifier(network.module.module, CODEC)
    assert network.gradient(ROWS, 1) == pytest.approx(asked.gradient(ROWS, 1), abs=1e-5)


def test_balanced_classes_count_the_same():
    rare = np.where((X["income"] > 90) | (np.arange(N_ROWS) % 40 == 0), 1, 0)
    assert rare.mean() < 0.15
    plain = fit_network(CODEC, ROWS, rare)
    balanced = fit_network(CODEC, ROWS, rare, balanced=True)
    shares = [network.predict_proba(ROWS)[:, 1].mean().item() for network in (plain, balanced)]
    assert shares[0] < 0.15 < 0.18 < shares[1]


@pytest.mark.parametrize("label", [[0, 1, 2], ["a", "b", "c"]])
def test_more_classes_than_two(label):
    wanted = np.array(label)[np.digitize(X["income"].fillna(45), [48, 72])]
    network = fit_network(CODEC, ROWS, wanted)
    assert network.classes == tuple(label)
    hits = np.array(label)[network.predict(ROWS)] == wanted
    assert hits.mean() > 0.9
    assert network.predict_proba(ROWS).sum(-1) == pytest.approx(1)


@pytest.mark.parametrize(
    "label",
    [
        pd.Series(Y, index=range(5, 5 + N_ROWS)),
        pd.Series(Y).astype("category"),
        pd.DataFrame({"y": Y}),
        Y == "yes",
        (Y == "yes").astype(float),
        list(Y),
    ],
)
def test_labels_of_any_kind(label):
    network = fit_network(CODEC, ROWS, label, settings=TrainingSettings(n_epochs=1))
    assert len(network.classes) == 2
    assert network.classes[0] in ("no", False, 0.0)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (np.where(np.arange(N_ROWS) == 7, np.nan, 1.0), "label has 1 missing label; .* row 7 is"),
        ([None, *Y[1:]], "label has 1 missing label; .* row 0 is"),
        (Y[:-1], r"label has the shape \(1199,\) for 1200 rows"),
        (np.stack([Y, Y], axis=1), r"label has the shape \(1200, 2\)"),
        (["yes"] * N_ROWS, "all 1200 labels are 'yes'; expected at least two classes"),
        ([1, "1"] * (N_ROWS // 2), "label mixes int and str values|all 1200 labels"),
    ],
)
def test_labels_that_cannot_be_learned_are_refused(label, message):
    with pytest.raises(ModelError, match=message):
        fit_network(CODEC, ROWS, label)


def test_unknown_names_are_refused():
    with pytest.raises(ModelError, match="unknown architecture 'third'; expected 'first'"):
        fit_network(CODEC, ROWS, Y, architecture="third")
    with pytest.raises(ModelError, match="unknown encoding 'ordinal'"):
        fit_network(CODEC, ROWS, Y, encoding="ordinal")


def test_progress_is_told_and_can_stop():
    told = []
    network = fit_network(CODEC, ROWS, Y, progress=lambda epoch: told.append(epoch) or False)
    assert len(told) == network.record.n_epochs == 1


@pytest.mark.parametrize("encoding", ["one_hot", "label"])
@pytest.mark.parametrize("scale", ["range", "bulk"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_kernels_give_what_the_layers_give_for_rows_raw_values_and_frames(
    encoding, scale, n_classes
):
    codec = Codec.fit(CODEC.schema, X, scale)
    labels = np.digitize(X["income"].fillna(45), [48, 72][: n_classes - 1])
    network = fit_network(codec, X, labels, encoding=encoding, settings=QUICK)
    rows, raw = codec.encode(X), codec.raw_of_frame(X)
    assert np.isnan(rows).any()
    assert network.predict_proba(rows) == pytest.approx(by_layers(network, rows), abs=1e-6)
    by_frame = network.predict_frame(X)
    assert np.array_equal(network.predict_raw(raw), by_frame)
    on_range = fit_network(CODEC, ROWS, labels, encoding=encoding, settings=QUICK)
    assert np.array_equal(on_range.predict_frame(X), on_range.predict_proba(ROWS))
    assert network.predict_proba(rows) == pytest.approx(by_frame, abs=1e-6)


def test_a_cell_that_was_never_missing_is_refused_by_name(network):
    lacking = ROWS[:3].copy()
    lacking[1, 0] = np.nan
    with pytest.raises(ModelError, match="feature 'age' is missing in row 1"):
        network.predict_proba(lacking)


def test_the_weights_make_the_same_network(network):
    again = TrainedNetwork.of(
        CODEC, network.weights, network.classes, None, "one_hot", network.record
    )
    assert np.array_equal(again.predict_proba(ROWS), network.predict_proba(ROWS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: {}, "not the weights of a network that was trained on such rows"),
        (
            lambda weights: weights | {"0.weight": weights["0.weight"][:, 1:]},
            "not the weights of a",
        ),
        (lambda weights: weights | {"0.bias": weights["0.bias"][1:]}, "not the weights of a"),
        (lambda weights: weights | {"1.running_var": np.ones(3)}, "1.running_var does not fit"),
    ],
)
def test_weights_of_another_network_are_refused(network, change, message):
    with pytest.raises(ModelError, match=message):
        TrainedNetwork.of(
            CODEC, change(network.weights), network.classes, None, "one_hot", network.record
        )


def test_a_network_that_overflows_is_refused_by_row(network):
    weights = {**network.weights, "12.bias": np.array([np.nan], np.float32)}
    broken = TrainedNetwork.of(CODEC, weights, network.classes, None, "one_hot", network.record)
    with pytest.raises(ModelError, match="the network: row 0 has NaN among its probabilities"):
        broken.predict_proba(ROWS)
