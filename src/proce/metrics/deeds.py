"""What people could do in the true world, and what would come of it."""

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from proce.arrays import Array, cells_differ, even_codes
from proce.causal import StructuralCausalModel
from proce.classifier import Classifier
from proce.metrics.true_world import limits_in_truth, reach
from proce.objective import GeneMap, Requirement, genome_of, prediction_loss
from proce.objective.wanted import read_actions
from proce.schema import Codec, Continuous
from proce.schema.rules.program import RuleProgram

LEAVE, SET, HOLD = 0, 1, 2
_MAX_GRID = 30_000  # candidates of a person; with more, the ways are drawn instead
_MIN_PLACES = 6  # of a number in a grid that is worth its name
_WRONG = 1e3  # what breaking a rule counts for, above all that a model can say


@dataclass(frozen=True, eq=False)
class Candidates:
    """Ways to try; the first axis is that of people, or 1 where all try the same.

    Attributes
    ----------
    deed
        ``(i, c, f)``, what a person does with each feature: ``LEAVE``, ``SET`` or ``HOLD``.
    place
        ``(i, c, f)``, where a feature is set to, from 0, the least that is allowed, to 1.
    """

    deed: Array
    place: Array

    def of(self, people: Array | slice) -> "Candidates":
        """Return the candidates of some people."""
        if len(self.deed) == 1:
            return self
        return Candidates(self.deed[people], self.place[people])


@dataclass(frozen=True, eq=False)
class People:
    """People in the true world, and what they may do there.

    Attributes
    ----------
    factual, target
        ``(i, f)`` and ``(i,)``, the people as they are, and the classes that they want.
    residual
        ``(i, w)``, the noise of each of them.
    truth, classifier
        The true equations, whose schema says what is allowed, and the model.
    rules
        The rules that hold for everybody, as a program.
    """

    factual: Array
    target: Array
    residual: Array
    truth: StructuralCausalModel
    classifier: Classifier
    rules: RuleProgram

    def take(self, people: Array | slice) -> "People":
        """Return some of the people."""
        return replace(
            self,
            factual=self.factual[people],
            target=self.target[people],
            residual=self.residual[people],
        )

    def follow(self, candidates: Candidates) -> tuple[Array, Array, Array]:
        """Return where ways lead ``(i, c, f)``, what is done by hand, and what they lack.

        The lack ``(i, c)`` is 0 where a way is one, and else the greater the farther it is from it.
        """
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
        deed = np.where(limits.movable[:, None], candidates.deed, LEAVE)
        rows = low + candidates.place * (high - low)
        for position, feature in enumerate(codec.schema):
            if not isinstance(feature, Continuous):
                places = candidates.place[..., position]
                rows[..., position] = even_codes(places, len(feature.levels))
        wanted = genome_of(codec, self.factual, limits, gene_map).repair(rows), deed == SET
        rows, _ = read_actions(*wanted, self.factual, gene_map, codec.avoided)
        is_effect = np.zeros(len(codec.schema), dtype=np.bool_)
        is_effect[list(self.truth.effects)] = True
        return rows, ((deed == HOLD) & is_effect) | cells_differ(rows, self.factual[:, None])


def can_act(codec: Codec) -> Array:
    """Return flags ``(f,)``: a person of whom all is known can act on the feature, or wait."""
    anybody = np.zeros((1, len(codec.schema)))
    return limits_in_truth(codec, anybody, leads_only=True).movable[0]


def grid_of(truth: StructuralCausalModel) -> Candidates | None:
    """Return all combinations of deeds, with numbers at even places; ``None`` for too many."""
    features = truth.codec.schema.features
    acts = np.flatnonzero(can_act(truth.codec)).tolist()
    n_places = 1 + int(_MAX_GRID ** (1 / max(1, len(acts))))
    while math.prod(_n_options(truth, position, n_places) for position in acts) > _MAX_GRID:
        n_places -= 1
        if n_places < _MIN_PLACES:
            return None
    axes = [_options(truth, position, n_places) for position in acts]
    ways = np.array(list(product(*axes)), dtype=np.float64)  # (c, acts, 2)
    deed, place = np.zeros((2, len(ways), len(features)))
    deed[:, acts], place[:, acts] = ways[..., 0], ways[..., 1]
    return Candidates(deed[None].astype(np.int64), place[None])


def _options(truth: StructuralCausalModel, position: int, n_places: int) -> list[tuple[int, float]]:
    """Return the deeds, each with its place, that a grid has for a feature."""
    feature = truth.codec.schema.features[position]
    n = n_places if isinstance(feature, Continuous) else len(feature.levels)
    places = [(place + 0.5) / n for place in range(n)]
    if isinstance(feature, Continuous):
        places = [place / (n - 1) for place in range(n)]
    idle = [LEAVE, HOLD] if position in truth.effects else [LEAVE]
    return [*((deed, 0.0) for deed in idle), *((SET, place) for place in places)]


def _n_options(truth: StructuralCausalModel, position: int, n_places: int) -> int:
    return len(_options(truth, position, n_places))
