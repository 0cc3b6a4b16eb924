"""A network as DiCE's gradient method asks it: with rows of DiCE's own encoding."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from proce.arrays import Floats
from proce.classifier import Classifier, InputEncoding, TrainedNetwork
from proce.classifier.adapters.from_torch import TorchClassifier
from proce.errors import ModelInterfaceError
from proce.methods.published.dice.messages import score_of
from proce.schema import Codec


@dataclass(frozen=True, eq=False)
class DiceNetwork:
    """A classifier with a gradient, and how DiCE's input becomes its own.

    DiCE's input has a column per number, on the range of its data, then a column per level.
    Ours is a linear function of it: numbers on another range, levels side by side or as codes.
    """

    # classifier, encoding: the network, and the encoding of its input
    classifier: TorchClassifier
    encoding: InputEncoding
    # matrix, shift: (w, v) and (v,): DiCE's input (n, w) times the matrix plus the shift is ours
    matrix: Tensor
    shift: Tensor

    @classmethod
    def of(
        cls, classifier: Classifier, codec: Codec, low: Floats, high: Floats, codes: list[list[int]]
    ) -> "DiceNetwork":
        """Return the network of a classifier; refuse a classifier without a gradient.

        Shapes: low, high ``(f,)``.
        """
        network = classifier.module if isinstance(classifier, TrainedNetwork) else classifier
        if not isinstance(network, TorchClassifier):
            raise ModelInterfaceError(
                "DiCE's gradient method needs a network: a torch module, or what fit_network"
                f" returns. A {type(classifier).__name__} has no gradient; use method='genetic'"
                " or 'random'."
            )
        encoding = network.encoding
        if not isinstance(encoding, InputEncoding):
            raise ModelInterfaceError(
                "DiCE's gradient method needs a network whose input is encoded as 'one_hot' or"
                " 'label', since a gradient does not pass through a function of a frame; use"
                " method='genetic' or 'random'."
            )
        numbers = np.flatnonzero(codec.is_number).tolist()
        levels = [(position, code) for position, seen in enumerate(codes) for code in seen]
        columns = [(position, None) for position in numbers] + levels  # of DiCE's input
        matrix = np.zeros((len(columns), encoding.width), np.float32)
        shift = np.zeros(encoding.width, np.float32)
        source, low, high = encoding.source.tolist(), codec.to_unit(low), codec.to_unit(high)
        for row, (position, code) in enumerate(columns):
            first = source.index(position)  # the feature's first column of our input
            if code is None:
                matrix[row, first] = high[position] - low[position]
                shift[first] = low[position]
            elif encoding.n_levels[position]:
                matrix[row, first + code] = 1
            else:
                matrix[row, first] = code
        return cls(network, encoding, torch.from_numpy(matrix), torch.from_numpy(shift))

    def of_row(
        self, own: Floats, target: int, vary: Sequence[str], names: Sequence[str]
    ) -> nn.Module:
        """Return the module for one row ``(f,)``; features that do not vary stay as in the row."""
        varies = torch.from_numpy(np.array([name in vary for name in names])[self.encoding.source])
        inputs = torch.from_numpy(self.classifier.inputs(own[None])[0]).float()
        held = replace(
            self,
            matrix=self.matrix * varies,
            shift=torch.where(varies, self.shift, inputs),
        )
        return _Module(held, target)


class _Module(nn.Module):
    """Scores how far rows are on the target's side: above one half if they are decided for it."""

    def __init__(self, network: DiceNetwork, target: int) -> None:
        super().__init__()
        self.network, self.target = network, target

    def forward(self, rows: Tensor) -> Tensor:
        """Return ``(1,)`` for one row ``(w,)``, ``(n, 1)`` for many ``(n, w)``."""
        network = self.network
        inputs = rows.reshape(-1, rows.shape[-1]) @ network.matrix + network.shift
        probabilities = network.classifier.probabilities(inputs)
        others = [label for label in range(probabilities.shape[1]) if label != self.target]
        wanted, rival = probabilities[:, self.target], probabilities[:, others].amax(1)
        score = score_of(wanted, rival, self.target, network.classifier.threshold)[:, None]
        return score[0] if rows.dim() == 1 else score
