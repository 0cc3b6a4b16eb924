"""The equations that rules such as ``a, b ~> v`` need."""

from collections.abc import Callable
from dataclasses import dataclass

from proce.arrays import Array
from proce.causal import StructuralCausalModel
from proce.schema import Rule


def effect_predictors(
    rule: Rule, scm: StructuralCausalModel | None, fit: Callable[[Rule], StructuralCausalModel]
) -> dict[str, Callable[[Array], Array]]:
    """Return what predicts the effect v of a rule ``a, b ~> v``, by the name of v.

    The equation is that of the causal model where the named causes are among v's parents, and
    else one that ``fit`` fits on the named causes. Other rules need no equation.
    """
    if rule.dependence is None:
        return {}
    causes, effect = rule.dependence
    known = scm is not None and effect in scm.graph.endogenous
    if scm is None or not known or not set(causes) <= set(scm.graph.parents(effect)):
        scm = fit(rule)
    return {effect: EffectPredictor(scm, effect)}


@dataclass(frozen=True, eq=False)
class EffectPredictor:
    """Predicts a feature from its causes in rows ``(…, f)``, on the unit range.

    Attributes
    ----------
    scm
        The causal model that has the feature's equation.
    name
        The name of the feature.
    """

    scm: StructuralCausalModel
    name: str

    def __call__(self, rows: Array) -> Array:
        """Return the prediction ``(…)``."""
        codec = self.scm.codec
        reach = codec.reach[codec.schema.position(self.name)].item()
        return self.scm.predict(self.name, rows) / reach
