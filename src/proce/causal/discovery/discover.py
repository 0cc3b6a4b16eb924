"""Propose a causal graph from data, and say what it cannot know.

The only module that imports causal-learn, which has PC and GES. DirectLiNGAM is our own
(:mod:`proce.causal.discovery.lingam`): causal-learn's reads a forbidden edge as a forbidden path.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from proce.causal.discovery.caveats import DiscoveryWarning, Findings, caveats, refuse_equal
from proce.causal.discovery.duration import advice, seconds_of_lingam, seconds_of_search
from proce.causal.discovery.equivalence import best_scoring, directed_by_separators
from proce.causal.discovery.knowledge import Knowledge
from proce.causal.discovery.lingam import lingam
from proce.causal.discovery.resampling import (
    DiscoveryCallback,
    DiscoveryProgress,
    Found,
    n_processes,
    resampled,
)
from proce.causal.discovery.rows import Numbers, complete_rows, standardised
from proce.causal.graphs.edges import Edge
from proce.causal.graphs.origin import Origin
from proce.errors import GraphError, did_you_mean
from proce.schema import Schema

if TYPE_CHECKING:
    from proce.causal.graph import CausalGraph

ALPHAS = {"direct_lingam": 0.001, "pc": 0.01, "ges": None}


def discover(
    frame: Any,
    schema: Schema | None = None,
    *,
    algorithm: str = "direct_lingam",
    tiers: Sequence[Iterable[str]] | None = None,
    required: Iterable[Edge] = (),
    forbidden: Iterable[Edge] = (),
    alpha: float | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    n_jobs: int = 1,
    progress: DiscoveryCallback | None = None,
) -> "CausalGraph":
    """Propose a graph from data; a person has to judge it.

    What the algorithm cannot know from these rows is issued as a ``DiscoveryWarning``
    and kept in ``graph.origin.warnings``. Every algorithm assumes that nothing unmeasured
    causes two of the features.

    Parameters
    ----------
    frame
        Rows of the features, and of nothing else where no schema is given. Rows with
        missing values are left out. Ordinal levels count by rank, categorical ones by
        their place in the list of levels.
    schema
        Which columns are features; inferred from the frame where it is ``None``.
    algorithm
        ``"direct_lingam"``: linear equations with noise that is not Gaussian; directs every
        edge. ``"pc"``: tests of conditional independence. ``"ges"``: the best score. The
        last two leave undirected what the data cannot decide.
    tiers
        Groups of names, earlier ones first: no feature is a consequence, however indirect,
        of one in a later group. A feature in no group may stand anywhere.
    required, forbidden
        Edges ``(cause, effect)`` that are there, and that are not; a forbidden edge may
        still be an indirect influence.
    alpha
        The level of PC's tests (0.01), and of the t-tests by which DirectLiNGAM keeps an
        edge (0.001). GES takes none: it weighs by the BIC.
    bootstrap
        The number of resamples from which the confidence of edges is counted; 50 tell 90%
        from 75%.
    seed
        Of the resamples; the same whatever ``n_jobs``.
    n_jobs
        Processes for the resamples; -1 for as many as there are processors.
    progress
        Called with a ``DiscoveryProgress`` after each search. Returning False, or
        Ctrl-C, ends the bootstrap and keeps what is done.

    Returns
    -------
    CausalGraph
        Over the schema's features, with ``origin``, ``undirected``, and where there was a
        bootstrap ``confidence``, ``resamples`` and ``shares``.
    """
    _check_settings(algorithm, alpha, bootstrap, seed)
    processes = n_processes(n_jobs)
    schema = Schema.infer(frame) if schema is None else schema
    groups = None if tiers is None else [t if isinstance(t, str) else list(t) for t in tiers]
    required, forbidden = list(required), list(forbidden)
    knowledge = Knowledge.of(schema.names, groups, required, forbidden)
    level = ALPHAS[algorithm] if alpha is None else float(alpha)
    rows, notes = complete_rows(schema, frame)
    refuse_equal(schema.features, rows)
    search = partial(found_in, algorithm=algorithm, knowledge=knowledge, alpha=level)
    expected = advice(_seconds(rows, search), rows.shape, bootstrap, processes)
    _warn(expected)
    start = time.perf_counter()
    found = search(rows)
    elapsed_seconds = time.perf_counter() - start
    notes += _notes(schema, rows, knowledge, found, algorithm)
    if bootstrap and not expected:
        _warn(advice(elapsed_seconds, rows.shape, bootstrap, processes))
    going = progress is None or progress(DiscoveryProgress("search", 1, 1)) is not False
    resamples = resampled(search, rows, bootstrap if going else 0, seed, processes, progress)
    if len(resamples) < bootstrap:
        notes.append(f"The bootstrap was stopped after {len(resamples)} of {bootstrap} resamples.")
    for note in notes:
        _warn(note)
    settings = {
        "tiers": groups,
        "required": [list(edge) for edge in required],
        "forbidden": [list(edge) for edge in forbidden],
        "alpha": level,
        "bootstrap": len(resamples),
        "seed": int(seed),
        "n_rows": len(rows),
    }
    return _graph(schema.names, found, resamples, Origin(algorithm, settings, tuple(notes)))


def found_in(rows: Numbers, algorithm: str, knowledge: Knowledge, alpha: float | None) -> Found:
    """Run an algorithm on rows ``(i, f)``; columns that do not vary get required edges only."""
    arrows, lines = knowledge.required.copy(), np.zeros_like(knowledge.required)
    varying = np.flatnonzero(rows.max(0) > rows.min(0))
    if len(varying) < 2:
        return arrows, lines
    inner = standardised(rows[:, varying])
    at = np.ix_(varying, varying)
    arrows[at], lines[at] = ALGORITHMS[algorithm](inner, knowledge.keep(varying.tolist()), alpha)
    return arrows, lines


def _lingam(rows: Numbers, knowledge: Knowledge, alpha: float) -> Found:
    arrows = lingam(rows, knowledge, alpha)
    return arrows, np.zeros_like(arrows)


def _pc(rows: Numbers, knowledge: Knowledge, alpha: float) -> Found:
    from causallearn.utils.cit import CIT
    from causallearn.utils.PCUtils.SkeletonDiscovery import skeleton_discovery

    found = skeleton_discovery(
        rows,
        alpha,
        CIT(rows, "fisherz"),
        background_knowledge=_BarredPairs(knowledge),
        show_progress=False,
        node_names=[str(position) for position in range(rows.shape[1])],
    )
    joined = found.G.graph != 0
    apart = np.argwhere(np.triu(~joined, 1))
    separators = {(int(a), int(b)): found.sepset[a, b] or () for a, b in apart}
    graph = directed_by_separators(joined, separators, knowledge, rows)
    return graph.arrows, graph.lines


class _BarredPairs:
    """The part of causal-learn's background knowledge that its search for a skeleton asks."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.barred = knowledge.barred

    def is_forbidden(self, one: Any, other: Any) -> bool:
        return bool(self.barred[int(one.get_name()), int(other.get_name())])


def _ges(rows: Numbers, knowledge: Knowledge, alpha: None) -> Found:
    from causallearn.search.ScoreBased.GES import ges

    ends = ges(rows)["G"].graph  # [i, j] is the mark at i of the edge to j: 1 a head, -1 a tail
    arrows = (ends.T == 1) & (ends == -1)
    lines = (ends == -1) & (ends.T == -1)
    graph = best_scoring(arrows, lines, knowledge, rows)
    return graph.arrows, graph.lines


ALGORITHMS: dict[str, Callable[[Numbers, Knowledge, Any], Found]] = {
    "direct_lingam": _lingam,
    "pc": _pc,
    "ges": _ges,
}


def _check_settings(algorithm: Any, alpha: Any, bootstrap: Any, seed: Any) -> None:
    if algorithm not in list(ALGORITHMS):
        raise GraphError(
            f"unknown algorithm {algorithm!r}; expected one of {', '.join(ALGORITHMS)}."
            + did_you_mean(algorithm, ALGORITHMS)
        )
    for name, count in (("bootstrap", bootstrap), ("seed", seed)):
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 0:
            raise GraphError(f"{name} is {count!r}; expected a whole number from 0 on.")
    if alpha is not None and algorithm == "ges":
        raise GraphError("ges weighs edges by the BIC and takes no alpha; leave it out.")
    if alpha is not None and not (isinstance(alpha, float) and 0 < alpha < 1):
        raise GraphError(f"alpha is {alpha!r}; expected a level between 0 and 1, such as 0.01.")


def _notes(
    schema: Schema, rows: Numbers, knowledge: Knowledge, found: Found, algorithm: str
) -> list[str]:
    varies = rows.max(0) > rows.min(0)
    notes = [
        f"{name} has one value in all rows: no edge can be found for it."
        for name, moves in zip(schema.names, varies, strict=True)
        if not moves
    ]
    at = np.flatnonzero(varies)
    within = np.ix_(at, at)
    findings = Findings(
        tuple(schema.features[each] for each in at),
        rows[:, at],
        knowledge.keep(at.tolist()),
        found[0][within],
        found[1][within],
    )
    return notes + list(caveats(findings, algorithm))


def _seconds(rows: Numbers, search: "partial[Found]") -> float:
    settings = search.keywords
    if settings["algorithm"] == "direct_lingam":
        return seconds_of_lingam(rows)

    def some(positions: list[int]) -> Found:
        known = settings["knowledge"].keep(positions)
        return search(rows[:, positions], knowledge=known)

    return seconds_of_search(rows.shape[1], some)


def _warn(text: str | None) -> None:
    if text is not None:
        warnings.warn(text, DiscoveryWarning, stacklevel=3)


def _graph(
    names: Sequence[str], found: Found, resamples: Sequence[Found], origin: Origin
) -> "CausalGraph":
    from proce.causal.graph import CausalGraph

    def named(flags: NDArray[np.bool_]) -> list[Edge]:
        return [(names[a], names[b]) for a, b in np.argwhere(flags)]

    edges = named(found[0])
    graphs = [
        CausalGraph(named(arrows), names, undirected=named(np.triu(lines)))
        for arrows, lines in resamples
    ]
    confidence = {
        edge: sum(edge in graph.edges for graph in graphs) / len(graphs) for edge in edges if graphs
    }
    return CausalGraph(edges, names, confidence, origin, named(np.triu(found[1])), graphs)
