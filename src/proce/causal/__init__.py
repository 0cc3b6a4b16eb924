"""What causes what: graphs, equations, and what would follow from an action."""

from proce.causal.actions import Actions
from proce.causal.caveats import DiscoveryWarning
from proce.causal.confidence import Ensemble
from proce.causal.fitting import MechanismRecord
from proce.causal.generate import generate
from proce.causal.graph import CausalGraph, Edge
from proce.causal.mechanism import Additive, Choice, Mechanism, Multiplicative, Ranked
from proce.causal.origin import Origin, PairShares
from proce.causal.resampling import DiscoveryProgress
from proce.causal.scm import StructuralCausalModel

__all__ = [
    "Actions",
    "Additive",
    "CausalGraph",
    "Choice",
    "DiscoveryProgress",
    "DiscoveryWarning",
    "Edge",
    "Ensemble",
    "Mechanism",
    "MechanismRecord",
    "Multiplicative",
    "Origin",
    "PairShares",
    "Ranked",
    "StructuralCausalModel",
    "generate",
]
