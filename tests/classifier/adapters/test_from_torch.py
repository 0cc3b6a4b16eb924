"""Networks: a frozen copy, its encoding, its output, its gradient."""

import numpy as np
import pytest
import torch
from torch import nn

from proce.classifier import DifferentiableClassifier, as_classifier, label, one_hot
from proce.errors import ModelError, ModelInterfaceError, ModelOutputError
from proce.schema import Codec, Schema

from ...worlds import JOBS, applicants

X = applicants(60)[["age", "income", "job"]]
CODEC = Codec.fit(Schema.infer(X), X)
ROWS = CODEC.encode(X)
ONE_HOT = one_hot(CODEC)
WIDTH = ONE_HOT.width


def seeded(*layers, scale=1.0):
    generator = torch.Generator().manual_seed(1)
    module = nn.Sequential(*layers)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=scale, generator=generator)
    return module


class Squeezed(nn.Module):
    """Answers with a vector, computed without layers of its own."""

    def __init__(self, last=torch.sigmoid, scale=1.0):
        super().__init__()
        self.inner, self.last = seeded(nn.Linear(WIDTH, 1), scale=scale), last

    def forward(self, inputs):
        return self.last(self.inner(inputs)).squeeze(-1)


def directly(module, encode=ONE_HOT):
    with torch.no_grad():
        return module.eval()(torch.tensor(encode(ROWS))).double().reshape(len(ROWS), -1)


def test_the_output_is_found_out():
    logit = Squeezed(lambda z: z)
    probability = Squeezed()
    for module, expected in ((logit, torch.sigmoid(directly(logit))), (probability, None)):
        expected = directly(module) if expected is None else expected
        answer = as_classifier(module, CODEC).predict_proba(ROWS)[:, [1]]
        assert answer == pytest.approx(expected.numpy(), abs=1e-6)


def test_logits_that_happen_to_lie_between_zero_and_one_are_still_logits():
    module = Squeezed(lambda z: z, scale=0.01)
    nn.init.constant_(module.inner[0].bias, 0.5)
    assert 0 < directly(module).min() < directly(module).max() < 1
    answer = as_classifier(module, CODEC).predict_proba(ROWS)[:, [1]]
    assert answer == pytest.approx(torch.sigmoid(directly(module)).numpy(), abs=1e-6)
    said = as_classifier(module, CODEC, output="probability").predict_proba(ROWS)[:, [1]]
    assert said == pytest.approx(directly(module).numpy(), abs=1e-6)


def test_log_probabilities_are_logits():
    module = seeded(nn.Linear(WIDTH, 3), nn.LogSoftmax(dim=-1))
    answer = as_classifier(module, CODEC).predict_proba(ROWS)
    assert answer == pytest.approx(directly(module).exp().numpy(), abs=1e-6)


def test_sigmoids_of_several_classes_are_refused():
    with pytest.raises(ModelOutputError, match="neither probabilities of the classes nor plainly"):
        as_classifier(seeded(nn.Linear(WIDTH, 3), nn.Sigmoid()), CODEC)


def test_double_precision_and_other_encodings():
    module = seeded(nn.Linear(3, 1)).double()
    answer = as_classifier(module, CODEC, encoding="label").predict_proba(ROWS)[:, [1]]
    expected = torch.sigmoid(directly(module, lambda rows: label(CODEC)(rows, np.float64)))
    assert answer == pytest.approx(expected.numpy(), abs=1e-12)

    def scaled(frame):
        return torch.tensor(frame[["age", "income"]].to_numpy()) / 100

    two = seeded(nn.Linear(2, 1))
    answer = as_classifier(two, CODEC, encoding=scaled).predict_proba(ROWS)[:, [1]]
    expected = torch.sigmoid(directly(two, lambda rows: scaled(X).float().numpy()))
    assert answer == pytest.approx(expected.numpy(), abs=1e-6)


def test_an_embedding_of_codes_has_no_gradient():
    def codes(frame):
        return torch.tensor(frame["job"].map(JOBS.index).to_numpy())

    classifier = as_classifier(nn.Embedding(3, 2), CODEC, encoding=codes)
    assert classifier.predict_proba(ROWS).shape == (60, 2)
    with pytest.raises(ModelInterfaceError, match="given whole numbers by its encoding"):
        classifier.gradient(ROWS, 1)


def test_later_training_does_not_reach_the_adapter():
    module = Squeezed()
    classifier = as_classifier(module, CODEC)
    before = classifier.predict_proba(ROWS)
    with torch.no_grad():
        module.inner[0].weight.add_(1)
    assert np.array_equal(classifier.predict_proba(ROWS), before)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_gradient_agrees_with_finite_differences(n_outputs):
    module = seeded(
        nn.Linear(WIDTH, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, n_outputs), scale=0.5
    ).double()
    classifier = as_classifier(module, CODEC)
    assert isinstance(classifier, DifferentiableClassifier)
    inputs, step = classifier.inputs(ROWS), 1e-6
    lines = np.arange(len(ROWS))
    target = lines % len(classifier.classes)
    gradient = classifier.gradient(ROWS, target)
    assert gradient.shape == inputs.shape
    for column in range(WIDTH):
        moved = np.zeros_like(inputs)
        moved[:, column] = step
        ahead, behind = (
            classifier.probabilities(torch.tensor(inputs + sign * moved)).numpy()[lines, target]
            for sign in (1, -1)
        )
        slope = (ahead - behind) / (2 * step)
        assert gradient[:, column] == pytest.approx(slope, abs=1e-8)
    chances = classifier.probabilities(torch.tensor(inputs)).numpy()
    assert chances == pytest.approx(classifier.predict_proba(ROWS), abs=1e-12)
    assert np.array_equal(classifier.gradient(ROWS, 1), classifier.gradient(ROWS, target * 0 + 1))


class Odd(nn.Module):
    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, inputs):
        return self.answer(inputs)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda x: (x, x), ModelOutputError, "answered with a tuple; expected one tensor"),
        (lambda x: x[:1, :1], ModelOutputError, r"shape \(1, 1\) for 256 rows"),
        (lambda x: x[:, :1] * torch.nan, ModelOutputError, r"a row that was made up .* has NaN"),
        (lambda x: x @ torch.ones(2), ModelError, r"failed on 256 rows: .*shape \(256, 5\); say"),
    ],
)
def test_odd_answers_are_refused(answer, error, message):
    with pytest.raises(error, match=message):
        as_classifier(Odd(answer), CODEC)


def test_a_module_that_cannot_be_copied_is_refused():
    module = Squeezed()
    module.extra = (torch.ones(1, requires_grad=True) * 2,)
    with pytest.raises(ModelError, match="cannot be copied"):
        as_classifier(module, CODEC)


def test_many_rows_are_answered_as_few():
    module = seeded(nn.Linear(WIDTH, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
    classifier = as_classifier(module, CODEC)
    many = np.tile(ROWS, (150, 1))
    few = classifier.predict_proba(ROWS)
    assert classifier.predict_proba(many) == pytest.approx(np.tile(few, (150, 1)), abs=1e-6)
