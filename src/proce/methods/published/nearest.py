"""The nearest training row of the target class, and the greedy way towards it.

The sanity check that any other method must justify itself against. The way towards the
neighbour is NICE (Brughmans, Leyman and Martens 2021, arXiv:2104.07411).
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Literal, get_args

import torch
from torch import Tensor

from proce.errors import SearchError, did_you_mean
from proce.methods.calls.method import ProgressCallback
from proce.methods.published.found import Found, differ
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, Learnt, Task
from proce.objective import MixedDistance
from proce.schema.feature import shown

Reward = Literal["sparsity", "proximity"]
_BLOCK_BYTES = 8 * 2**20  # candidates compared at a time; what is computed on the way is tenfold
_ASKED_AT_ONCE = 256  # neighbours of a row, at most
_TIES = 12  # decimals: distances that differ by less are equal


@dataclass(frozen=True, slots=True)
class NearestSettings:
    """What becomes of the neighbour.

    Attributes
    ----------
    sparse
        Whether the neighbour's values are copied one by one until the class is reached. With
        ``False`` the neighbour itself is returned.
    reward
        Which value is copied next: ``sparsity``, the one that raises the target's probability
        most; ``proximity``, the one that raises it most for its distance.
    n_neighbours
        Neighbours that the model confirms and that are then worked on, at most; more than the
        counterfactuals asked for, because several may lead to the same one.
    """

    sparse: bool = True
    reward: Reward = "sparsity"
    n_neighbours: int = 50

    def __post_init__(self) -> None:
        if not isinstance(self.sparse, bool):
            raise SearchError(f"sparse is {self.sparse!r}; expected True or False.")
        if self.reward not in get_args(Reward):
            raise SearchError(
                f"reward is {self.reward!r}; expected one of {shown(get_args(Reward))}."
                + did_you_mean(self.reward, get_args(Reward))
            )
        count = self.n_neighbours
        if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
            raise SearchError(f"n_neighbours is {count!r}; expected a whole number from 1 on.")


class Nearest(Published[NearestSettings]):
    """The nearest training row that the model puts in the target class, made sparse.

    Rows that obey the person's limits as they are come first, the nearest by Gower's distance
    before the others. Then come the rest, grafted: cells that may not move take the person's
    value, others the nearest permitted one; the nearest that the model confirms is taken.
    """

    Settings = NearestSettings

    def _prepare(self, learnt: Learnt, progress: ProgressCallback | None) -> tuple[Tensor, ...]:
        """Return the training rows ``(m, f)`` of each predicted class, each row once."""
        classes = range(len(learnt.classifier.classes))
        return tuple(_each_once(learnt.rows[learnt.predicted == k]) for k in classes)

    def _find(self, task: Task) -> Candidates:
        found = Found.nothing(task)
        unfinished = torch.zeros(len(task), dtype=torch.bool)
        notes: dict[int, str] = {}
        for target in sorted(set(task.target.tolist())):
            people = torch.nonzero(task.target == target).flatten()
            members = self.prepared_[target]
            size = max(1, _BLOCK_BYTES // max(1, members.numel() * members.element_size()))
            for block in torch.split(people, size):
                unfinished[self._walk(task, block, members, found)] = task.over
            lacking = people[(found.counts[people] == 0) & ~unfinished[people]].tolist()
            notes |= {at: _why(task, at, len(members)) for at in lacking}
        return Candidates(found.rows, found.flags, unfinished, notes=notes)

    def _walk(self, task: Task, block: Tensor, members: Tensor, found: Found) -> Tensor:
        """Go through the members from near to far, for the people at some positions ``(b,)``.

        Returns the positions of those for whom there was more to look at.
        """
        most = self.settings_.n_neighbours
        tried = torch.zeros(len(task), dtype=torch.long)
        order = _ranked(task, block, members)  # (b, m)
        among, begin, size, number = block, 0, task.n, 0
        while len(among) and begin < len(members) and not task.over:
            rows = _grafted(task, members[order[:, begin : begin + size]], among)  # (b, c, f)
            confirmed, _ = task.reached(rows, among)
            for column in range(rows.shape[1]):
                wanted = confirmed[:, column] & found.lacking[among] & (tried[among] < most)
                tried[among[wanted]] += 1
                self._add(task, among[wanted], rows[wanted, column], found)
            begin, size, number = begin + size, min(2 * size, _ASKED_AT_ONCE), number + 1
            open_ = found.lacking[among] & (task.left[among] > 0) & (tried[among] < most)
            among, order = among[open_], order[open_]
            task.tell(number)
        return among if begin < len(members) else among[:0]

    def _add(self, task: Task, among: Tensor, neighbours: Tensor, found: Found) -> None:
        if len(among) and self.settings_.sparse and not task.over:
            neighbours = _sparse(task, among, neighbours, self.settings_.reward)
        found.add(among, neighbours)


def _each_once(rows: Tensor) -> Tensor:
    """Return the different ones of rows ``(m, f)``, in the order of their first appearance."""
    different, group = torch.unique(rows, dim=0, return_inverse=True)
    first = torch.full((len(different),), len(rows))
    first.scatter_reduce_(0, group, torch.arange(len(rows)), "amin")
    return rows[first.sort().values]


def _ranked(task: Task, among: Tensor, members: Tensor) -> Tensor:
    """Return the order ``(b, m)`` of the members for each person.

    First those that obey the limits as they are, then those that must be grafted; each from
    near to far, as they would be returned, the earlier training row first of equals.
    """
    rows = members.expand(len(among), *members.shape)
    gaps = MixedDistance.gower(task.learnt.codec)(
        _grafted(task, rows, among), task.factual[among][:, None]
    )
    distance = gaps.mean(-1).round(decimals=_TIES)
    order = distance.argsort(dim=1, stable=True)
    foreign = ~task.allowed(rows, among).gather(1, order)
    return order.gather(1, foreign.byte().argsort(dim=1, stable=True))


def _grafted(task: Task, rows: Tensor, among: Tensor) -> Tensor:
    """Return rows ``(b, c, f)`` as the people may become them; those that obey stay as they are."""
    own = task.factual[among][:, None]
    filled = torch.where(task.learnt.codec.missing(rows), own, rows)
    allowed = task.allowed(rows, among)[..., None]
    return torch.where(allowed, rows, task.repair(filled, among))


def _sparse(task: Task, among: Tensor, neighbours: Tensor, reward: Reward) -> Tensor:
    """Return the first rows ``(a, f)`` on the way to confirmed neighbours that reach the class.

    Where the evaluations or the time run out on the way, the neighbour itself.
    """
    gower = MixedDistance.gower(task.learnt.codec)
    own, result = task.factual[among], neighbours.clone()
    current = task.genome.anchor[among]
    reached, chance = (each.squeeze(1) for each in task.reached(current[:, None], among))
    result[reached] = current[reached]
    differs = differ(current, neighbours)
    walking = ~reached & ~chance.isnan()
    for remaining in range(differs.shape[1], 1, -1):  # with one left, the copy is the neighbour
        turn = walking & (differs.sum(1) == remaining) & (task.left[among] >= remaining)
        on = torch.nonzero(turn).flatten()
        if task.over or not bool(walking.any()):
            break
        if not len(on):
            continue
        choices = torch.nonzero(differs[on])[:, 1].reshape(len(on), remaining)
        copied = torch.zeros(len(on), remaining, differs.shape[1], dtype=torch.bool)
        copied.scatter_(2, choices[..., None], True)
        rows = torch.where(copied, neighbours[on, None], current[on, None])  # (o, remaining, f)
        flags, chances = task.reached(rows, among[on])
        gain = chances - chance[on, None]
        if reward == "proximity":
            far = gower(rows, own[on, None]) - gower(current[on], own[on])[:, None]
            gain = gain / far.sum(-1).clamp(min=1e-9)
        best = gain.argmax(1)
        each = torch.arange(len(on))
        current[on], chance[on] = rows[each, best], chances[each, best]
        differs[on, choices[each, best]] = False
        there = flags[each, best]
        result[on[there]] = current[on[there]]
        walking[on[there]] = False
    return result


def _why(task: Task, at: int, n_members: int) -> str:
    """Return why a row has no counterfactual."""
    if not n_members:
        return "The model puts no training row in the target class, so there is no neighbour."
    if task.left[at] <= 0:
        return "max_evaluations was reached before a neighbour was confirmed."
    return (
        f"None of the {n_members} different training rows of the target class stays in it with"
        " what this person may not change, or the rules reject it."
    )
