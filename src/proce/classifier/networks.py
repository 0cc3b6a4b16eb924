"""The paper's two classifiers: 64-32-16 and 256-128-64-32-16 units.

Each hidden layer is linear, batch normalisation, dropout 0.1 and ReLU. One output with a
sigmoid for two classes; beyond the paper, a softmax over k outputs for more. Once learned, a
network is arrays; :mod:`proce.classifier.network_training` learns it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from proce.arrays import Array, Floats
from proce.classifier.classifier import Adapter
from proce.classifier.encoding import EncodingName, InputEncoding, as_encoding
from proce.classifier.prediction import check_probabilities
from proce.compiled.row_network import Layer, RowNetwork
from proce.errors import ModelError
from proce.schema import Codec, Level
from proce.training_settings import TrainingRecord

if TYPE_CHECKING:
    from proce.classifier.adapters.from_torch import TorchClassifier

MODULES_PER_LAYER = 4  # linear, normalisation, dropout, ReLU
_NORMALISATION_EPSILON = np.float32(1e-5)  # as PyTorch's, added to a variance


@dataclass(frozen=True, eq=False)
class TrainedNetwork(Adapter):
    """One of the paper's networks; the output for a row does not depend on its batch."""

    # The arrays of the network and its normalisation, by their names in PyTorch
    weights: Mapping[str, Array] = field(repr=False)
    encoding: InputEncoding  # how rows enter the network
    record: TrainingRecord  # how the training went

    @classmethod
    def of(
        cls,
        codec: Codec,
        weights: Mapping[str, Array],
        classes: tuple[Level, ...],
        threshold: float | None,
        encoding: EncodingName,
        record: TrainingRecord,
    ) -> "TrainedNetwork":
        """Return a network from the weights that it has learned."""
        encode = as_encoding(encoding, codec)
        assert isinstance(encode, InputEncoding), "an encoding with a name"
        network = cls(codec, classes, threshold, weights, encode, record)
        sizes = network.layer_sizes
        expected = [
            shape
            for n_inputs, n_outputs in pairwise((encode.width, *sizes))
            for shape in ((n_outputs, n_inputs), (n_outputs,))
        ]
        linear = [weights.get(name) for name in network.linear_names]
        found = [None if part is None else part.shape for part in linear]
        n_outputs = 1 if len(classes) == 2 else len(classes)
        if not sizes or found != expected or sizes[-1] != n_outputs:
            raise ModelError(
                "these are not the weights of a network that was trained on such rows."
            )
        for layer, size in enumerate(sizes[:-1]):
            for name in _normalisation_names(layer):
                if name not in weights or weights[name].shape != (size,):
                    raise ModelError(f"these weights are of another network: {name} does not fit.")
        return network

    @property
    def output(self) -> str:
        """What the network gives: logits."""
        return "logit"

    @property
    def name(self) -> str:
        """What the model is called in messages."""
        return "the network"

    @property
    def takes_units(self) -> bool:
        """Whether the network is given numbers on the unit range."""
        return True

    @property
    def layer_sizes(self) -> list[int]:
        """How many units each layer has, the outputs last."""
        sizes: list[int] = []
        for layer in count():
            weights = self.weights.get(f"{MODULES_PER_LAYER * layer}.weight")
            if weights is None:
                return sizes
            sizes.append(len(weights))
        raise AssertionError("there is a last layer")

    @property
    def linear_names(self) -> list[str]:
        """The names of the linear layers' arrays."""
        positions = [MODULES_PER_LAYER * layer for layer in range(len(self.layer_sizes))]
        return [f"{at}.{part}" for at in positions for part in ("weight", "bias")]

    @cached_property
    def layers(self) -> list[Layer]:
        """The same function in linear layers alone, each normalisation folded into its layer."""
        n_layers = len(self.layer_sizes)
        return [self._folded(layer, is_ramp=layer + 1 < n_layers) for layer in range(n_layers)]

    def _folded(self, layer: int, *, is_ramp: bool) -> Layer:
        position = MODULES_PER_LAYER * layer
        weights, bias = (self.weights[f"{position}.{part}"] for part in ("weight", "bias"))
        if not is_ramp:
            return Layer(weights, bias)
        scale, shift, mean, variance = (self.weights[name] for name in _normalisation_names(layer))
        per_unit = scale * (np.float32(1) / np.sqrt(variance + _NORMALISATION_EPSILON))
        return Layer(weights * per_unit[:, None], (bias - mean) * per_unit + shift, True)

    @cached_property
    def arrays(self) -> RowNetwork:
        """The network as flat arrays, for rows of the codec."""
        first, *others = self.layers
        inputs = self.encoding.cell_inputs(first.weights)
        return RowNetwork.of(inputs, first.bias, first.is_ramp, others)

    @cached_property
    def arrays_of_range(self) -> RowNetwork:
        """The network as flat arrays, for rows of ``codec.by_range``."""
        return self.arrays.without_scale()

    def with_codec(self, codec: Codec) -> Self:
        """Return the network for rows of a codec of the same features; its input is the same."""
        encoding = as_encoding(self.encoding.kind, codec)
        assert isinstance(encoding, InputEncoding), "an encoding with a name"
        return replace(self, codec=codec, encoding=encoding)

    def inputs(self, rows: Floats) -> Array:
        """Return the network's input ``(n, w)``."""
        return self.encoding(rows)

    def gradient(self, rows: Floats, target: Array | int) -> Array:
        """Return the gradient of p(target) with respect to the inputs, ``(n, w)``."""
        return self.module.gradient(rows, target)

    @cached_property
    def module(self) -> "TorchClassifier":
        """The same network as a torch module, for what descends on it."""
        from proce.classifier.adapters.from_torch import TorchClassifier, module_of

        module = module_of(self.layers)
        return TorchClassifier(
            self.codec, self.classes, self.threshold, module, self.encoding, "logit"
        )

    def _probabilities_of(self, rows: Floats) -> Floats:
        answers = self.arrays.class_probabilities(rows)
        if answers is None:
            self.encoding(rows)  # which says what is missing
        return self._sound(answers)

    def _probabilities_of_raw(self, raw: Floats) -> Floats:
        return self._of_range(self.codec.by_range.to_unit(raw))

    def _probabilities_of_frame(self, frame: Any) -> Floats:
        return self._of_range(self.codec.by_range.encode(frame))

    def _of_range(self, rows: Floats) -> Floats:
        answers = self.arrays_of_range.class_probabilities(rows)
        if answers is None:
            self.encoding.of_range(rows)  # which says what is missing
        return self._sound(answers)

    def _sound(self, answers: Floats | None) -> Floats:
        assert answers is not None, "the encoding refuses what the network cannot read"
        if np.isnan(answers[:, 0]).any():
            check_probabilities(answers, "probability", len(self.classes), self.name)
        return answers


def _normalisation_names(layer: int) -> list[str]:
    position = MODULES_PER_LAYER * layer + 1
    return [f"{position}.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
