"""What sentences need to know of an explainer where there is no result."""

from proce.explanation import Context
from proce.methods.fitting.fitted import FittedParts


def context_of(fitted: FittedParts) -> Context:
    """Return what the explanations of an explainer share, but for the options of a call."""
    graph = None if fitted.scm is None else fitted.scm.graph
    return Context(
        fitted.codec,
        fitted.classifier.classes,
        (),
        edges=() if graph is None else graph.edges,
        origin=None if graph is None else str(graph.origin),
        class_labels=fitted.class_labels,
    )
