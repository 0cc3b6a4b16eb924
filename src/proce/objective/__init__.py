"""What is minimised, and what must hold."""

from proce.objective.distance import FeatureDistance
from proce.objective.limits import CallLimits, Limits
from proce.objective.mixed import MixedDistance
from proce.objective.prediction import Requirement, askable
from proce.objective.problem import CounterfactualProblem, Direction, Mode, directions, gene_map_of
from proce.objective.query import Query, pose
from proce.objective.start import GeneMap, Start, genome_of, initial_population

__all__ = [
    "CallLimits",
    "CounterfactualProblem",
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
    "gene_map_of",
    "genome_of",
    "initial_population",
    "pose",
]
