"""What causes what: graphs, equations, and what would follow from an action.

The names below are loaded when first used: reading a graph needs neither discovery nor scipy.
"""

from typing import TYPE_CHECKING

from proce.lazy import loader as _loader

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

_LOCATIONS = {
    "Actions": "proce.causal.models.propagation",
    "Additive": "proce.causal.equations.mechanism",
    "CausalGraph": "proce.causal.graph",
    "Choice": "proce.causal.equations.mechanism",
    "DiscoveryProgress": "proce.causal.discovery.resampling",
    "DiscoveryWarning": "proce.causal.discovery.caveats",
    "Edge": "proce.causal.graphs.dag",
    "Ensemble": "proce.causal.models.ensemble",
    "Mechanism": "proce.causal.equations.mechanism",
    "MechanismRecord": "proce.causal.equations.fitting",
    "Multiplicative": "proce.causal.equations.mechanism",
    "Ordered": "proce.causal.equations.mechanism",
    "Origin": "proce.causal.graphs.dag",
    "PairShares": "proce.causal.graph",
    "Ranked": "proce.causal.equations.mechanism",
    "StructuralCausalModel": "proce.causal.models.scm",
    "cut_sentence": "proce.causal.graphs.features",
    "generate": "proce.causal.equations.mechanism",
}


if not TYPE_CHECKING:  # a type checker would take every misspelt name for an object
    __getattr__ = _loader(__name__, _LOCATIONS)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOCATIONS})
