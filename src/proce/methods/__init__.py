"""ProCE, seven published methods, and what all of them offer.

The names below are loaded when first used, so that a part of a method loads without the others.
"""

from typing import TYPE_CHECKING

from proce.lazy import loader as _loader

if TYPE_CHECKING:
    from proce.methods.calls.method import Method, Progress, progress_bar
    from proce.methods.fitting.settings import SearchSettings
    from proce.methods.proce import ProCE
    from proce.methods.published.cchvae import Cchvae, CchvaeSettings
    from proce.methods.published.certifai import Certifai, CertifaiSettings
    from proce.methods.published.dice.dice import Dice, DiceSettings
    from proce.methods.published.face.face import Face
    from proce.methods.published.face.graph import FaceSettings
    from proce.methods.published.growing_spheres import GrowingSpheres, GrowingSpheresSettings
    from proce.methods.published.nearest import Nearest, NearestSettings
    from proce.methods.published.wachter.wachter import Wachter, WachterSettings
    from proce.methods.what_if import WhatIf

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

_LOCATIONS = {
    "Cchvae": "proce.methods.published.cchvae",
    "CchvaeSettings": "proce.methods.published.cchvae",
    "Certifai": "proce.methods.published.certifai",
    "CertifaiSettings": "proce.methods.published.certifai",
    "Dice": "proce.methods.published.dice.dice",
    "DiceSettings": "proce.methods.published.dice.dice",
    "Face": "proce.methods.published.face.face",
    "FaceSettings": "proce.methods.published.face.graph",
    "GrowingSpheres": "proce.methods.published.growing_spheres",
    "GrowingSpheresSettings": "proce.methods.published.growing_spheres",
    "Method": "proce.methods.calls.method",
    "Nearest": "proce.methods.published.nearest",
    "NearestSettings": "proce.methods.published.nearest",
    "ProCE": "proce.methods.proce",
    "Progress": "proce.methods.calls.method",
    "SearchSettings": "proce.methods.fitting.settings",
    "Wachter": "proce.methods.published.wachter.wachter",
    "WachterSettings": "proce.methods.published.wachter.wachter",
    "WhatIf": "proce.methods.what_if",
    "progress_bar": "proce.methods.calls.method",
}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object
    __getattr__ = _loader(__name__, _LOCATIONS)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOCATIONS})
