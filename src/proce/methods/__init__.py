"""ProCE, seven published methods, and what all of them offer.

The names below are loaded when first used, so that a part of a method loads without the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proce.methods.calls.method import Method, Progress
    from proce.methods.calls.progress_bar import progress_bar
    from proce.methods.explaining.what_if import WhatIf
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
    "Cchvae": "published.cchvae",
    "CchvaeSettings": "published.cchvae",
    "Certifai": "published.certifai",
    "CertifaiSettings": "published.certifai",
    "Dice": "published.dice.dice",
    "DiceSettings": "published.dice.dice",
    "Face": "published.face.face",
    "FaceSettings": "published.face.graph",
    "GrowingSpheres": "published.growing_spheres",
    "GrowingSpheresSettings": "published.growing_spheres",
    "Method": "calls.method",
    "Nearest": "published.nearest",
    "NearestSettings": "published.nearest",
    "ProCE": "proce",
    "Progress": "calls.method",
    "SearchSettings": "fitting.settings",
    "Wachter": "published.wachter.wachter",
    "WachterSettings": "published.wachter.wachter",
    "WhatIf": "explaining.what_if",
    "progress_bar": "calls.progress_bar",
}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object

    def __getattr__(name: str) -> object:
        if name not in _LOCATIONS:
            raise AttributeError(f"module 'proce.methods' has no attribute {name!r}")
        value = getattr(import_module(f"proce.methods.{_LOCATIONS[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOCATIONS})
