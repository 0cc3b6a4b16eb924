"""What counterfactuals are measured by."""

from proce.metrics.interpretability import Judges
from proce.metrics.proximity import categorical_proximity, continuous_proximity
from proce.metrics.recourse import Recourse, recourse
from proce.metrics.validity import (
    CausalValidity,
    causal_constraint_validity,
    target_class_validity,
)

__all__ = [
    "CausalValidity",
    "Judges",
    "Recourse",
    "categorical_proximity",
    "causal_constraint_validity",
    "continuous_proximity",
    "recourse",
    "target_class_validity",
]
