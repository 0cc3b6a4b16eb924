"""Do counterfactuals look like the target class (Eqs. 23 and 24)?

Three auto-encoders judge: of the rows predicted as the target, of those predicted as the row's
own class, and of all. They are trained by whoever measures, never shared with an explainer.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from proce.latent import AutoEncoder, AutoEncoderSettings, fit_autoencoder
from proce.schema import Codec, Continuous

Norm = Literal["squared", "unsquared"]
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

    def im1(
        self, rows: Tensor, target: int | Tensor, own: int | Tensor, norm: Norm = "squared"
    ) -> Tensor:
        """Return IM1 (Eq. 23) of rows ``(i, f)``; lower looks more like the target than before.

        The error of the target's auto-encoder over that of the own class's. Classes are positions,
        one for all rows or ``(i,)``. Errors are squared norms; ``norm="unsquared"`` is the
        authors' variant.
        """
        shown = _spread(self.of_all.codec, rows)
        errors = [_size(_rebuilt(each, rows) - shown, norm) for each in self.by_class]
        return _picked(errors, target) / (_picked(errors, own) + _LEAST)

    def im2(self, rows: Tensor, target: int | Tensor, norm: Norm = "squared") -> Tensor:
        """Return IM2 (Eq. 24) of rows ``(i, f)``; lower looks more like the data as a whole.

        The difference of what the target's auto-encoder and that of all rows make of them, over
        the norm of the row; otherwise as :meth:`im1`.
        """
        whole = _rebuilt(self.of_all, rows)
        apart = [_size(_rebuilt(each, rows) - whole, norm) for each in self.by_class]
        return _picked(apart, target) / (_size(_spread(self.of_all.codec, rows), norm) + _LEAST)


def _size(points: Tensor, norm: Norm) -> Tensor:
    squared = points.square().sum(-1)
    return squared if norm == "squared" else squared.sqrt()


def _picked(by_class: list[Tensor], which: int | Tensor) -> Tensor:
    """Return for each row the value of its class."""
    return torch.stack(by_class)[which, torch.arange(len(by_class[0]))]


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
