"""Minimise several losses under constraints, for many instances at once.

Nothing here knows what a loss or a gene stands for.
"""

from proce.errors import SearchError
from proce.search.genome import GeneKind, Genome
from proce.search.nsga2 import Problem, nsga2
from proce.search.result import Archive, SearchCallback, SearchProgress, SearchResult, Stop
from proce.search.settings import NSGA2Settings
from proce.search.survival import Evaluation, Population
from proce.streams import Purpose, RowStreams

__all__ = [
    "Archive",
    "Evaluation",
    "GeneKind",
    "Genome",
    "NSGA2Settings",
    "Population",
    "Problem",
    "Purpose",
    "RowStreams",
    "SearchCallback",
    "SearchError",
    "SearchProgress",
    "SearchResult",
    "Stop",
    "nsga2",
]
