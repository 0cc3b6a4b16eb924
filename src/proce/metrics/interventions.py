"""What people could do in the true world, whose equations are known, and what would come of it."""

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from proce.arrays import Array, cells_differ, even_codes
from proce.causal import StructuralCausalModel
from proce.causal.models.propagation import propagate
from proce.causal.programs.program import Link
from proce.classifier import Classifier
from proce.objective import CallLimits, Clock, GeneMap, Requirement, genome_of, prediction_loss
from proce.objective.genes import read_actions
from proce.objective.limits import Limits
from proce.schema import Codec, Continuous
from proce.schema.codec import entries_on_step
from proce.schema.rules.program import RuleProgram


def limits_in_truth(codec: Codec, factual: Array, *, leads_only: bool = False) -> Limits:
    """Return what people ``(i, f)`` may do in the true world."""
    # A number may go as far as any training row, and time may pass, however long. What is told to
    # wait may be any feature that waits; with ``leads_only`` it is the one that all others follow.
    clock = Clock.of(codec)
    waits = clock.years > 0
    if leads_only:
        waits &= np.arange(len(waits)) == clock.lead
    limits = CallLimits.read(codec).widened().of_rows(codec, factual)
    return replace(limits, movable=limits.movable | (waits & ~codec.missing(factual)))


def reach(
    truth: StructuralCausalModel, factual: Array, rows: Array, residual: Array, by_hand: Array
) -> Array:
    """Return where actions in rows ``(i, c, f)`` lead in the true world."""
    # As in the draw of a data set, numbers that follow are rounded to their step as they arise, so
    # that what follows from them follows from what is seen: nobody has a third of a dollar of debt.
    # Who waits gets older in all that waits.
    clock = Clock.of(truth.codec)
    start = clock.advance(np.where(by_hand, rows, factual[:, None]), factual)
    effects = truth.program.effects.copy()
    effects["link"] = Link.GIVEN  # every effect is asked for, so that it can be rounded

    def outcome(position: int, columns: Array, noise: Array) -> Array:
        return outcome_on_step(truth, position, columns, noise)

    flags = clock.with_others(np.broadcast_to(by_hand, start.shape))
    program = truth.program._replace(effects=effects)
    return propagate(program, outcome, start, residual[None], flags)[0]


def outcome_on_step(
    truth: StructuralCausalModel, position: int, columns: Array, noise: Array
) -> Array:
    """Return :meth:`StructuralCausalModel.outcome` with numbers rounded to their step."""
    # Onto its multiples, where the draw of the data puts everybody; advice goes by whole steps
    # from where a person is, who need not stand on one of them (as `kernels._rounded` does).
    return entries_on_step(truth.codec, position, truth.outcome(position, columns, noise))


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

    # ``(i, f)`` and ``(i,)``, the people as they are, and the classes that they want
    factual: Array
    target: Array  # ``(i, f)`` and ``(i,)``, the people as they are, and the classes that they want
    residual: Array  # ``(i, w)``, the noise of each of them
    # The true equations, whose schema says what is allowed, and the model
    truth: StructuralCausalModel
    classifier: Classifier  # the true equations, whose schema says what is allowed, and the model
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
