"""What causes what: graphs, equations, and what would follow from an action.

The names below are loaded when first used: reading a graph needs neither discovery nor scipy.
"""

from typing import TYPE_CHECKING

from proce.lazy import load_on_first_use

if TYPE_CHECKING:
    from proce.causal.discovery.caveats import DiscoveryWarning
    from proce.causal.discovery.resampling import DiscoveryProgress
    from proce.causal.equations.fitting import MechanismRecord
    from proce.causal.equations.mechanism import (
        Additive,
        Choice,
        Mechanism,
        Multiplicative,
        Ordered,
        Ranked,
        generate,
    )
    from proce.causal.graph import CausalGraph, PairShares
    from proce.causal.graphs.dag import Edge, Origin
    from proce.causal.graphs.features import cut_sentence
    from proce.causal.models.ensemble import Ensemble
    from proce.causal.models.propagation import Actions
    from proce.causal.models.scm import StructuralCausalModel
else:  # a type checker would take every misspelt name for an object
    __getattr__, __dir__ = load_on_first_use(__name__)

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
    "Ordered",
    "Origin",
    "PairShares",
    "Ranked",
    "StructuralCausalModel",
    "cut_sentence",
    "generate",
]
