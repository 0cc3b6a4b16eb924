"""Every measure that :func:`proce.evaluate` knows: which way is better, and what it needs."""

import math
from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of counterfactuals, as ``docs/metrics.md`` explains it.

    Attributes
    ----------
    name
        The name of the measure in the frame and the summary of an evaluation.
    better
        Which way is better.
    missing
        What a row without a counterfactual counts as; NaN where the measure is then not defined.
    needs
        What must be given for the measure, in words.
    per
        Whether the measure is of one counterfactual, or of all those of a row together.
    """

    name: str
    better: Better
    missing: float
    needs: str
    per: Literal["counterfactual", "row"] = "counterfactual"


_UNDEFINED = math.nan
_ANYTHING = "nothing but the result"
_RULES = "rules="
_STRICT = "rules=, and truth=, train= or an equation in graph= for each effect of a rule with ~>"
_TRAIN = "train=, and a schema with numbers"
_ROWS = "model= and train=, or neighbourhood="
_JUDGES = "judges=proce.metrics.Judges.fit(...)"
_CHOICE = "more than one counterfactual for some row: explain(..., n=4)"
_TRUTH = "model= and truth="

MEASURES = (
    Measure("target_class_validity", "higher", 0.0, "model="),
    Measure("causal_constraint_validity", "higher", 0.0, _RULES),
    Measure("causal_constraint_triggered", "neither", 0.0, _RULES),
    Measure("causal_constraint_satisfied", "higher", _UNDEFINED, _RULES),
    Measure("strict_constraint_validity", "higher", 0.0, _STRICT),
    Measure("strict_constraint_triggered", "neither", 0.0, _STRICT),
    Measure("strict_constraint_satisfied", "higher", _UNDEFINED, _STRICT),
    Measure("categorical_proximity", "higher", _UNDEFINED, "a schema with levels"),
    Measure("continuous_proximity", "higher", _UNDEFINED, "a schema with numbers"),
    Measure("sparsity", "lower", _UNDEFINED, _ANYTHING),
    Measure("n_actions", "lower", _UNDEFINED, _ANYTHING),
    Measure("gower_distance", "lower", _UNDEFINED, _ANYTHING),
    Measure("robust_distance", "lower", _UNDEFINED, "train="),
    Measure("mad_l1", "lower", _UNDEFINED, _TRAIN),
    Measure("im1", "lower", _UNDEFINED, _JUDGES),
    Measure("im2", "lower", _UNDEFINED, _JUDGES),
    Measure("im1_unsquared", "lower", _UNDEFINED, _JUDGES),
    Measure("im2_unsquared", "lower", _UNDEFINED, _JUDGES),
    Measure("nearest_target_row", "lower", _UNDEFINED, _ROWS),
    Measure("local_outlier_factor", "lower", _UNDEFINED, _ROWS),
    Measure("diversity", "higher", 0.0, _CHOICE, "row"),
    Measure("features_touched", "higher", 0.0, _CHOICE, "row"),
    Measure("recourse_success", "higher", 0.0, _TRUTH),
    Measure("broken_promises", "lower", _UNDEFINED, _TRUTH),
    Measure("actionable_success", "higher", 0.0, _TRUTH),
    Measure("actionable_broken_promises", "lower", _UNDEFINED, _TRUTH),
    Measure("action_cost", "lower", _UNDEFINED, "truth="),
    Measure("within_limits", "higher", 0.0, "recourse_schema="),
    Measure("robustness", "higher", 0.0, "refits=, models trained again"),
)
