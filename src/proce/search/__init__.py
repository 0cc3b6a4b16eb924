"""Minimise several losses under constraints, for many instances at once.

Nothing here knows what a loss or a gene stands for.
"""

from proce.compiled.streams import Purpose, RowStreams
from proce.search.genome import GeneKind, Genome
from proce.search.nsga2 import SearchProgress, SearchResult, Stop, nsga2
from proce.search.settings import NSGA2Settings
from proce.search.survival import Evaluation

__all__ = [
    "Evaluation",
    "GeneKind",
    "Genome",
    "NSGA2Settings",
    "Purpose",
    "RowStreams",
    "SearchProgress",
    "SearchResult",
    "Stop",
    "nsga2",
]
