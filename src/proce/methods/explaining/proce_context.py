"""What all explanations of one call of ProCE share."""

from dataclasses import replace
from numbers import Integral

from proce.explanation import Context
from proce.methods.calls.call import call_context
from proce.methods.calls.options import Options
from proce.methods.searching.terms import SearchTerms


def proce_context(terms: SearchTerms, options: Options) -> Context:
    """Return what all explanations of a call share."""
    fitted = terms.fitted
    graph = fitted.scm.graph if fitted.scm else None
    return replace(
        call_context(
            fitted.codec,
            fitted.classifier,
            options,
            terms.limits,
            terms.requirement,
            fitted.class_labels,
        ),
        edges=graph.edges if graph else (),
        n_graphs=len(fitted.ensemble.members) if fitted.ensemble else 0,
        n_refits=len(fitted.refits.members) if fitted.refits else 0,
        n_models=len(terms.models),
        models_are_refits=isinstance(options.models, Integral | None),
        robust=options.robust,
        origin=str(graph.origin) if graph else None,
        rules=tuple(rule.text for rule, _ in terms.rules),
        spread=fitted.spread,
    )
