"""The arrays of a saved explainer."""

import numpy as np

from proce.arrays import Array
from proce.causal.models.saved import SavedCauses
from proce.classifier.adapters.probe import probe_rows
from proce.classifier.skops_files import estimator_bytes
from proce.methods.fitting.fitted import FittedParts
from proce.methods.saving.looks import looks_arrays


def fitted_arrays(fitted: FittedParts, causes: SavedCauses, *, rows: bool) -> dict[str, Array]:
    """Return everything of fitted parts that is kept as an array, by name."""
    codec = fitted.codec
    latents, predicted = fitted.index.members
    arrays = {
        "codec.low": codec.low,
        "codec.span": codec.span,
        "codec.may_miss": codec.may_miss,
        "codec.seen_low": codec.seen_low,
        "codec.seen_high": codec.seen_high,
        "codec.resolution": codec.resolution,
        "latents": latents,
        "predicted": predicted,
        "answers": fitted.classifier.predict_proba(probe_rows(codec)),
        **{f"autoencoder.{name}": weight for name, weight in fitted.autoencoder.weights.items()},
        **looks_arrays(fitted.looks),
        **{f"equation.{number}": weights for number, weights in causes.weights.items()},
    }
    for number, model in causes.estimators.items():
        arrays[f"trees.{number}"] = np.frombuffer(estimator_bytes(model), dtype=np.uint8).copy()
    if rows and fitted.left_out is None:
        arrays["rows"] = fitted.rows
    return arrays
