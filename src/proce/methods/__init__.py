"""ProCE, seven published methods, and what all of them offer.

The names below are loaded when first used, so that a part of a method loads without the others.
"""

from typing import TYPE_CHECKING

from proce.lazy import load_on_first_use

if TYPE_CHECKING:
    from proce.methods.calls.method import Method, Progress, progress_bar
    from proce.methods.fitting.settings import SearchSettings
    from proce.methods.proce import ProCE
    from proce.methods.published.cchvae import Cchvae, CchvaeSettings
    from proce.methods.published.certifai import Certifai, CertifaiSettings
    from proce.methods.published.dice.dice import Dice, DiceSettings
    from proce.methods.published.face import Face, FaceSettings
    from proce.methods.published.growing_spheres import GrowingSpheres, GrowingSpheresSettings
    from proce.methods.published.nearest import Nearest, NearestSettings
    from proce.methods.published.wachter import Wachter, WachterSettings
    from proce.methods.what_if import WhatIf
else:  # a type checker would take every misspelt name for an object
    __getattr__, __dir__ = load_on_first_use(__name__)

__all__ = [
    "Cchvae",
    "CchvaeSettings",
    "Certifai",
    "CertifaiSettings",
    "Dice",
    "DiceSettings",
    "Face",
    "FaceSettings",
    "GrowingSpheres",
    "GrowingSpheresSettings",
    "Method",
    "Nearest",
    "NearestSettings",
    "ProCE",
    "Progress",
    "SearchSettings",
    "Wachter",
    "WachterSettings",
    "WhatIf",
    "progress_bar",
]
