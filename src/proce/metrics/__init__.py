"""What counterfactuals are measured by."""

from proce.latent import Judges
from proce.metrics.evaluation import MEASURES, Evaluation, Measure, evaluate
from proce.metrics.neighbourhood import Neighbourhood
from proce.metrics.proximity import categorical_proximity, continuous_proximity
from proce.metrics.recourse import Recourse, recourse
from proce.metrics.validity import (
    CausalValidity,
    bootstrap_refits,
    causal_constraint_validity,
    target_class_validity,
)

__all__ = [
    "MEASURES",
    "CausalValidity",
    "Evaluation",
    "Judges",
    "Measure",
    "Neighbourhood",
    "Recourse",
    "bootstrap_refits",
    "categorical_proximity",
    "causal_constraint_validity",
    "continuous_proximity",
    "evaluate",
    "recourse",
    "target_class_validity",
]
