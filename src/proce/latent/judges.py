"""Whether rows look like a class: IM1 and IM2 (Eqs. 23 and 24).

Three auto-encoders judge a row: that of the rows predicted as the target, that of the rows
predicted as the row's own class, and that of all rows. Those of an evaluation are trained for it
and never shared with an explainer; an explainer that looks for typical rows trains its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from proce.arrays import Array
from proce.latent.autoencoder import AutoEncoder, AutoEncoderSettings
from proce.schema import Codec
from proce.training_settings import TrainingSettings

Norm = Literal["squared", "unsquared"]
# How well a judge rebuilds decides what IM1 and IM2 are: values of other days stay comparable.
JUDGE_TRAINING = TrainingSettings(batch_size=512, learning_rate=5e-3)
_EPSILON = 1e-6  # added to denominators, as printed in the paper


@dataclass(frozen=True, eq=False)
class Judges:
    """The auto-encoders of IM1 and IM2."""

    # For each class, the auto-encoder of the rows predicted as that class
    by_class: tuple[AutoEncoder, ...]
    of_all: AutoEncoder  # the auto-encoder of all rows

    @classmethod
    def fit(
        cls,
        codec: Codec,
        rows: Array,
        predicted: Array,
        n_classes: int,
        *,
        settings: AutoEncoderSettings | None = None,
        seed: int = 10_000,
    ) -> "Judges":
        """Train the judges on training rows ``(n, f)`` and their predicted classes ``(n,)``."""
        # ``settings`` without a ``training`` of their own have :data:`JUDGE_TRAINING`.
        from proce.latent.training import fit_autoencoder

        settings = judge_settings(settings or AutoEncoderSettings())
        parts = [rows[predicted == label] for label in range(n_classes)]
        by_class = [fit_autoencoder(codec, part, settings, seed=seed)[0] for part in parts]
        return cls(tuple(by_class), fit_autoencoder(codec, rows, settings, seed=seed)[0])

    def im1(
        self, rows: Array, target: int | Array, own: int | Array, norm: Norm = "squared"
    ) -> Array:
        """Return IM1 (Eq. 23) of rows ``(i, f)``; lower looks more like the target than before."""
        # IM1 is the error of the target's auto-encoder over that of the own class's. Classes are
        # positions, one for all rows or ``(i,)``. Errors are squared norms; ``norm="unsquared"`` is
        # the authors' variant.
        return self.im1_and_im2(rows, target, own, norm)[0]

    def im2(self, rows: Array, target: int | Array, norm: Norm = "squared") -> Array:
        """Return IM2 (Eq. 24) of rows ``(i, f)``; lower looks more like the data as a whole."""
        # IM2 is the difference of what the target's auto-encoder and that of all rows rebuild, over
        # the norm of the row. Classes and norms are those of :meth:`im1`.
        return self.im1_and_im2(rows, target, target, norm)[1]

    def im1_and_im2(
        self, rows: Array, target: int | Array, own: int | Array, norm: Norm = "squared"
    ) -> tuple[Array, Array]:
        """Return :meth:`im1` and :meth:`im2` of rows."""
        return self.by_norm(rows, target, own, (norm,))[norm]

    def by_norm(
        self,
        rows: Array,
        target: int | Array,
        own: int | Array,
        norms: Sequence[Norm] = get_args(Norm),
    ) -> dict[Norm, tuple[Array, Array]]:
        """Return :meth:`im1_and_im2` in each norm; each auto-encoder is asked once."""
        inputs, common = self.of_all.columns.exact_outputs(rows), _rebuild(self.of_all, rows)
        rebuilt = np.stack([_rebuild(judge, rows) for judge in self.by_class])  # (k, i, w)
        lines, found = np.arange(len(rows)), {}
        for norm in norms:
            errors, gaps = _norm(rebuilt - inputs, norm), _norm(rebuilt - common, norm)  # (k, i)
            im1 = errors[target, lines] / (errors[own, lines] + _EPSILON)
            found[norm] = im1, gaps[target, lines] / (_norm(inputs, norm) + _EPSILON)
        return found


def judge_settings(settings: AutoEncoderSettings) -> AutoEncoderSettings:
    """Return settings under which an auto-encoder learns to judge, not to search in."""
    return settings if settings.training else replace(settings, training=JUDGE_TRAINING)


def _norm(points: Array, norm: Norm) -> Array:
    squared = np.square(points).sum(-1)
    return squared if norm == "squared" else np.sqrt(squared)


def _rebuild(judge: AutoEncoder, rows: Array) -> Array:
    """Return what an auto-encoder makes of rows, as its outputs stand: numbers, then levels."""
    rebuilt = judge.reconstruct(rows)
    columns: list[Array] = [rebuilt.units, *rebuilt.probabilities.values()]
    return np.concatenate(columns, axis=-1, dtype=np.float64)
