"""What causes what: graphs, equations, and what would follow from an action."""

from proce.causal.discovery.caveats import DiscoveryWarning
from proce.causal.discovery.resampling import DiscoveryProgress
from proce.causal.graph import CausalGraph, Edge
from proce.causal.graphs.origin import Origin, PairShares
from proce.causal.models.actions import Actions
from proce.causal.models.ensemble import Ensemble
from proce.causal.models.fitting import MechanismRecord
from proce.causal.models.generate import generate
from proce.causal.models.mechanism import Additive, Choice, Mechanism, Multiplicative, Ranked
from proce.causal.models.scm import StructuralCausalModel

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
