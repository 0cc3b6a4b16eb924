"""The nearest training row of the target class, made sparse by NICE.

This is the sanity check that any other method must justify itself against. NICE (Brughmans,
Leyman and Martens 2021, arXiv:2104.07411) starts from the person's own row and copies the values
of the nearest unlike neighbour one at a time, the one with the highest reward first, until the
class is reached.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from proce.arguments import check_count, check_fields
from proce.arrays import Array, blocks, cells_differ
from proce.compiled.copies import distinct
from proce.errors import SearchError, did_you_mean
from proce.methods.calls.method import ProgressCallback
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.schema import MixedDistance
from proce.schema.features.levels import quoted

Reward = Literal["sparsity", "proximity"]
_MAX_NEIGHBOURS_PER_CALL = 256  # neighbours of one row that the model is asked about at once
_DISTANCE_DECIMALS = 12  # distances that differ by less count as equal
_MIN_ADDED_DISTANCE = 1e-9  # a copy that adds no distance must not have an infinite reward


@dataclass(frozen=True, slots=True)
class NearestSettings:
    """Settings of Nearest: what becomes of the neighbour.

    Attributes
    ----------
    sparse
        Whether the neighbour's values are copied one by one until the class is reached. With
        ``False`` the neighbour itself is returned.
    reward
        Which value is copied next: ``sparsity``, the one that raises the target's probability
        most; ``proximity``, the one that raises it most for its distance.
    n_neighbours
        How many neighbours, at most, are used for a row once the model has confirmed them. It
        should be larger than the number of counterfactuals, because several neighbours may lead
        to the same one.
    """

    sparse: bool = True
    reward: Reward = "sparsity"
    n_neighbours: int = 50

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        if self.reward not in get_args(Reward):
            raise SearchError(
                f"reward is {self.reward!r}; expected one of {quoted(get_args(Reward))}."
                + did_you_mean(self.reward, get_args(Reward))
            )
        check_count("n_neighbours", self.n_neighbours, SearchError)


class Nearest(Published[NearestSettings]):
    """The nearest training row that the model puts in the target class, made sparse.

    Training rows that obey the person's limits as they are come first, the nearest by Gower's
    distance before the others. Then come the other training rows, grafted: cells that may not
    move take the person's value, others the nearest permitted one. The first row of this order
    that the model confirms is taken.
    """

    Settings = NearestSettings
    block_bytes: int = 8 * 2**20  # of candidates compared at a time; the work on them needs tenfold

    def _prepare(self, common: CommonFit, progress: ProgressCallback | None) -> tuple[Array, ...]:
        """Return the different training rows ``(m, f)`` of each predicted class."""
        classes = range(len(common.classifier.classes))
        members = (common.rows[common.predicted == label] for label in classes)
        return tuple(rows[distinct(rows)] for rows in members)

    def _find(self, task: Task) -> Candidates:
        candidates = Candidates.none(task)
        for target in sorted(set(task.target.tolist())):
            people = np.flatnonzero(task.target == target)
            members = self.prepared_[target]
            size = max(1, self.block_bytes // max(1, members.nbytes))
            for block in blocks(people, size):
                untried = self._try_neighbours(task, block, members, candidates)
                candidates.unfinished[untried] = task.over
        candidates.note_failures(task, lambda position: self._failure_note(task, position))
        return candidates

    def _failure_note(self, task: Task, position: int) -> str:
        """Return why nothing was found for a row that may move."""
        if not (n_members := len(self.prepared_[task.target[position]])):
            return "The model puts no training row in the target class, so there is no neighbour."
        return (
            f"None of the {n_members} different training rows of the target class stays in it with"
            " what this person may not change, or the rules reject it."
        )

    def _try_neighbours(
        self, task: Task, block: Array, members: Array, candidates: Candidates
    ) -> Array:
        """Try the members of the target class from near to far, for a block of people ``(b,)``."""
        # Returns the positions of those people for whom some members were left untried.
        max_tries = self.settings_.n_neighbours
        n_tries = np.zeros(len(task), dtype=np.int64)
        order = _order_by_distance(task, block, members)  # (b, m)
        people, begin, size, n_rounds = block, 0, task.n, 0
        while len(people) and begin < len(members) and not task.over:
            rows, _ = _graft(task, members[order[:, begin : begin + size]], people)  # (b, c, f)
            confirmed, _ = task.reached(rows, people)
            for column in range(rows.shape[1]):
                wanted = confirmed[:, column] & candidates.incomplete[people]
                wanted &= n_tries[people] < max_tries
                n_tries[people[wanted]] += 1
                self._collect(task, people[wanted], rows[wanted, column], candidates)
            begin, size = begin + size, min(2 * size, _MAX_NEIGHBOURS_PER_CALL)
            n_rounds += 1
            remaining = candidates.incomplete[people] & (task.evaluations_left[people] > 0)
            remaining &= n_tries[people] < max_tries
            people, order = people[remaining], order[remaining]
            task.report(n_rounds)
        return people if begin < len(members) else people[:0]

    def _collect(
        self, task: Task, positions: Array, neighbours: Array, candidates: Candidates
    ) -> None:
        """Collect confirmed neighbours ``(a, f)`` of some rows, made sparse if so set."""
        if len(positions) and self.settings_.sparse and not task.over:
            neighbours = _copy_until_reached(task, positions, neighbours, self.settings_.reward)
        candidates.add(positions, neighbours)


def _order_by_distance(task: Task, people: Array, members: Array) -> Array:
    """Return the order ``(b, m)`` in which the members are tried for each person."""
    # Members that obey the limits as they are come before those that must be grafted. Both are
    # ordered by the distance of the row that would be returned; of equally distant members the
    # earlier training row comes first.
    rows = np.broadcast_to(members, (len(people), *members.shape))
    gower, (grafted, allowed) = MixedDistance.gower(task.common.codec), _graft(task, rows, people)
    distance = gower.mean(grafted, task.factual[people][:, None]).round(_DISTANCE_DECIMALS)
    return np.lexsort((distance, ~allowed), axis=1)


def _graft(task: Task, rows: Array, people: Array) -> tuple[Array, Array]:
    """Return rows ``(b, c, f)`` within each person's limits, and which obey them as they are."""
    factual = task.factual[people][:, None]
    filled = np.where(task.common.codec.missing(rows), factual, rows)
    allowed = task.allowed(rows, people)
    return np.where(allowed[..., None], rows, task.repair(filled, people)), allowed


def _copy_until_reached(task: Task, positions: Array, neighbours: Array, reward: Reward) -> Array:
    """Return the first rows ``(a, f)`` of the target class on NICE's way to the neighbours."""
    # Where the evaluations or the time run out on the way, the neighbour itself is returned.
    result = neighbours.copy()
    current = task.genome.anchor[positions]
    answers = task.reached(current[:, None], positions)
    reached, probability = (answer.squeeze(1) for answer in answers)
    result[reached] = current[reached]
    differs = cells_differ(current, neighbours)
    walking = ~reached & ~np.isnan(probability)
    # With one difference left the copy would be the neighbour, which is confirmed already.
    for n_differences in range(differs.shape[1], 1, -1):
        if task.over or not bool(walking.any()):
            break
        affordable = task.evaluations_left[positions] >= n_differences
        turn = np.flatnonzero(walking & (differs.sum(1) == n_differences) & affordable)
        if not len(turn):
            continue
        copies, features = _single_copies(current[turn], neighbours[turn], differs[turn])
        flags, probabilities = task.reached(copies, positions[turn])
        gain = probabilities - probability[turn, None]
        if reward == "proximity":
            gain = gain / _added_distance(task, positions[turn], current[turn], copies)
        best = np.arange(len(turn)), gain.argmax(1)
        current[turn], probability[turn] = copies[best], probabilities[best]
        differs[turn, features[best]] = False
        arrived = turn[flags[best]]
        result[arrived] = current[arrived]
        walking[arrived] = False
    return result


def _single_copies(current: Array, neighbours: Array, differs: Array) -> tuple[Array, Array]:
    """Return the rows that copy one more value of the neighbour, and the features copied."""
    # Shapes: current, neighbours ``(t, f)``, differs ``(t, f)``.
    features = np.argwhere(differs)[:, 1].reshape(len(differs), -1)
    copied = np.zeros((*features.shape, differs.shape[1]), dtype=np.bool_)
    np.put_along_axis(copied, features[..., None], True, 2)
    return np.where(copied, neighbours[:, None], current[:, None]), features


def _added_distance(task: Task, positions: Array, current: Array, copies: Array) -> Array:
    """Return how much further from the person the copies ``(t, d, f)`` are than the rows so far."""
    gower = MixedDistance.gower(task.common.codec)
    factual = task.factual[positions]
    added = gower(copies, factual[:, None]) - gower(current, factual)[:, None]
    return np.maximum(added.sum(-1), _MIN_ADDED_DISTANCE)
