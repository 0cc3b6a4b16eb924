"""The scale of all features of a codec: what is shown of it, and where outliers begin."""

import numpy as np

from proce.arrays import Array
from proce.schema.codec import Codec
from proce.schema.features.feature import Continuous
from proce.schema.scale import FeatureScale
from proce.schema.schema import Schema

_BEYOND = 0.5  # of the unit range: farther outside lie the outliers


def scales_of(codec: Codec) -> dict[str, FeatureScale]:
    """Return the scale of every number of a codec, by name."""
    names = ("low", "span", "seen_low", "seen_high", "resolution", "may_miss")
    columns = zip(*(getattr(codec, name).tolist() for name in names), strict=True)
    return {
        feature.name: FeatureScale(*values)
        for feature, values in zip(codec.schema, columns, strict=True)
        if isinstance(feature, Continuous)
    }


def with_scales(codec: Codec) -> Schema:
    """Return the schema of a codec with the scale of every number, to be printed."""
    return Schema(codec.schema.features, scales=scales_of(codec), notes=codec.schema.notes)


def bulk_ends(codec: Codec) -> Array:
    """Return the entries ``(2, f)`` between which values are learned from.

    They lie half a range outside of the unit range, and are infinite for levels and for numbers
    without any value out there.
    """
    far = codec.is_number & ((codec.lowest < -_BEYOND) | (codec.highest > 1 + _BEYOND))
    low, high = np.where(far, -_BEYOND, -np.inf), np.where(far, 1 + _BEYOND, np.inf)
    return np.stack([low, high]).astype(np.float64)
