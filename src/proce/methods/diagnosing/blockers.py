"""What blocks rows: one search over all rows and limits, each limit lifted alone.

What that costs is bounded for each row: at most 16 limits are lifted, and all of them together get
0.6 times as many candidates as one search for the row may evaluate, but 72 for each in any case.
Where none of them shows a way, the plain ways of one and two actions are tried besides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from proce.arrays import Array, lowest_of_each
from proce.explanation import Blocker, Change, Fronts, done_by_hand
from proce.losses import Loss
from proce.methods.calls.call import Call
from proce.methods.calls.method import Progress
from proce.methods.diagnosing.lifted_limits import LiftedLimit, lift_limits, relaxation_of
from proce.methods.diagnosing.relaxed_search import OpenedWays, RelaxedSearch, plain_ways
from proce.methods.phases.check import FrameRows, check_candidates
from proce.methods.phases.plan import CallSpec
from proce.methods.phases.shortlist import NearestMisses, Shortlist
from proce.objective import CounterfactualProblem
from proce.schema import Action
from proce.search import SearchProgress

_MAX_LIFTED_LIMITS = 16  # limits that are lifted


@dataclass(frozen=True, eq=False)
class FoundAfterAll:
    """Ways within all limits that turned up while limits were lifted."""

    problem: CounterfactualProblem  # the problem of some rows under all limits, without the margin
    positions: Array  # (i,), where these rows stand in the call
    ways: OpenedWays  # the ways; their row is a position among these rows

    def nearest(self, wanted: Array) -> Shortlist:
        """Return the nearest way of each row whose flag in ``wanted (i,)`` is set."""
        lines = lowest_of_each(self.ways.row, self.ways.losses[:, Loss.DISTANCE])
        ways = self.ways.take(lines[wanted[self.ways.row[lines]]])
        n_features = ways.rows.shape[1]
        return Shortlist(
            ways.row,
            ways.rows,
            ways.changes,
            ways.losses,
            ways.expected,
            np.zeros_like(ways.losses[:, 0]),
            Fronts.empty(n_features),
            np.zeros((len(self.positions), 0, n_features), dtype=ways.rows.dtype),
        )


@dataclass(eq=False)
class BlockerSearch:
    """What lifting limits has shown so far."""

    # the blockers of each row, by its position in the call
    blockers: dict[int, list[Blocker]] = field(default_factory=dict)
    # how many limits were lifted for a row, by its position; rows that were not searched to the end
    # are not in it
    n_lifted: dict[int, int] = field(default_factory=dict)
    found: list[FoundAfterAll] = field(default_factory=list)  # ways within all limits


def search_blockers(
    call: Call, spec: CallSpec, rows: Array, misses: NearestMisses
) -> BlockerSearch:
    """Lift each limit of rows that have no counterfactual, and search what each lets through."""
    result = BlockerSearch()
    if not len(rows):
        return result
    lifted = list(islice(lift_limits(spec, call.options), _MAX_LIFTED_LIMITS))
    searched = rows[misses.has(rows)]
    if not lifted:
        result.n_lifted.update(dict.fromkeys(searched.tolist(), 0))
        return result
    n_at_once = max(1, spec.fitted.chunk_size // len(lifted))
    for start in range(0, len(searched), n_at_once):
        call.report(Progress("diagnose", start, len(searched)))
        if call.over:
            return result
        chunk = searched[start : start + n_at_once]
        _search_chunk(call, spec, lifted, chunk, misses, result)
    if len(searched) and not call.over:
        call.report(Progress("diagnose", len(searched), len(searched)))
    for own in result.blockers.values():
        own.sort(key=lambda blocker: blocker.distance)
    return result


def _search_chunk(
    call: Call,
    spec: CallSpec,
    lifted: Sequence[LiftedLimit],
    positions: Array,
    misses: NearestMisses,
    result: BlockerSearch,
) -> None:
    batch = spec.batch(call.factual[positions], call.target[positions], call.raw[positions])
    n_searched = len(result.n_lifted)

    def report(search: SearchProgress) -> object:
        n_rows = n_searched + len(positions)
        return call.report(Progress("diagnose", n_searched, n_rows, search.generation))

    ways, finished = RelaxedSearch(
        spec,
        lifted,
        batch,
        misses.genes(positions),
        call.options.max_evaluations,
        call.seconds_left,
        report,
    ).run()
    with_limits = spec.without_margin().problem(batch).with_uncertainty(spec.uncertainty)
    frame_rows = FrameRows(positions, call.raw[positions], call.layout)
    for opened in ways:
        _judge_ways(call, lifted, with_limits, frame_rows, opened, result)
    if call.options.max_evaluations is None:
        unexplained = _without_a_way(positions, result)
        for opened in plain_ways(spec, lifted, batch, unexplained, lambda: call.over):
            _judge_ways(call, lifted, with_limits, frame_rows, opened, result)
    for row in positions.tolist():
        if finished or row in result.blockers:
            result.n_lifted[row] = len(lifted)


def _without_a_way(positions: Array, result: BlockerSearch) -> Array:
    """Return which of the rows at some positions have neither a blocker nor a way after all."""
    known = set(result.blockers)
    for found in result.found:
        known.update(found.positions[found.ways.row].tolist())
    return np.array(
        [index for index, row in enumerate(positions.tolist()) if row not in known], dtype=np.int64
    )


def _is_likely(problem: CounterfactualProblem, ways: OpenedWays, asked: Array) -> Array:
    """Return which of the ways asked about are likely to work in all possible worlds."""
    part = problem.take(ways.row)  # an instance for each way
    by_hand = done_by_hand(ways.changes)[:, None]
    realised = part.realise_by_hand(ways.rows[:, None], by_hand)
    return np.isfinite(part.robustness_gap(realised, asked[:, None])[:, 0])


def _judge_ways(
    call: Call,
    lifted: Sequence[LiftedLimit],
    with_limits: CounterfactualProblem,
    frame_rows: FrameRows,
    opened: OpenedWays,
    result: BlockerSearch,
) -> None:
    """Check ways as they would be shown: under all limits, and under all but the one lifted."""
    allowed = check_candidates(
        with_limits, frame_rows, opened.row, opened.rows, opened.changes
    ).passed
    # Where a fixed effect was freed, it follows from its causes; under all limits it never does.
    is_fixed = np.array([f.action is Action.FIXED for f in with_limits.codec.schema])
    allowed &= ((opened.changes == Change.NONE) | ~is_fixed).all(-1)
    allowed &= _is_likely(with_limits, opened, allowed)
    if bool(allowed.any()):
        ways = opened.take(np.flatnonzero(allowed))
        result.found.append(FoundAfterAll(with_limits, frame_rows.positions, ways))
    codec = with_limits.codec
    for number in sorted(set(opened.limit[~allowed].tolist())):
        limit = lifted[number]
        own = opened.take(np.flatnonzero((opened.limit == number) & ~allowed))
        problem = limit.spec.without_margin().problem(with_limits.batch)
        check = check_candidates(problem, frame_rows, own.row, own.rows, own.changes)
        for line in np.flatnonzero(check.passed).tolist():
            row = int(frame_rows.positions[own.row[line]])
            text, value = relaxation_of(
                limit,
                codec,
                own.rows[line],
                own.changes[line],
                float(check.probabilities[line]),
                tuple(call.options.vary or ()),
            )
            distance = float(own.losses[line, Loss.DISTANCE])
            known = result.blockers.setdefault(row, [])
            if all((other.kind, other.name) != (limit.kind, limit.name) for other in known):
                known.append(Blocker(limit.kind, limit.name, text, distance, value))
