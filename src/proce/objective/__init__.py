"""What is minimised, and what must hold."""

from proce.losses import prediction_loss
from proce.objective.distance import FeatureDistance, Mode
from proce.objective.doubt import (
    Doubt,
    EquationDoubt,
    ModelDoubt,
    chance_of,
)
from proce.objective.effects import EffectPredictor, effect_predictors, fit_effect, has_causes
from proce.objective.genes import GeneMap, Start, gene_map_of, genome_of, initial_population
from proce.objective.likeness import Likeness
from proce.objective.limits import CallLimits, Limits, Requirement
from proce.objective.problem import CounterfactualProblem
from proce.objective.query import Query, clamp_for_model, pose_query
from proce.objective.waiting import Clock

__all__ = [
    "CallLimits",
    "Clock",
    "CounterfactualProblem",
    "Doubt",
    "EffectPredictor",
    "EquationDoubt",
    "FeatureDistance",
    "GeneMap",
    "Likeness",
    "Limits",
    "Mode",
    "ModelDoubt",
    "Query",
    "Requirement",
    "Start",
    "chance_of",
    "clamp_for_model",
    "effect_predictors",
    "fit_effect",
    "gene_map_of",
    "genome_of",
    "has_causes",
    "initial_population",
    "pose_query",
    "prediction_loss",
]
