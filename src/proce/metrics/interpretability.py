"""Do counterfactuals look like the target class (Eqs. 23 and 24)?

Three auto-encoders judge: of the rows predicted as the target, of those predicted as the row's
own class, and of all. They are trained by whoever measures, never shared with an explainer.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from proce.latent import AutoEncoder, AutoEncoderSettings, fit_autoencoder
from proce.schema import Codec, Continuous

_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Judges:
    """The auto-encoders of IM1 and IM2.

    Attributes
    ----------
    by_class
        One for the rows predicted as each class.
    of_all
        For all rows.
    """

    by_class: tuple[AutoEncoder, ...]
    of_all: AutoEncoder

    @classmethod
    def fit(
        cls,
        codec: Codec,
        rows: Tensor,
        predicted: Tensor,
        n_classes: int,
        *,
        settings: AutoEncoderSettings | None = None,
        seed: int = 10_000,
    ) -> "Judges":
        """Train them on training rows ``(n, f)`` and their predicted classes ``(n,)``."""
        parts = [rows[predicted == k] for k in range(n_classes)]
        by_class = [fit_autoencoder(codec, part, settings, seed=seed)[0] for part in parts]
        return cls(tuple(by_class), fit_autoencoder(codec, rows, settings, seed=seed)[0])

    def im1(self, rows: Tensor, target: int, own: int) -> Tensor:
        """Return IM1 (Eq. 23) of rows ``(i, f)``; lower looks more like the target than before.

        The squared error of the target's auto-encoder over that of the own class's.
        """
        wanted = _error(self.by_class[target], rows)
        return wanted / (_error(self.by_class[own], rows) + _LEAST)

    def im2(self, rows: Tensor, target: int) -> Tensor:
        """Return IM2 (Eq. 24) of rows ``(i, f)``; lower looks more like the data as a whole.

        The squared difference of what the target's auto-encoder and that of all rows make of
        them, over the squared norm of the row.
        """
        ours, all_rows = (_rebuilt(each, rows) for each in (self.by_class[target], self.of_all))
        size = _spread(self.of_all.codec, rows).square().sum(-1)
        return (ours - all_rows).square().sum(-1) / (size + _LEAST)


def _error(autoencoder: AutoEncoder, rows: Tensor) -> Tensor:
    return (_rebuilt(autoencoder, rows) - _spread(autoencoder.codec, rows)).square().sum(-1)


def _rebuilt(autoencoder: AutoEncoder, rows: Tensor) -> Tensor:
    back = autoencoder.reconstruct(rows)
    return torch.cat([back.units, *back.probabilities.values()], dim=-1).double()


def _spread(codec: Codec, rows: Tensor) -> Tensor:
    """Return numbers on the unit range, then one column per level."""
    numbers = [at for at, f in enumerate(codec.schema) if isinstance(f, Continuous)]
    parts = [rows[:, numbers].nan_to_num(nan=0.0)]
    for at, feature in enumerate(codec.schema):
        if not isinstance(feature, Continuous):
            codes = rows[:, at].long()
            hot = one_hot(codes.clamp(min=0), len(feature.levels)).double()
            parts.append(hot * (codes >= 0)[:, None])
    return torch.cat(parts, dim=-1)
