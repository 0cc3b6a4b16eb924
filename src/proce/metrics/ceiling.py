"""Who can be helped at all: the ceiling for the advice of every method.

With the true equations and each person's own noise, all combinations of actions are tried on a
grid where few features can be acted on; where there are many, very many are drawn. Either way the
best of them are then improved by small steps. No margin is asked for, nothing costs, and nobody is
given up early; a person for whom some way has turned up is not searched further.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from proce.causal import StructuralCausalModel
from proce.classifier import Classifier
from proce.metrics.deeds import Candidates, People, can_act, grid_of
from proce.schema import Continuous, Rule

_N_DRAWN = 24_000  # ways of a person that are drawn where there is no grid
_N_FIRST = 512  # drawn for everybody, so that the grid is for those who are hard to help
_N_BEST = 24  # of a person, which are improved
_N_STEPS = 40  # rounds of improvement, each of smaller steps
_N_CHILDREN = 128
_LONGEST_STEP, _SHORTEST_STEP = 0.3, 1e-4  # of the range of a number
_BLOCK = 200_000  # candidates that the model is asked about at a time


@dataclass(frozen=True, eq=False)
class Ways:
    """For whom a way exists in the true world, and that way.

    Attributes
    ----------
    exist
        ``(i,)``, whether a way was found.
    by_hand
        ``(i, f)``, what the person sets or holds.
    reached
        ``(i, f)``, where the way leads; the row itself where none was found.
    """

    exist: Tensor
    by_hand: Tensor
    reached: Tensor


def find_ways(
    factual: Tensor,
    target: Tensor,
    truth: StructuralCausalModel,
    classifier: Classifier,
    rules: Sequence[Rule] = (),
    *,
    seed: int = 0,
    keys: Tensor | None = None,
) -> Ways:
    """Find for each row a way to its target in the true world, as far as there is one.

    Parameters
    ----------
    factual
        ``(i, f)``, the rows.
    target
        ``(i,)``, the wanted classes.
    truth
        The true equations, over the codec of the rows; its schema says what is allowed. A number
        may go as far as any training row, and time may pass, however long.
    classifier
        The model.
    rules
        The rules that hold for everybody, none of which needs an equation.
    seed, keys
        Of the noise that a row alone does not determine, as for
        :meth:`~proce.causal.StructuralCausalModel.abduct`.
    """
    keys = torch.arange(len(factual)) if keys is None else keys
    residual = truth.abduct(factual, seed=seed, keys=keys)
    people = People(factual, target, residual, truth, classifier, tuple(rules))
    search = _Search(people, torch.Generator().manual_seed(seed))
    if not bool(can_act(truth.codec).any()):
        return search.ways()
    search.try_all(search.draw(_N_FIRST))
    grid = grid_of(truth)
    if grid is None:
        for _ in range(_N_DRAWN // _N_FIRST):
            search.try_all(search.draw(_N_FIRST))
    else:
        search.try_all(grid)
    for step in torch.logspace(math.log10(_LONGEST_STEP), math.log10(_SHORTEST_STEP), _N_STEPS):
        search.try_all(search.children(float(step)))
    return search.ways()


class _Search:
    """The search for all people at once; every random number is the same for all of them.

    Who has found a way searches no further. What a person finds does not depend on the others.
    """

    def __init__(self, people: People, generator: torch.Generator) -> None:
        self.people, self.generator = people, generator
        self.open = torch.arange(len(people.factual))
        self.reached = people.factual.clone()
        self.by_hand = torch.zeros_like(people.factual, dtype=torch.bool)
        n_features = people.factual.shape[-1]
        shape = (len(people.factual), _N_BEST, n_features)
        self._best = Candidates(torch.zeros(shape).long(), torch.zeros(shape, dtype=torch.float64))
        self._lack = torch.full(shape[:2], torch.inf, dtype=torch.float64)
        schema = people.truth.codec.schema
        self._acts = can_act(people.truth.codec)
        self._is_number = torch.tensor([isinstance(f, Continuous) for f in schema])

    def ways(self) -> Ways:
        """Return what was found."""
        exist = torch.ones(len(self.reached), dtype=torch.bool)
        exist[self.open] = False
        return Ways(exist, self.by_hand, self.reached)

    def draw(self, n: int) -> Candidates:
        """Draw ways that do something with few or many of the features."""
        share = self._uniforms(n, 1)
        deed = (self._uniforms(n) < share) * (1 + (self._uniforms(n) < 0.15).long())
        return Candidates((deed * self._acts)[None], self._uniforms(n)[None])

    def children(self, step: float) -> Candidates:
        """Vary the best ways so far: numbers by about a step, levels and deeds now and then."""
        parents = torch.randint(_N_BEST, (_N_CHILDREN,), generator=self.generator)
        deed, place = (
            self._best.deed[self.open][:, parents],
            self._best.place[self.open][:, parents],
        )
        gap = step * torch.randn(place.shape[1:], generator=self.generator, dtype=torch.float64)
        varied = self._uniforms(_N_CHILDREN) < 0.5
        moved = (place + gap).clamp(0, 1).where(self._is_number, self._uniforms(_N_CHILDREN))
        place = torch.where(varied, moved, place)
        drawn = torch.randint(3, deed.shape[1:], generator=self.generator)
        deed = torch.where((self._uniforms(_N_CHILDREN) < 0.1) & self._acts, drawn, deed)
        return Candidates(deed, place)

    def try_all(self, candidates: Candidates) -> None:
        """Follow ways of all people who have none yet, and keep the best of them."""
        if not len(self.open):
            return
        n_people = max(1, _BLOCK // candidates.deed.shape[1])
        still_open = []
        for block in torch.split(torch.arange(len(self.open)), n_people):
            still_open.append(self._try(self.open[block], candidates.of(block)))
        self.open = torch.cat(still_open)

    def _try(self, people: Tensor, candidates: Candidates) -> Tensor:
        """Follow ways of some people; return those who are still without."""
        reached, by_hand, lack = self.people.take(people).follow(candidates)
        least, first = lack.min(-1)
        found, lines = least == 0, torch.arange(len(people))
        self.reached[people[found]] = reached[lines, first][found]
        self.by_hand[people[found]] = by_hand[lines, first][found]
        deed, place = (part.expand_as(reached) for part in (candidates.deed, candidates.place))
        deed = torch.cat([self._best.deed[people], deed], dim=1)
        place = torch.cat([self._best.place[people], place], dim=1)
        lack = torch.cat([self._lack[people], lack], dim=1)
        order = lack.argsort(dim=-1, stable=True)[:, :_N_BEST]
        index = order[..., None].expand(-1, -1, deed.shape[-1])
        self._best.deed[people] = deed.gather(1, index)
        self._best.place[people] = place.gather(1, index)
        self._lack[people] = lack.gather(1, order)
        return people[~found]

    def _uniforms(self, n: int, size: int | None = None) -> Tensor:
        shape = (n, size or len(self._acts))
        return torch.rand(shape, generator=self.generator, dtype=torch.float64)
