"""A network as DiCE's gradient method asks it: with rows of DiCE's own encoding."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from proce.classifier import (
    Classifier,
    DifferentiableClassifier,
    InputEncoding,
    TrainedNetwork,
)
from proce.classifier.from_torch import TorchClassifier
from proce.errors import ModelInterfaceError
from proce.schema import Codec, Continuous


@dataclass(frozen=True, eq=False)
class DiceNetwork:
    """A classifier with a gradient, and how DiCE's input becomes its own.

    DiCE's input has a column per number, on the range of its data, then a column per level.
    Ours is a linear function of it: numbers on another range, levels side by side or as codes.

    Attributes
    ----------
    classifier, encoding
        The network, and its input.
    matrix, shift
        ``(w, v)`` and ``(v,)``: DiCE's input ``(n, w)`` times the matrix plus the shift is ours.
    """

    classifier: DifferentiableClassifier
    encoding: InputEncoding
    matrix: Tensor
    shift: Tensor

    @classmethod
    def of(
        cls, classifier: Classifier, codec: Codec, low: Tensor, high: Tensor, seen: list[list[int]]
    ) -> "DiceNetwork":
        """Return the network of a classifier, or say why there is no gradient.

        Parameters
        ----------
        classifier, codec
            The model, and its features.
        low, high
            ``(f,)``, the range of each number in DiCE's data, in raw units.
        seen
            The codes in DiCE's data of each feature with levels, and nothing for numbers.
        """
        encoding = getattr(classifier, "encoding", None)
        if not isinstance(classifier, DifferentiableClassifier):
            raise ModelInterfaceError(
                "DiCE's gradient method needs a network: a torch module, or what fit_network"
                f" returns. A {type(classifier).__name__} has no gradient; use method='genetic'"
                " or 'random'."
            )
        if not isinstance(encoding, InputEncoding):
            raise ModelInterfaceError(
                "DiCE's gradient method needs a network whose input is encoded as 'one_hot' or"
                " 'label', since a gradient does not pass through a function of a frame; use"
                " method='genetic' or 'random'."
            )
        numbers = [at for at, f in enumerate(codec.schema) if isinstance(f, Continuous)]
        levels = [(at, code) for at, codes in enumerate(seen) for code in codes]
        columns = [(at, None) for at in numbers] + levels
        matrix = torch.zeros(len(columns), encoding.width)
        shift = torch.zeros(encoding.width)
        first = {at: encoding.source.tolist().index(at) for at in range(len(codec.schema))}
        for row, (at, code) in enumerate(columns):
            if code is None:
                matrix[row, first[at]] = (high[at] - low[at]) / codec.span[at]
                shift[first[at]] = (low[at] - codec.low[at]) / codec.span[at]
            elif encoding.codes[at] is None:
                matrix[row, first[at]] = code
            else:
                matrix[row, first[at] + code] = 1
        return cls(_unpadded(classifier), encoding, matrix, shift)

    def of_row(
        self, own: Tensor, target: int, vary: Sequence[str], names: Sequence[str]
    ) -> nn.Module:
        """Return the module for one row ``(f,)``: what does not vary stays as in the row."""
        varies = torch.tensor([name in vary for name in names])[self.encoding.source]
        inputs = self.classifier.inputs(own[None])[0].float()
        held = replace(
            self,
            matrix=self.matrix * varies,
            shift=torch.where(varies, self.shift, inputs),
        )
        return _Module(held, target)


class _Module(nn.Module):
    """How far on the target's side: above one half where the classifier decides for it."""

    def __init__(self, network: DiceNetwork, target: int) -> None:
        super().__init__()
        self.network, self.target = network, target

    def forward(self, rows: Tensor) -> Tensor:
        """Return ``(1,)`` for one row ``(w,)``, ``(n, 1)`` for many ``(n, w)``."""
        network = self.network
        inputs = rows.reshape(-1, rows.shape[-1]) @ network.matrix + network.shift
        score = _score(network.classifier, inputs, self.target)[:, None]
        return score[0] if rows.dim() == 1 else score


def _unpadded(classifier: DifferentiableClassifier) -> DifferentiableClassifier:
    """Return the same function; ours works on blocks of a thousand rows, and DiCE asks for one."""
    if not isinstance(classifier, TrainedNetwork):
        return classifier
    own = (classifier.folded, classifier.encoding, classifier.output)
    return TorchClassifier(classifier.codec, classifier.classes, classifier.threshold, *own)


def _score(classifier: DifferentiableClassifier, inputs: Tensor, target: int) -> Tensor:
    """Return a smooth score ``(n,)``; the probability itself where one half decides."""
    chances = classifier.probabilities(inputs)
    own = chances[:, target]
    if classifier.threshold is None:
        others = [at for at in range(chances.shape[1]) if at != target]
        return own / (own + chances[:, others].amax(1))
    needed = classifier.threshold if target == 1 else 1 - classifier.threshold
    return torch.where(own < needed, own / needed, 1 + (own - needed) / (1 - needed)) / 2
