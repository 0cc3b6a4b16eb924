"""What classes look like, in the arrays of a saved explainer."""

import numpy as np

from proce.arrays import Array
from proce.errors import PersistenceError
from proce.latent import AutoEncoder
from proce.methods.fitting.typical import N_LOOKS, ClassLooks
from proce.schema import Codec

_PREFIX = "looks"
_ALL = "all"


def looks_arrays(looks: ClassLooks) -> dict[str, Array]:
    """Return the weights of all auto-encoders that were learned, by name."""
    learned = {_ALL: looks.of_all, **{str(label): own for label, own in looks.by_class.items()}}
    return {
        f"{_PREFIX}.{label}.{number}.{name}": weight
        for label, autoencoders in learned.items()
        for number, autoencoder in enumerate(autoencoders)
        for name, weight in autoencoder.weights.items()
    }


def load_looks(arrays: dict[str, Array], codec: Codec, n_classes: int) -> ClassLooks:
    """Return what had been learned; nothing where the explainer was never asked for it."""
    weights: dict[tuple[str, str], dict[str, Array]] = {}
    for key, weight in arrays.items():
        if key.startswith(f"{_PREFIX}."):
            _, label, number, name = key.split(".", 3)
            weights.setdefault((label, number), {})[name] = weight
    labels = {label for label, _ in weights}
    expected = {(label, str(number)) for label in labels for number in range(N_LOOKS)}
    sound = weights.keys() == expected and labels <= {_ALL, *map(str, range(n_classes))}
    sound = sound and (not labels or _ALL in labels)
    floats = all(part.dtype == np.float32 for own in weights.values() for part in own.values())
    if not sound or not floats:
        raise PersistenceError("what the classes look like is damaged.")
    learned = {
        label: [
            AutoEncoder.of_weights(codec.by_range, weights[label, str(number)])
            for number in range(N_LOOKS)
        ]
        for label in labels
    }
    of_all = learned.pop(_ALL, [])
    return ClassLooks(of_all, {int(label): own for label, own in learned.items()})
