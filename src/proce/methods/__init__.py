"""ProCE, and what every method offers."""

from proce.methods.bar import progress_bar
from proce.methods.cchvae import Cchvae, CchvaeSettings
from proce.methods.certifai import Certifai, CertifaiSettings
from proce.methods.dice import Dice, DiceSettings
from proce.methods.face import Face
from proce.methods.face_graph import FaceSettings
from proce.methods.growing_spheres import GrowingSpheres, GrowingSpheresSettings
from proce.methods.method import Method, Progress
from proce.methods.nearest import Nearest, NearestSettings
from proce.methods.proce import ProCE
from proce.methods.settings import SearchSettings
from proce.methods.wachter import Wachter, WachterSettings
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
