"""The equations that rules such as ``a, b ~> v`` need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proce.arrays import Array
from proce.causal import CausalGraph, StructuralCausalModel
from proce.schema import Codec, Rule


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
    if scm is None or not has_causes(scm.graph, causes, effect):
        scm = fit(rule)
    return {effect: EffectPredictor(scm, effect)}


def has_causes(graph: CausalGraph, causes: Sequence[str], effect: str) -> bool:
    """Whether a graph has all of these causes of an effect."""
    return effect in graph.endogenous and set(causes) <= set(graph.parents(effect))


def fit_effect(
    causes: Sequence[str], effect: str, rows: Array, codec: Codec, seed: int
) -> StructuralCausalModel:
    """Return the equation of one effect, fitted on training rows ``(n, f)``."""
    graph = CausalGraph([(cause, effect) for cause in causes])
    return StructuralCausalModel.fit(graph, rows, codec, seed=seed)


@dataclass(frozen=True, eq=False)
class EffectPredictor:
    """Predicts a feature from its causes in rows ``(…, f)``, on the unit range."""

    scm: StructuralCausalModel  # the causal model that has the feature's equation
    name: str  # the name of the feature

    def __call__(self, rows: Array) -> Array:
        """Return the prediction ``(…)``."""
        codec = self.scm.codec
        reach = codec.reach[codec.schema.position(self.name)].item()
        return self.scm.predict(self.name, rows) / reach
