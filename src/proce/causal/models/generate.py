"""Draw rows from known equations."""

from collections.abc import Mapping

from torch import Tensor

from proce.causal.equations.mechanism import Mechanism, Parents
from proce.causal.graph import CausalGraph
from proce.schema import Continuous, Schema


def generate(
    graph: CausalGraph,
    mechanisms: Mapping[str, Mechanism],
    schema: Schema,
    roots: Parents,
    noise: Mapping[str, Tensor],
) -> dict[str, Tensor]:
    """Return all features in raw units, from those of the roots and the noise of the others.

    Numbers are rounded to their step as they arise, so effects follow from what is shown.
    """
    values: dict[str, Tensor] = {}
    for name in graph.order:
        if name in mechanisms:
            parents = {cause: values[cause] for cause in graph.parents(name)}
            values[name] = mechanisms[name].respond(parents, noise[name])
        else:
            values[name] = roots[name]
        feature = schema[name]
        if isinstance(feature, Continuous) and feature.step is not None:
            values[name] = (values[name] / feature.step).round() * feature.step
    return values
