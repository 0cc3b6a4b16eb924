"""Propose a causal graph from data, and say what it cannot know.

The only module that imports causal-learn, which has PC and GES. DirectLiNGAM is our own
(:mod:`proce.causal.discovery.lingam`): causal-learn's reads a forbidden edge as a forbidden path.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from proce.arguments import brief, check_count, is_listed
from proce.arrays import Flags, Floats
from proce.causal.discovery.caveats import Findings, caveats, refuse_equal
from proce.causal.discovery.curves import add_curved_causes, scaled, varying
from proce.causal.discovery.equivalence import best_scoring, directed_by_separators
from proce.causal.discovery.knowledge import Knowledge
from proce.causal.discovery.lingam import lingam
from proce.causal.discovery.resampling import (
    DiscoveryCallback,
    DiscoveryProgress,
    Marks,
    n_processes,
    search_resamples,
)
from proce.causal.graphs.dag import Dag, Edge, Origin
from proce.compiled.streams import MAX_SEED
from proce.errors import GraphError, did_you_mean
from proce.schema import Codec, Schema

_MAX_RESAMPLES = 1_000_000
_MIN_SPARE_ROWS = 10  # rows beyond the number of features
_MIN_EIGENVALUE = 1e-10  # of the correlations: below, columns follow from each other
_JITTER = 1e-5
ALPHAS = {"direct_lingam": 0.001, "pc": 0.01, "ges": None}


def discover(
    frame: Any,  # as for `discover`
    schema: Schema | None,
    *,
    algorithm: str,
    tiers: Sequence[Iterable[str]] | None,
    required: Iterable[Edge],
    forbidden: Iterable[Edge],
    alpha: float | None,
    bootstrap: int,
    seed: int,
    n_jobs: int,
    progress: DiscoveryCallback | None,
) -> Dag:
    """Propose a graph from data; its origin has what the algorithm cannot know from these rows."""
    _check_settings(algorithm, alpha, bootstrap, seed)
    if progress is not None and not callable(progress):
        raise GraphError(f"progress is {brief(progress)}; expected a function.")
    processes = n_processes(n_jobs)
    schema = Schema.infer(frame) if schema is None else schema
    groups = None
    if tiers is not None:
        groups = [list(tier) if is_listed(tier) else tier for tier in tiers]
    required, forbidden = list(required), list(forbidden)
    knowledge = Knowledge.of(schema.names, groups, required, forbidden)
    level = ALPHAS[algorithm] if alpha is None else float(alpha)
    rows, notes = complete_rows(schema, frame)
    refuse_equal(schema.features, rows)
    search = partial(search_rows, algorithm=algorithm, knowledge=knowledge, alpha=level)
    goes_on = _report(progress, n_done=0)
    marks = search(rows)
    notes += _notes(schema, rows, knowledge, marks, algorithm)
    goes_on &= _report(progress, n_done=1)
    n_resamples = bootstrap if goes_on else 0
    resamples = search_resamples(search, rows, n_resamples, seed, processes, progress)
    if len(resamples) < bootstrap:
        notes.append(f"The bootstrap was stopped after {len(resamples)} of {bootstrap} resamples.")
    settings = {
        "tiers": groups,
        "required": [list(edge) for edge in required],
        "forbidden": [list(edge) for edge in forbidden],
        "alpha": level,
        "bootstrap": len(resamples),
        "seed": int(seed),
        "n_rows": len(rows),
    }
    return _dag(schema.names, marks, resamples, Origin(algorithm, settings, tuple(notes)))


def complete_rows(schema: Schema, frame: Any) -> tuple[Floats, list[str]]:
    """Return the rows without a missing value, and a note where others were left out."""
    codec = Codec.fit(schema, frame)
    encoded = codec.encode(frame)
    missing = codec.missing(encoded)
    rows = encoded[~missing.any(1)]
    needed = len(schema) + _MIN_SPARE_ROWS
    if len(rows) < needed:
        raise GraphError(
            f"there are {len(rows)} complete rows for {len(schema)} features; expected at least"
            f" {needed}. Bring more rows, leave features out, or fill in missing values."
        )
    notes = []
    if len(rows) < len(encoded):
        worst = schema.names[int(missing.sum(0).argmax())]
        notes.append(
            f"{len(encoded) - len(rows):,} of {len(encoded):,} rows have missing values and were"
            f" left out; {worst} is missing most often."
        )
    return rows, notes


def search_rows(rows: Floats, algorithm: str, knowledge: Knowledge, alpha: float | None) -> Marks:
    """Run an algorithm on rows ``(i, f)``; columns that do not vary get required edges only."""
    arrows, lines = knowledge.required.copy(), np.zeros_like(knowledge.required)
    positions = varying(rows)
    if len(positions) < 2:
        return arrows, lines
    standard = standardised(rows[:, positions])
    block = np.ix_(positions, positions)
    known = knowledge.keep(positions.tolist())
    found, joined = ALGORITHMS[algorithm](standard, known, alpha)
    arrows[block], lines[block] = add_curved_causes(standard, known, found, joined), joined
    return arrows, lines


def standardised(rows: Floats) -> Floats:
    """Centre and scale; where columns follow from each other, a trace of noise sets them apart."""
    # The user's own rows were checked before, but columns of a small resample can still do so.
    rows = scaled(rows)
    if np.linalg.eigvalsh(rows.T @ rows / len(rows))[0] < _MIN_EIGENVALUE:
        return rows + _JITTER * np.random.default_rng(0).normal(size=rows.shape)
    return rows


def _lingam(rows: Floats, knowledge: Knowledge, alpha: float) -> Marks:
    arrows = lingam(rows, knowledge, alpha)
    return arrows, np.zeros_like(arrows)


def _pc(rows: Floats, knowledge: Knowledge, alpha: float) -> Marks:
    from causallearn.utils.cit import CIT
    from causallearn.utils.PCUtils.SkeletonDiscovery import skeleton_discovery

    skeleton = skeleton_discovery(
        rows,
        alpha,
        CIT(rows, "fisherz"),
        background_knowledge=_BarredPairs(knowledge),
        show_progress=False,
        node_names=[str(position) for position in range(rows.shape[1])],
    )
    joined = skeleton.G.graph != 0
    unjoined = np.argwhere(np.triu(~joined, 1))
    separators = {(int(a), int(b)): skeleton.sepset[a, b] or () for a, b in unjoined}
    graph = directed_by_separators(joined, separators, knowledge, rows)
    return graph.arrows, graph.lines


class _BarredPairs:
    """The part of causal-learn's background knowledge that its search for a skeleton asks."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.barred = knowledge.barred

    def is_forbidden(self, one: Any, other: Any) -> bool:
        return bool(self.barred[int(one.get_name()), int(other.get_name())])


def _ges(rows: Floats, knowledge: Knowledge, alpha: None) -> Marks:
    from causallearn.search.ScoreBased.GES import ges

    ends = ges(rows)["G"].graph  # [i, j] is the mark at i of the edge to j: 1 a head, -1 a tail
    arrows = (ends.T == 1) & (ends == -1)
    lines = (ends == -1) & (ends.T == -1)
    graph = best_scoring(arrows, lines, knowledge, rows)
    return graph.arrows, graph.lines


ALGORITHMS: dict[str, Callable[[Floats, Knowledge, Any], Marks]] = {
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
    check_count("bootstrap", bootstrap, GraphError, 0, _MAX_RESAMPLES)
    check_count("seed", seed, GraphError, 0, MAX_SEED)
    if alpha is not None and algorithm == "ges":
        raise GraphError("ges weighs edges by the BIC and takes no alpha; leave it out.")
    if alpha is not None and not (isinstance(alpha, float) and 0 < alpha < 1):
        raise GraphError(f"alpha is {alpha!r}; expected a level between 0 and 1, such as 0.01.")


def _report(progress: DiscoveryCallback | None, n_done: int) -> bool:
    """Report how far the search on all rows is; return whether the callback wants to go on."""
    return progress is None or progress(DiscoveryProgress("search", n_done, 1)) is not False


def _notes(
    schema: Schema, rows: Floats, knowledge: Knowledge, marks: Marks, algorithm: str
) -> list[str]:
    positions = varying(rows)
    notes = [
        f"{name} has one value in all rows: no edge can be found for it."
        for position, name in enumerate(schema.names)
        if position not in positions
    ]
    block = np.ix_(positions, positions)
    findings = Findings(
        tuple(schema.features[position] for position in positions),
        rows[:, positions],
        knowledge.keep(positions.tolist()),
        marks[0][block],
        marks[1][block],
    )
    return notes + list(caveats(findings, algorithm))


def _dag(names: Sequence[str], marks: Marks, resamples: Sequence[Marks], origin: Origin) -> Dag:
    def named(flags: Flags) -> list[Edge]:
        return [(names[one], names[other]) for one, other in np.argwhere(flags)]

    edges = named(marks[0])
    dags = [
        Dag(named(arrows), names, undirected=named(np.triu(lines))) for arrows, lines in resamples
    ]
    confidence = {
        edge: sum(edge in dag.edges for dag in dags) / len(dags) for edge in edges if dags
    }
    return Dag(edges, names, confidence, origin, named(np.triu(marks[1])), dags)
