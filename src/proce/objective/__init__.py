"""What is minimised, and what must hold."""

from proce.losses import prediction_loss
from proce.objective.distance import FeatureDistance, Mode
from proce.objective.effects import EffectPredictor, effect_predictors, fit_effect, has_causes
from proce.objective.genes import GeneMap, Start, gene_map_of, genome_of, initial_population
from proce.objective.instances import InstanceBatch
from proce.objective.likeness import Likeness
from proce.objective.limits import CallLimits, Limits, Requirement
from proce.objective.problem import CounterfactualProblem
from proce.objective.uncertainty import (
    EquationUncertainty,
    ModelUncertainty,
    UncertaintySet,
    judge_draws,
)
from proce.objective.waiting import Clock

__all__ = [
    "CallLimits",
    "Clock",
    "CounterfactualProblem",
    "EffectPredictor",
    "EquationUncertainty",
    "FeatureDistance",
    "GeneMap",
    "InstanceBatch",
    "Likeness",
    "Limits",
    "Mode",
    "ModelUncertainty",
    "Requirement",
    "Start",
    "UncertaintySet",
    "effect_predictors",
    "fit_effect",
    "gene_map_of",
    "genome_of",
    "has_causes",
    "initial_population",
    "judge_draws",
    "prediction_loss",
]
