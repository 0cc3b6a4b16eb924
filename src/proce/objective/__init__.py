"""What is minimised, and what must hold."""

from proce.objective.distance import FeatureDistance, Mode
from proce.objective.doubts.doubt import (
    Doubt,
    EquationDoubt,
    ModelDoubt,
    chance_among,
    chance_of,
)
from proce.objective.effects import EffectPredictor, effect_predictors, fit_effect, has_causes
from proce.objective.likeness import Likeness
from proce.objective.limits import CallLimits, Limits
from proce.objective.prediction import clamp_for_model, prediction_loss
from proce.objective.problem import CounterfactualProblem, RunningProblem
from proce.objective.query import Query, pose_query
from proce.objective.requirement import Requirement
from proce.objective.start import GeneMap, Start, gene_map_of, genome_of, initial_population
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
    "RunningProblem",
    "Start",
    "chance_among",
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
