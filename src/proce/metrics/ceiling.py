"""Who can be helped at all: the ceiling for the advice of every method.

With the true equations and each person's own noise, all combinations of actions are tried on a
grid where few features can be acted on; where there are many, very many are drawn. Either way the
best of them are then improved by small steps. No margin is asked for, nothing costs, and nobody is
given up early; a person for whom some way has turned up is not searched further.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from proce.arrays import Array, blocks, cells_differ, even_codes, expand
from proce.causal import StructuralCausalModel
from proce.classifier import Classifier
from proce.errors import RuleError
from proce.metrics.recourse import limits_in_truth, reach
from proce.objective import GeneMap, Requirement, genome_of, prediction_loss
from proce.objective.genes import read_actions
from proce.schema import Codec, Continuous, Rule
from proce.schema.rules.program import RuleProgram
from proce.schema.rules.rule import program_of

LEAVE, SET, HOLD = 0, 1, 2
_MAX_GRID = 30_000  # candidates of a person; with more, the ways are drawn instead
_MIN_PLACES = 6  # of a number in a grid that is worth its name
_WRONG = 1e3  # what breaking a rule counts for, above all that a model can say


@dataclass(frozen=True, eq=False)
class Candidates:
    """Ways to try; the first axis is that of people, or 1 where all try the same."""

    # ``(i, c, f)``, what a person does with each feature: ``LEAVE``, ``SET`` or ``HOLD``
    intervention: Array
    # ``(i, c, f)``, where a feature is set to, from 0, the least that is allowed, to 1
    place: Array

    def of(self, people: Array | slice) -> "Candidates":
        """Return the candidates of some people."""
        if len(self.intervention) == 1:
            return self
        return Candidates(self.intervention[people], self.place[people])


@dataclass(frozen=True, eq=False)
class People:
    """People in the true world, and what they may do there."""

    factual: Array  # ``(i, f)``, the people as they are
    target: Array  # ``(i,)``, the classes that they want
    residual: Array  # ``(i, w)``, the noise of each of them
    truth: StructuralCausalModel  # the true equations, whose schema says what is allowed
    classifier: Classifier
    rules: RuleProgram  # the rules that hold for everybody, as a program

    def take(self, people: Array | slice) -> "People":
        """Return some of the people."""
        return replace(
            self,
            factual=self.factual[people],
            target=self.target[people],
            residual=self.residual[people],
        )

    def follow(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Return where ways lead ``(i, c, f)``, what is done by hand, and what they lack."""
        # The lack ``(i, c)`` is 0 where a way is one, and else the greater the farther it is from
        # it.
        rows, by_hand = self._act(candidates)
        reached = reach(self.truth, self.factual, rows, self.residual, by_hand)
        n_people, n_ways, n_features = reached.shape
        answers = self.classifier.predict_proba(reached.reshape(-1, n_features))
        answers = answers.reshape(n_people, n_ways, -1)
        decision = Requirement(self.classifier.threshold, margin=0.0)
        missed = decision.shortfall(answers, self.target) > 0
        lack = np.where(missed, np.maximum(prediction_loss(answers, self.target), 1e-9), 0.0)
        lack += _WRONG * self.rules.violation(self.factual, reached)
        return reached, by_hand, np.where(~by_hand.any(-1), np.inf, lack)

    def _act(self, candidates: Candidates) -> tuple[Array, Array]:
        """Return the values that features are set to, and which are set or held."""
        codec = self.truth.codec
        limits = limits_in_truth(codec, self.factual, leads_only=True)
        gene_map = GeneMap(len(codec.schema))
        low, high = limits.action_lower[:, None], limits.action_upper[:, None]
        intervention = np.where(limits.movable[:, None], candidates.intervention, LEAVE)
        rows = low + candidates.place * (high - low)
        for position, feature in enumerate(codec.schema):
            if not isinstance(feature, Continuous):
                places = candidates.place[..., position]
                rows[..., position] = even_codes(places, len(feature.levels))
        wanted = genome_of(codec, self.factual, limits, gene_map).repair(rows), intervention == SET
        rows, _ = read_actions(*wanted, self.factual, gene_map, codec.avoided)
        is_effect = np.zeros(len(codec.schema), dtype=np.bool_)
        is_effect[list(self.truth.effects)] = True
        return rows, ((intervention == HOLD) & is_effect) | cells_differ(
            rows, self.factual[:, None]
        )


def can_act(codec: Codec) -> Array:
    """Return flags ``(f,)``: a person of whom all is known can act on the feature, or wait."""
    anybody = np.zeros((1, len(codec.schema)))
    return limits_in_truth(codec, anybody, leads_only=True).movable[0]


def grid_of(truth: StructuralCausalModel) -> Candidates | None:
    """Return all interventions together, numbers at even places; ``None`` for too many."""
    features = truth.codec.schema.features
    acts = np.flatnonzero(can_act(truth.codec)).tolist()
    n_places = 1 + int(_MAX_GRID ** (1 / max(1, len(acts))))
    while math.prod(_n_options(truth, position, n_places) for position in acts) > _MAX_GRID:
        n_places -= 1
        if n_places < _MIN_PLACES:
            return None
    axes = [_options(truth, position, n_places) for position in acts]
    ways = np.array(list(product(*axes)), dtype=np.float64)  # (c, acts, 2)
    intervention, place = np.zeros((2, len(ways), len(features)))
    intervention[:, acts], place[:, acts] = ways[..., 0], ways[..., 1]
    return Candidates(intervention[None].astype(np.int64), place[None])


def _options(truth: StructuralCausalModel, position: int, n_places: int) -> list[tuple[int, float]]:
    """Return the interventions, each with its place, that a grid has for a feature."""
    feature = truth.codec.schema.features[position]
    n = n_places if isinstance(feature, Continuous) else len(feature.levels)
    places = [(place + 0.5) / n for place in range(n)]
    if isinstance(feature, Continuous):
        places = [place / (n - 1) for place in range(n)]
    idle = [LEAVE, HOLD] if position in truth.effects else [LEAVE]
    return [*((intervention, 0.0) for intervention in idle), *((SET, place) for place in places)]


def _n_options(truth: StructuralCausalModel, position: int, n_places: int) -> int:
    return len(_options(truth, position, n_places))


_N_DRAWN = 24_000  # ways of a person that are drawn where there is no grid
_N_FIRST = 512  # drawn for everybody, so that the grid is for those who are hard to help
_N_BEST = 24  # of a person, which are improved
_N_STEPS = 40  # rounds of improvement, each of smaller steps
_N_CHILDREN = 128
_LONGEST_STEP, _SHORTEST_STEP = 0.3, 1e-4  # of the range of a number
_BLOCK = 200_000  # candidates that the model is asked about at a time


@dataclass(frozen=True, eq=False)
class Ways:
    """For whom a way exists in the true world, and that way."""

    exist: Array  # ``(i,)``, whether a way was found
    by_hand: Array  # ``(i, f)``, what the person sets or holds
    reached: Array  # ``(i, f)``, where the way leads; the row itself where none was found


def find_ways(
    factual: Array,  # ``(i, f)``, the rows
    target: Array,  # ``(i,)``, the wanted classes
    truth: StructuralCausalModel,
    classifier: Classifier,
    rules: Sequence[Rule] = (),
    *,
    seed: int = 0,
    keys: Array | None = None,
) -> Ways:
    """Find for each row a way to its target in the true world, as far as there is one."""
    if any(rule.dependence for rule in rules):
        raise RuleError("find_ways was given a rule with ~>; what follows is computed, not asked.")
    keys = np.arange(len(factual)) if keys is None else keys
    residual = truth.abduct(factual, seed=seed, keys=keys)
    people = People(factual, target, residual, truth, classifier, program_of(rules))
    search = _Search(people, np.random.default_rng(seed))
    if not bool(can_act(truth.codec).any()):
        return search.ways()
    search.try_all(search.draw(_N_FIRST))
    grid = grid_of(truth)
    if grid is None:
        for _ in range(_N_DRAWN // _N_FIRST):
            search.try_all(search.draw(_N_FIRST))
    else:
        search.try_all(grid)
    for step in np.geomspace(_LONGEST_STEP, _SHORTEST_STEP, _N_STEPS).tolist():
        search.try_all(search.children(step))
    return search.ways()


class _Search:
    """The search for all people at once; every random number is the same for all of them."""

    # Who has found a way searches no further. What a person finds does not depend on the others.

    def __init__(self, people: People, generator: np.random.Generator) -> None:
        self.people, self.generator = people, generator
        self.open = np.arange(len(people.factual))
        self.reached = people.factual.copy()
        self.by_hand = np.zeros_like(people.factual, dtype=np.bool_)
        n_features = people.factual.shape[-1]
        shape = (len(people.factual), _N_BEST, n_features)
        self._best = Candidates(np.zeros(shape, np.int64), np.zeros(shape))
        self._lack = np.full(shape[:2], np.inf)
        self._acts = can_act(people.truth.codec)
        self._is_number = people.truth.codec.is_number

    def ways(self) -> Ways:
        """Return what was found."""
        exist = np.ones(len(self.reached), dtype=np.bool_)
        exist[self.open] = False
        return Ways(exist, self.by_hand, self.reached)

    def draw(self, n: int) -> Candidates:
        """Draw ways that do something with few or many of the features."""
        share = self._uniforms(n, 1)
        intervention = (self._uniforms(n) < share) * (
            1 + (self._uniforms(n) < 0.15).astype(np.int64)
        )
        return Candidates((intervention * self._acts)[None], self._uniforms(n)[None])

    def children(self, step: float) -> Candidates:
        """Vary the best ways so far: numbers by about a step, all else now and then."""
        parents = self.generator.integers(_N_BEST, size=_N_CHILDREN)
        intervention, place = (
            self._best.intervention[self.open][:, parents],
            self._best.place[self.open][:, parents],
        )
        gap = step * self.generator.normal(size=place.shape[1:])
        varied = self._uniforms(_N_CHILDREN) < 0.5
        moved = np.where(self._is_number, np.clip(place + gap, 0, 1), self._uniforms(_N_CHILDREN))
        place = np.where(varied, moved, place)
        drawn = self.generator.integers(3, size=intervention.shape[1:])
        intervention = np.where(
            (self._uniforms(_N_CHILDREN) < 0.1) & self._acts, drawn, intervention
        )
        return Candidates(intervention, place)

    def try_all(self, candidates: Candidates) -> None:
        """Follow ways of all people who have none yet, and keep the best of them."""
        if not len(self.open):
            return
        n_people = max(1, _BLOCK // candidates.intervention.shape[1])
        still_open = []
        for block in blocks(np.arange(len(self.open)), n_people):
            still_open.append(self._try(self.open[block], candidates.of(block)))
        self.open = np.concatenate(still_open)

    def _try(self, people: Array, candidates: Candidates) -> Array:
        """Follow ways of some people; return those who are still without."""
        reached, by_hand, lack = self.people.take(people).follow(candidates)
        first, lines = lack.argmin(-1), np.arange(len(people))
        found = lack[lines, first] == 0
        self.reached[people[found]] = reached[lines, first][found]
        self.by_hand[people[found]] = by_hand[lines, first][found]
        intervention, place = (
            np.broadcast_to(part, reached.shape)
            for part in (candidates.intervention, candidates.place)
        )
        intervention = np.concatenate([self._best.intervention[people], intervention], axis=1)
        place = np.concatenate([self._best.place[people], place], axis=1)
        lack = np.concatenate([self._lack[people], lack], axis=1)
        order = np.argsort(lack, axis=-1, kind="stable")[:, :_N_BEST]
        index = expand(order[..., None], -1, -1, intervention.shape[-1])
        self._best.intervention[people] = np.take_along_axis(intervention, index, 1)
        self._best.place[people] = np.take_along_axis(place, index, 1)
        self._lack[people] = np.take_along_axis(lack, order, 1)
        return people[~found]

    def _uniforms(self, n: int, size: int | None = None) -> Array:
        return self.generator.random((n, size or len(self._acts)))
