"""The three objectives of the paper (Eq. 10) and the constraints, on what a person would see.

Constraints are no fourth objective: they decide by constrained domination (Deb 2002).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from proce.causal import Actions, StructuralCausalModel
from proce.classifier import AnswerTable, Classifier
from proce.latent import AutoEncoder
from proce.losses import Loss
from proce.objective.avoided import AvoidedLevels
from proce.objective.compiled_terms import CompiledTerms, Measure
from proce.objective.distance import (
    ACTION_CHARGE,
    FeatureDistance,
    Mode,
    action_cost,
    action_weights,
    causal_gap,
    printed_distance,
)
from proce.objective.doubt import Doubt, missing_chance
from proce.objective.likeness import Likeness
from proce.objective.limits import Limits
from proce.objective.prediction import prediction_loss
from proce.objective.prototype import prototype_loss
from proce.objective.query import Query
from proce.objective.questions import ask_about_candidates
from proce.objective.requirement import Requirement
from proce.objective.start import GeneMap
from proce.objective.terms_on_device import TermsOnDevice, has_kernels, lay_out_terms
from proce.objective.waiting import Clock
from proce.objective.wanted import changed_cells, read_actions, read_genes
from proce.schema import Codec, Rule
from proce.search import Evaluation


@dataclass(frozen=True, eq=False)
class CounterfactualProblem:
    """The search problem of some rows: genes in, losses and violations out.

    Attributes
    ----------
    codec, classifier, autoencoder, distance, scm
        The fitted parts; ``scm`` is ``None`` in mode ``off``.
    query, limits
        The rows and what they may become.
    mode
        The causal mode, which says what the distance is; see ``docs/paper.md``.
    gene_map
        Which gene belongs to which feature.
    requirement
        What counts as reaching the target.
    rules
        The rules, each with the equations that it needs, by the name of the effect.
    effort
        ``(f,)``, how hard a change of each feature is.
    max_changes
        The most actions and holds that a candidate may have, or ``None``.
    causal_weight
        Lambda of mode ``soft``.
    effect_weight
        In mode ``hard``, how many times an action on a feature counts that its causes could move.
    squared
        Whether the modes ``soft`` and ``off`` take the squares of the paper instead of absolute
        differences with a charge per action; ``paper`` always does, ``hard`` never.
    clock
        How time moves the features that wait; ``None`` where nobody may wait.
    doubts
        The possible worlds in which a candidate must work, each with the chance that is asked for.
    answers
        What the explained model has answered already; ``None`` where it is quicker to ask again.
    likeness
        Takes the place of the prototype loss where rows that are typical of the target are wanted.
    """

    codec: Codec
    classifier: Classifier
    autoencoder: AutoEncoder
    distance: FeatureDistance
    scm: StructuralCausalModel | None
    query: Query
    limits: Limits
    mode: Mode
    gene_map: GeneMap
    requirement: Requirement
    rules: Sequence[tuple[Rule, Mapping[str, Callable[[Tensor], Tensor]]]]
    effort: Tensor
    max_changes: int | None = None
    causal_weight: float = 0.1
    effect_weight: float = 1.0
    squared: bool = False
    clock: Clock | None = None
    doubts: tuple[Doubt, ...] = ()
    answers: AnswerTable | None = None
    likeness: Likeness | None = None

    def take(self, instances: Tensor) -> "CounterfactualProblem":
        """Return the problem of some of the rows, given by position."""
        part = replace(self, query=self.query.take(instances), limits=self.limits.take(instances))
        if "_terms" in vars(self):  # what was laid out once is not laid out again
            vars(part)["_terms"] = self._terms.take(instances)
        vars(part)["avoided"] = self.avoided
        return part

    def with_few_worlds(self) -> "CounterfactualProblem":
        """Return the problem whose doubts have fewer worlds, so that asking often is affordable."""
        return replace(self, doubts=tuple(doubt.few for doubt in self.doubts))

    def with_doubts_asked_for(self) -> "CounterfactualProblem":
        """Return the problem without the doubts that nobody asks for."""
        return replace(self, doubts=tuple(doubt for doubt in self.doubts if doubt.is_asked_for))

    def without_doubts(self) -> "CounterfactualProblem":
        """Return the problem in which a candidate need not be sure to work."""
        return replace(self, doubts=())

    def __call__(self, genes: Tensor, instances: Tensor) -> Evaluation:
        """Evaluate genes ``(i, c, g)`` of the instances at these positions."""
        part = self._part_of(instances)
        return part.score(part.realise(genes))

    def _part_of(self, instances: Tensor) -> "CounterfactualProblem":
        """Return the problem of some rows; that of the same rows as before is not made again."""
        known: tuple[Tensor | None, CounterfactualProblem | None]
        known = vars(self).get("_part", (None, None))
        if known[0] is not instances:
            everyone = torch.arange(len(self.query.factual), device=instances.device)
            is_whole = torch.equal(instances, everyone)
            known = vars(self)["_part"] = instances, None if is_whole else self.take(instances)
        return known[1] or self

    def realise(self, genes: Tensor) -> Actions:
        """Return what a person would see: rows with their consequences, and which cells those are.

        A feature that may not be acted on is not held either: it follows from its causes. An
        action that leads to an avoided level is none. In the modes ``paper`` and ``off`` every
        change is an action and nothing follows.
        """
        query, movable = self.query, self.limits.movable
        return self._follow(*read_genes(genes, query.factual, movable, self.gene_map, self.avoided))

    def realise_by_hand(self, rows: Tensor, by_hand: Tensor) -> Actions:
        """Return what a person would see who does some cells of rows, and nothing else.

        Parameters
        ----------
        rows
            ``(i, c, f)``, whose values count where something is done.
        by_hand
            ``(i, c, f)``, what is done, or held; all else follows, as far as the mode lets it.
        """
        factual = self.query.factual
        return self._follow(*read_actions(rows, by_hand, factual, self.gene_map, self.avoided))

    def _follow(self, rows: Tensor, acting: Tensor) -> Actions:
        """Return what follows where rows are asked for and some of their cells may be acted on."""
        clock, factual = self.clock, self.query.factual
        if clock is not None:
            rows = clock.advance(rows, factual)
        if self.mode in ("hard", "soft") and self.scm is not None:
            actions = self.scm.actions(factual, rows, self.query.residual, acting)
        else:
            changed, own = changed_cells(rows, factual), factual[:, None].expand_as(rows)
            nothing = torch.zeros_like(changed)
            actions = Actions(rows, changed, nothing, nothing, own, nothing)
        return actions if clock is None else clock.as_one_action(actions)

    def score(self, realised: Actions, *, with_prototype: bool = True) -> Evaluation:
        """Return the losses and the violation of realised rows.

        A candidate that misses the target, a rule or a limit lacks all of the chance that a doubt
        asks for. Without the prototype its loss is 0: what improves a candidate by its distance
        alone does not ask for it, and it costs as much as a model.
        """
        rows, query = realised.point, self.query
        chances = self.ask(rows)
        if has_kernels(rows.device):
            losses, violation = self._score_compiled(realised, chances)
        else:
            prediction = prediction_loss(chances, query.target)
            nothing = torch.zeros_like(prediction)
            losses = torch.stack([prediction, nothing, self.final_distance(realised)], dim=-1)
            shortfall = self.requirement.shortfall(chances, query.target)
            violation = shortfall + self.violation(realised)
        if with_prototype:
            losses[..., Loss.PROTOTYPE] = self.typicality_loss(rows)
        if self.doubts:
            within = (violation <= 0) & (realised.count > 0)
            violation = violation + missing_chance(self, realised, self.doubts, within)
        return Evaluation(losses, violation)

    def _score_compiled(self, realised: Actions, chances: Tensor) -> tuple[Tensor, Tensor]:
        """Return the losses but for the prototype's, and the violation, by kernels."""
        losses, violation = self._terms.score(realised, chances)
        distance = losses[..., Loss.DISTANCE]
        if self._measure == "none":
            distance.copy_(self.final_distance(realised))
        else:
            distance += self._causal_loss(realised)
        for rule, mechanisms in self.rules:
            if rule.dependence is not None:
                violation += rule.violation(self.query.factual, realised.point, mechanisms)
        return losses, violation

    def typicality_loss(self, rows: Tensor) -> Tensor:
        """Return the prototype loss (Eq. 6) of rows ``(i, c, f)``, or what takes its place."""
        query = self.query
        if self.likeness is None:
            return prototype_loss(rows, query.prototype, self.autoencoder)
        assert query.own is not None, "the query knows the classes of its rows"
        return self.likeness.loss(rows, query.target, query.own)

    def ask(self, rows: Tensor, classifier: Classifier | None = None) -> Tensor:
        """Return the class probabilities ``(i, c, k)`` that a model gives rows ``(i, c, f)``.

        The model is the explained one unless another is given. A cell that is as it was goes to
        the model as it came in, bit for bit; a row that the model has answered for the same person
        is not asked about again where the problem has a table of its answers.
        """
        model = classifier or self.classifier
        answers = self.answers if model is self.classifier else None
        return ask_about_candidates(model, rows, self.query, self.codec, answers)

    def final_distance(self, realised: Actions) -> Tensor:
        """Return f_final_dist (Eq. 9) in the mode of this problem, ``(i, c)``."""
        factual = self.query.factual
        if self.mode == "hard":
            return action_cost(realised, self.distance, self._weights)
        point, effort = realised.point, self.effort.to(realised.point)
        if self.mode == "paper" and self.scm is not None:
            return printed_distance(point, factual, self.distance, effort, self.scm)
        measure = self.distance.squared if self._is_squared else self.distance.absolute
        total = (measure(point, factual) * effort).sum(-1)
        if not self._is_squared:
            total = total + ACTION_CHARGE * realised.count.to(total)
        return total + self._causal_loss(realised)

    def _causal_loss(self, realised: Actions) -> Tensor | float:
        """Return what deviating from the causes costs in mode ``soft``, ``(i, c)``."""
        if self.mode != "soft" or self.scm is None:
            return 0.0
        gap = causal_gap(realised.point, self.query.factual, self.query.residual, self.scm)
        return self.causal_weight * (gap.square() if self._is_squared else gap).sum(-1)

    def violation(self, realised: Actions) -> Tensor:
        """Return how far rows are from obeying the limits and the rules, ``(i, c)``."""
        total = self.limits.excess(realised.point, realised.by_hand, self.codec.reach)
        for rule, mechanisms in self.rules:
            total = total + rule.violation(self.query.factual, realised.point, mechanisms)
        if self.max_changes is not None:
            total = total + (realised.count - self.max_changes).clamp(min=0)
        return total

    @property
    def _is_squared(self) -> bool:
        """Whether the distance is a sum of squares."""
        return self.mode == "paper" or (self.squared and self.mode != "hard")

    @property
    def _measure(self) -> Measure:
        """What the distance is for a kernel, but for what deviating from the causes costs."""
        if self.mode == "hard":
            return "actions"
        if self.mode == "paper" and self.scm is not None:
            return "none"
        return "squared" if self._is_squared else "absolute"

    @cached_property
    def _terms(self) -> CompiledTerms | TermsOnDevice:
        """The terms that kernels compute."""
        return lay_out_terms(
            self.query,
            self.limits,
            self._weights if self.mode == "hard" else self.effort,
            self.distance,
            self._measure,
            self.requirement,
            [rule for rule, _ in self.rules if rule.dependence is None],
            self.max_changes,
        )

    @cached_property
    def avoided(self) -> AvoidedLevels:
        """The levels that no action may lead to."""
        return AvoidedLevels.of(self.codec.schema)

    @cached_property
    def _weights(self) -> Tensor:
        """The weight of an action ``(f,)`` or ``(i, 1, f)``: more where causes could be moved."""
        if self.scm is None or self.effect_weight == 1:
            return self.effort
        return action_weights(self.effort, self.limits.movable, self.scm, self.effect_weight)
