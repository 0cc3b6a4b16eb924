"""What causes what: graphs, equations, and what would follow from an action."""

from proce.causal.actions import Actions
from proce.causal.confidence import Ensemble
from proce.causal.fitting import MechanismRecord
from proce.causal.generate import generate
from proce.causal.graph import CausalGraph, Edge
from proce.causal.mechanism import Additive, Choice, Mechanism, Multiplicative, Ranked
from proce.causal.scm import StructuralCausalModel

__all__ = [
    "Actions",
    "Additive",
    "CausalGraph",
    "Choice",
    "Edge",
    "Ensemble",
    "Mechanism",
    "MechanismRecord",
    "Multiplicative",
    "Ranked",
    "StructuralCausalModel",
    "generate",
]
