"""The latent space of mixed rows, and prototypes in it.

What learns such a space is loaded when it is first used: learning needs PyTorch.
"""

from typing import TYPE_CHECKING

from proce.latent.autoencoder import (
    MAX_WIDTH,
    AutoEncoder,
    AutoEncoderSettings,
    PrototypeIndex,
    Prototypes,
    Reconstruction,
    VariationalAutoEncoder,
    VariationalSettings,
)
from proce.latent.judges import Judges
from proce.lazy import load_on_first_use

if TYPE_CHECKING:
    from proce.latent.training import fit_autoencoder, fit_variational
else:  # a type checker would take every misspelt name for an object
    __getattr__, __dir__ = load_on_first_use(__name__)

__all__ = [
    "MAX_WIDTH",
    "AutoEncoder",
    "AutoEncoderSettings",
    "Judges",
    "PrototypeIndex",
    "Prototypes",
    "Reconstruction",
    "VariationalAutoEncoder",
    "VariationalSettings",
    "fit_autoencoder",
    "fit_variational",
]
