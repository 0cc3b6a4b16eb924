"""The latent space of mixed rows, and prototypes in it."""

from proce.latent.autoencoder import AutoEncoder, Reconstruction
from proce.latent.judges import Judges
from proce.latent.prototype import PrototypeIndex, Prototypes
from proce.latent.training import MAX_WIDTH, AutoEncoderSettings, fit_autoencoder
from proce.latent.variational import (
    VariationalAutoEncoder,
    VariationalSettings,
    fit_variational,
)

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
