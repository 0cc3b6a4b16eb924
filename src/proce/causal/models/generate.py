"""Draw rows from known equations."""

from collections.abc import Mapping

from proce.arrays import Array
from proce.causal.equations.mechanism import (
    Mechanism,
)
from proce.causal.equations.terms import Parents
from proce.causal.graph import CausalGraph
from proce.schema import Schema
from proce.schema.codec import on_step


def generate(
    graph: CausalGraph,
    mechanisms: Mapping[str, Mechanism],
    schema: Schema,
    roots: Parents,
    noise: Mapping[str, Array],
) -> dict[str, Array]:
    """Return all features in raw units, from those of the roots and the noise of the others.

    Numbers are rounded to their step as they arise, so effects follow from what is shown. Rows on
    the unit range, which a causal model follows, come later: their scale is that of what is drawn.
    """
    values: dict[str, Array] = {}
    for name in graph.order:
        if name in mechanisms:
            parents = {cause: values[cause] for cause in graph.parents(name)}
            value = mechanisms[name].respond(parents, noise[name])
        else:
            value = roots[name]
        values[name] = on_step(schema[name], value)
    return values
