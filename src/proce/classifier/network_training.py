"""Learning the paper's classifiers: what needs PyTorch."""

from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from proce.classifier.classifier import read_labels
from proce.classifier.encoding import EncodingName, as_encoding
from proce.classifier.networks import TrainedNetwork
from proce.errors import ModelError
from proce.schema import Codec
from proce.training import BatchLoss, random_stream, train
from proce.training_settings import EpochCallback, TrainingSettings

HIDDEN_UNITS = {"first": (64, 32, 16), "second": (256, 128, 64, 32, 16)}
DROPOUT = 0.1


def build_network(width: int, hidden: tuple[int, ...], n_outputs: int) -> nn.Sequential:
    """Return an untrained network, its weights drawn from torch's global state."""
    layers: list[nn.Module] = []
    for units in hidden:
        layers += [
            nn.Linear(width, units),
            nn.BatchNorm1d(units),
            nn.Dropout(DROPOUT),
            nn.ReLU(),
        ]
        width = units
    return nn.Sequential(*layers, nn.Linear(width, n_outputs))


def fit_network(
    codec: Codec,
    rows: Any,
    label: Any,
    *,
    architecture: Literal["first", "second"] = "first",
    encoding: EncodingName = "one_hot",
    balanced: bool = False,
    seed: int = 0,
    settings: TrainingSettings | None = None,
    progress: EpochCallback | None = None,
) -> TrainedNetwork:
    """Train one of the paper's classifiers."""
    if architecture not in HIDDEN_UNITS:
        raise ModelError(f"unknown architecture {architecture!r}; expected 'first' or 'second'.")
    encoded = rows if isinstance(rows, np.ndarray) else codec.encode(rows)
    classes, positions = read_labels(label, len(encoded))
    encode = as_encoding(encoding, codec)
    inputs = torch.from_numpy(np.ascontiguousarray(encode(encoded)))
    n_outputs = 1 if len(classes) == 2 else len(classes)
    with random_stream(seed) as generator:
        network = build_network(inputs.shape[1], HIDDEN_UNITS[architecture], n_outputs)
        wanted = torch.from_numpy(positions)
        loss = _loss(network, inputs, wanted, len(classes), balanced)
        record = train(
            network, loss, len(inputs), settings or TrainingSettings(), generator, progress
        )
    weights = {name: part.numpy().copy() for name, part in network.state_dict().items()}
    return TrainedNetwork.of(codec, weights, classes, None, encoding, record)


def _loss(
    network: nn.Module, inputs: Tensor, classes: Tensor, n_classes: int, balanced: bool
) -> BatchLoss:
    weights = torch.ones(n_classes)
    if balanced:
        weights = len(classes) / (n_classes * classes.bincount(minlength=n_classes).float())

    def loss(positions: Tensor) -> Tensor:
        logits, wanted = network(inputs[positions]), classes[positions]
        if n_classes > 2:
            losses = functional.cross_entropy(logits, wanted, reduction="none")
        else:
            losses = functional.binary_cross_entropy_with_logits(
                logits[:, 0], wanted.float(), reduction="none"
            )
        return (losses * weights[wanted]).mean()

    return loss
