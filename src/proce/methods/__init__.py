"""ProCE, seven published methods, and what all of them offer."""

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
