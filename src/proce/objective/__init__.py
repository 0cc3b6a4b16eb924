"""What is minimised, and what must hold."""

from proce.objective.distance import FeatureDistance
from proce.objective.limits import Limits, limits_of
from proce.objective.mixed import MixedDistance
from proce.objective.objectives import Counterfactuals, Direction, Mode, directions, gene_map
from proce.objective.prediction import Requirement, askable
from proce.objective.query import Query, pose
from proce.objective.start import GeneMap, Start, genome_of, initial_population

__all__ = [
    "Counterfactuals",
    "Direction",
    "FeatureDistance",
    "GeneMap",
    "Limits",
    "MixedDistance",
    "Mode",
    "Query",
    "Requirement",
    "Start",
    "askable",
    "directions",
    "gene_map",
    "genome_of",
    "initial_population",
    "limits_of",
    "pose",
]
