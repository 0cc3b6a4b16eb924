"""The paper's two classifiers: 64-32-16 and 256-128-64-32-16 units.

Each hidden layer is linear, batch normalisation, dropout 0.1 and ReLU. One output with a
sigmoid for two classes; beyond the paper, a softmax over k outputs for more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_linear_bn_eval

from proce.classifier.adapters.from_torch import TorchClassifier
from proce.classifier.adapters.probe import probe_rows
from proce.classifier.classifier import checked_classes, label_values
from proce.classifier.encoding import EncodingName, InputEncoding, as_encoding
from proce.compiled.engine import use_kernels
from proce.compiled.gpu.engine import use_triton
from proce.compiled.row_network import RowNetworkArrays
from proce.errors import ModelError
from proce.schema import Codec, Level
from proce.training import (
    BatchLoss,
    EpochCallback,
    TrainingRecord,
    TrainingSettings,
    random_stream,
    train,
)

HIDDEN_UNITS = {"first": (64, 32, 16), "second": (256, 128, 64, 32, 16)}
DROPOUT = 0.1
MODULES_PER_LAYER = 4  # linear, normalisation, dropout, ReLU
# A product's last bits depend on its shape: a block of constant size makes the output for a row
# independent of its batch, and stays in the cache. The kernels need no blocks.
BLOCK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class TrainedNetwork(TorchClassifier):
    """One of the paper's networks; the output for a row does not depend on its batch.

    Rows on the CPU are answered by compiled kernels, which take a row as it is; gradients, other
    devices and other precisions go through the layers.

    Attributes
    ----------
    module
        The network with its normalisation and dropout layers, in evaluation mode.
    folded
        The same function with each normalisation folded into its linear layer.
    record
        How the training went.
    """

    folded: nn.Module
    record: TrainingRecord

    def _probabilities_of(self, rows: Tensor) -> Tensor:
        answers = self._compiled_answers(rows, self.arrays)
        return super()._probabilities_of(rows) if answers is None else answers

    def _probabilities_of_raw(self, raw: Tensor) -> Tensor:
        answers = self._compiled_answers(self.codec.by_range.to_unit(raw), self.arrays_of_range)
        return super()._probabilities_of_raw(raw) if answers is None else answers

    def _probabilities_of_frame(self, frame: Any) -> Tensor:
        rows = self.codec.by_range.encode(frame)
        answers = self._compiled_answers(rows, self.arrays_of_range)
        return super()._probabilities_of_frame(frame) if answers is None else answers

    def _compiled_answers(self, rows: Tensor, arrays: RowNetworkArrays) -> Tensor | None:
        """Return the probabilities by the kernels.

        ``None`` where the layers must answer, or say why they cannot.
        """
        return arrays.class_probabilities(rows) if self.has_kernel(rows.device) else None

    def has_kernel(self, device: torch.device) -> bool:
        """Return whether kernels answer for rows of a device."""
        weights = self._first_weights
        is_plain = weights.dtype == torch.float32 and weights.device == device
        return is_plain and (use_kernels(device) or use_triton(device))

    @cached_property
    def _first_weights(self) -> Tensor:
        """Weights of the network, which say where and in which precision all of them are."""
        return next(self.folded.parameters())

    @cached_property
    def arrays(self) -> RowNetworkArrays:
        """The network as flat arrays, for rows of the codec."""
        assert isinstance(self.folded, nn.Sequential)
        assert isinstance(self.encoding, InputEncoding)
        first, *others = self.folded
        assert isinstance(first, nn.Linear)
        return RowNetworkArrays.of(self.encoding.cell_inputs(first), first.bias, others)

    @cached_property
    def arrays_of_range(self) -> RowNetworkArrays:
        """The network as flat arrays, for rows of ``codec.by_range``."""
        return self.arrays.without_scale()

    def _forward(self, inputs: Tensor) -> Any:
        if inputs.is_cuda:
            return self.folded(inputs)
        blocks = torch.split(inputs, BLOCK_ROWS)
        n_padding = BLOCK_ROWS - len(blocks[-1])
        whole = [*blocks[:-1], functional.pad(blocks[-1], (0, 0, 0, n_padding))]
        return torch.cat([self.folded(block) for block in whole])[: len(inputs)]


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
    """Train one of the paper's classifiers.

    Parameters
    ----------
    codec
        The codec fitted on the training rows.
    rows
        The training rows: a frame, or what the codec made of it.
    label
        One label per row: text, whole numbers or true/false. Classes are sorted.
    architecture
        ``"first"`` (64-32-16) or ``"second"`` (256-128-64-32-16).
    encoding
        ``"one_hot"``, or ``"label"`` as in the paper.
    balanced
        Weigh the classes so that each counts the same; probabilities are then those of a
        population in which the classes are equally frequent.
    seed
        The same seed gives the same weights.
    settings
        How long and how fast the network learns.
    progress
        Called after every epoch; it stops the training by returning False.

    Returns
    -------
    TrainedNetwork
        A classifier with a gradient.
    """
    if architecture not in HIDDEN_UNITS:
        raise ModelError(f"unknown architecture {architecture!r}; expected 'first' or 'second'.")
    encoded = rows if isinstance(rows, Tensor) else codec.encode(rows)
    classes, positions = read_labels(label, len(encoded))
    encode = as_encoding(encoding, codec)
    inputs = encode(encoded).contiguous()
    n_outputs = 1 if len(classes) == 2 else len(classes)
    with random_stream(seed) as generator:
        network = build_network(inputs.shape[1], HIDDEN_UNITS[architecture], n_outputs)
        loss = _loss(network, inputs, positions, len(classes), balanced)
        record = train(
            network, loss, len(inputs), settings or TrainingSettings(), generator, progress
        )
    network.requires_grad_(False)
    return TrainedNetwork(codec, classes, None, network, encode, "logit", fold(network), record)


def rebuild_network(
    codec: Codec,
    weights: Mapping[str, Tensor],
    classes: tuple[Level, ...],
    threshold: float | None,
    encoding: EncodingName,
    record: TrainingRecord,
) -> TrainedNetwork:
    """Return a trained network again from its weights.

    Parameters
    ----------
    codec, classes, threshold, encoding, record
        Those of the network.
    weights
        Its ``module.state_dict()``.
    """
    names = (f"{MODULES_PER_LAYER * layer}.weight" for layer in range(len(weights)))
    linear = [weights[name] for name in names if name in weights]
    hidden = tuple(len(weight) for weight in linear[:-1])
    encode = as_encoding(encoding, codec)
    width = encode(probe_rows(codec)[:1]).shape[1]
    n_outputs = 1 if len(classes) == 2 else len(classes)
    sizes = zip((*hidden, n_outputs), (width, *hidden), strict=True)
    if [tuple(weight.shape) for weight in linear] != list(sizes):
        raise ModelError("these are not the weights of a network that was trained on such rows.")
    with random_stream(0):
        network = build_network(width, hidden, n_outputs)
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise ModelError(
            f"these weights are of another network: {str(error).splitlines()[-1].strip()}"
        ) from error
    network.eval().requires_grad_(False)
    return TrainedNetwork(
        codec, classes, threshold, network, encode, "logit", fold(network), record
    )


def read_labels(label: Any, n_rows: int) -> tuple[tuple[Level, ...], Tensor]:
    """Return the sorted classes, and each row's class as a position ``(n,)``."""
    values = label_values(label, "label")
    if values.shape != (n_rows,):
        raise ModelError(
            f"the labels have shape {values.shape} for {n_rows} rows; expected one label per row."
        )
    missing = pd.isna(values)
    if missing.any():
        raise ModelError(
            f"the label of row {int(missing.argmax())} is missing, as are {int(missing.sum())} in"
            " all; drop those rows or fill them in."
        )
    try:
        unique, positions = np.unique(values, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values})
        raise ModelError(
            f"the labels mix {' and '.join(kinds)} values; expected one type."
        ) from None
    if len(unique) < 2:
        raise ModelError(
            f"all {n_rows} labels are {unique.tolist()[0]!r}; expected at least two classes."
            if len(unique)
            else "there are no labels; expected at least one row of each class."
        )
    return checked_classes(unique, "the label"), torch.from_numpy(positions)


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


def fold(network: nn.Sequential) -> nn.Sequential:
    """Return the same function in evaluation mode, in linear layers and ReLU alone."""
    layers = [layer for layer in network if not isinstance(layer, nn.Dropout)]
    folded: list[nn.Module] = []
    for layer in layers:
        if isinstance(layer, nn.BatchNorm1d):
            folded[-1] = fuse_linear_bn_eval(folded[-1], layer)  # type: ignore[type-var]
        else:
            folded.append(nn.ReLU(inplace=True) if isinstance(layer, nn.ReLU) else layer)
    return nn.Sequential(*folded).eval().requires_grad_(False)
