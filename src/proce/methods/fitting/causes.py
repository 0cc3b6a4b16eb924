"""What depends on the graph, the causal mode and the rules: fitted again for another graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proce.arrays import Array
from proce.causal import CausalGraph, Ensemble, StructuralCausalModel
from proce.errors import GraphError, did_you_mean
from proce.methods.calls.explain_options import checked_texts
from proce.methods.calls.rules import BoundRule, bind_rules, refuse_contradiction
from proce.methods.fitting.fitted import FittedParts
from proce.methods.fitting.modes import fit_refits, resolve_mode
from proce.methods.fitting.settings import SearchSettings
from proce.objective import Mode
from proce.schema import Codec


@dataclass(frozen=True, eq=False)
class CausalParts:
    """The fields of :class:`~proce.methods.fitting.fitted.FittedParts` of the same names."""

    scm: StructuralCausalModel | None
    ensemble: Ensemble | None
    refits: Ensemble | None
    mode: Mode
    rules: tuple[BoundRule, ...]

    @classmethod
    def fit(
        cls,
        graph: Any,
        causal: str,
        rules: Sequence[str],
        *,
        codec: Codec,
        rows: Array,
        settings: SearchSettings,
        seed: int,
    ) -> "CausalParts":
        """Fit the equations of a graph and their refits, and bind the rules to them.

        Parameters
        ----------
        graph, causal, rules
            As for :class:`proce.ProCE`.
        codec, rows
            The features, and the training rows ``(n, f)``.
        settings, seed
            The settings and the seed of the explainer.
        """
        scm, ensemble = _fit_equations(graph, codec, rows, seed)
        mode = resolve_mode(causal, scm)
        bound = bind_rules(checked_texts("rules", rules), codec, rows, scm, seed)
        refuse_contradiction(bound, rows)
        return cls(
            scm=scm if mode != "off" else None,
            ensemble=ensemble if mode != "off" else None,
            refits=fit_refits(scm, rows, mode, settings.n_refits, seed),
            mode=mode,
            rules=bound,
        )


def with_graph(fitted: FittedParts, graph: Any, causal: str, rules: Sequence[str]) -> FittedParts:
    """Return fitted parts with another graph; all that does not depend on it is shared.

    Parameters
    ----------
    fitted
        What was fitted with some graph, or with none.
    graph, causal, rules
        As for :class:`proce.ProCE`.
    """
    is_given = isinstance(graph, StructuralCausalModel) and not graph.records
    if fitted.left_out is not None and graph is not None and not is_given:
        raise GraphError(
            "the explainer was saved without the training rows that the equations of a graph are"
            " fitted on. Save it with rows=True, or fit one with this graph."
        )
    parts = CausalParts.fit(
        graph,
        causal,
        rules,
        codec=fitted.codec,
        rows=fitted.rows,
        settings=fitted.settings,
        seed=fitted.seed,
    )
    return fitted.with_causes(**vars(parts))


def _fit_equations(
    graph: Any, codec: Codec, rows: Array, seed: int
) -> tuple[StructuralCausalModel | None, Ensemble | None]:
    """Return the causal model of what was given as a graph, and one for each bootstrap graph."""
    if graph is None:
        return None, None
    if isinstance(graph, StructuralCausalModel):
        given = graph.with_codec(codec)
        given.check_given(rows)
        return given, None
    if isinstance(graph, str):
        if graph != "discover":
            raise GraphError(
                f"graph is {graph!r}; expected 'discover', a CausalGraph, edges (cause, effect), a"
                " networkx.DiGraph, a StructuralCausalModel or None."
                + did_you_mean(graph, ["discover"])
            )
        accepted = CausalGraph.discover(codec.decode(rows), codec.schema, seed=seed)
    else:
        accepted = CausalGraph.accept(graph)
    scm = StructuralCausalModel.fit(accepted, rows, codec, seed=seed)
    ensemble = None
    if accepted.resamples:
        ensemble = Ensemble.fit(accepted.resamples, rows, codec, seed=seed)
    return scm, ensemble
