"""The three objectives of the paper (Eq. 10) and the constraints, on what a person would see.

Constraints are no fourth objective: they decide by constrained domination (Deb 2002).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from proce.causal import Actions
from proce.classifier import Classifier
from proce.losses import Loss
from proce.objective.compiled.terms_on_device import has_kernels
from proce.objective.distance import (
    ACTION_CHARGE,
    action_cost,
    causal_gap,
    printed_distance,
)
from proce.objective.doubts.doubt import missing_chance
from proce.objective.prediction import prediction_loss
from proce.objective.problem_parts import ProblemParts
from proce.objective.prototype import prototype_loss
from proce.objective.questions import ask_about_candidates
from proce.objective.wanted import changed_cells, read_actions, read_genes
from proce.search import Evaluation


@dataclass(frozen=True, eq=False)
class CounterfactualProblem(ProblemParts):
    """The search problem of some rows: genes in, losses and violations out."""

    def __call__(self, genes: Tensor, instances: Tensor) -> Evaluation:
        """Evaluate genes ``(i, c, g)`` of the instances at these positions."""
        part = self._part_of(instances)
        scored = None if part.evaluation is None else part.evaluation.of_genes(genes)
        return part.score(part.realise(genes)) if scored is None else Evaluation(*scored)

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
        losses, violation = self.terms.score(realised, chances)
        distance = losses[..., Loss.DISTANCE]
        if self.measure == "none":
            distance.copy_(self.final_distance(realised))
        elif self.mode == "soft":
            distance += self._causal_loss(realised)
        for rule, mechanisms in self.rules_with_equations:
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
            return action_cost(realised, self.distance, self.action_weights)
        point, effort = realised.point, self.effort.to(realised.point)
        if self.mode == "paper" and self.scm is not None:
            return printed_distance(point, factual, self.distance, effort, self.scm)
        measure = self.distance.squared if self.is_squared else self.distance.absolute
        total = (measure(point, factual) * effort).sum(-1)
        if not self.is_squared:
            total = total + ACTION_CHARGE * realised.count.to(total)
        return total + self._causal_loss(realised)

    def _causal_loss(self, realised: Actions) -> Tensor | float:
        """Return what deviating from the causes costs in mode ``soft``, ``(i, c)``."""
        if self.mode != "soft" or self.scm is None:
            return 0.0
        gap = causal_gap(realised.point, self.query.factual, self.query.residual, self.scm)
        return self.causal_weight * (gap.square() if self.is_squared else gap).sum(-1)

    def violation(self, realised: Actions) -> Tensor:
        """Return how far rows are from obeying the limits and the rules, ``(i, c)``."""
        total = self.limits.excess(realised.point, realised.by_hand, self.codec.reach)
        for rule, mechanisms in self.rules:
            total = total + rule.violation(self.query.factual, realised.point, mechanisms)
        if self.max_changes is not None:
            total = total + (realised.count - self.max_changes).clamp(min=0)
        return total
