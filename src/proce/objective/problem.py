"""The three objectives of the paper (Eq. 10) and the constraints, on what a person would see.

One batch of candidates goes one way, whatever the model or the mode: it is realised (what is asked
for, and what follows from it), the model is asked, and it is scored. Constraints are no fourth
objective: they decide by constrained domination (Deb 2002).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from proce.arrays import Array, Flags, flatten
from proce.causal import Actions, StructuralCausalModel
from proce.classifier import Classifier, PredictionCache, model_inputs, predictor_of
from proce.latent import AutoEncoder
from proce.losses import Loss
from proce.objective.distance import (
    DISTANCES,
    FeatureDistance,
    Mode,
    action_weights,
    causal_gap,
    cost_of_gap,
    printed_gap,
)
from proce.objective.doubt import Doubt, missing_chance
from proce.objective.genes import GeneMap, genome_of, read_actions, read_genes
from proce.objective.likeness import Likeness
from proce.objective.limits import Limits, Requirement
from proce.objective.query import Query, clamp_for_model
from proce.objective.terms import OwnTerms, Terms
from proce.objective.waiting import STILL, Clock
from proce.schema import Codec, Rule
from proce.schema.rules.program import RuleProgram
from proce.schema.rules.rule import program_of
from proce.search import Evaluation, Genome

_MAX_ENTRY = 1e6  # unit ranges


Mechanisms = Mapping[str, Callable[[Array], Array]]
BoundRule = tuple[Rule, Mechanisms]


def are_sound(violation: Array, count: Array, *losses: Array) -> Flags:
    """Return which candidates do something, obey all, and have finite losses."""
    flags: Flags = (violation <= 0) & (count > 0)
    for loss in losses:
        flags &= np.isfinite(loss)
    return flags


class Layout(NamedTuple):
    """What is laid out once for a problem, and taken for its parts."""

    genome: Genome  # the values that an action may set, a gene for each feature
    terms: Terms  # the terms that need no model
    rule_program: RuleProgram  # the rules without ~>, as a kernel runs them
    # the rules with ~>, which ask their equations, each with its number among all
    rules_with_equations: Sequence[tuple[int, Rule, Mechanisms]]

    @classmethod
    def of(cls, problem: "CounterfactualProblem") -> "Layout":
        """Lay out a problem."""
        numbered = enumerate(problem.rules)
        return cls(
            problem.genome_by(GeneMap(len(problem.codec.schema))),
            problem.lay_out_terms(),
            program_of([rule for rule, _ in problem.rules]),
            [(n, rule, own) for n, (rule, own) in numbered if rule.dependence is not None],
        )

    def take(self, instances: Array) -> "Layout":
        """Return the layout of some of the rows, given by position."""
        return self._replace(genome=self.genome.take(instances), terms=self.terms.take(instances))


@dataclass(frozen=True, eq=False)
class CounterfactualProblem:
    """The search problem of some rows: genes in, losses and violations out."""

    # codec, classifier, autoencoder, distance, scm: the fitted parts; scm is None in mode off
    codec: Codec
    classifier: Classifier
    autoencoder: AutoEncoder
    distance: FeatureDistance
    scm: StructuralCausalModel | None
    # query, limits: the rows and what they may become
    query: Query
    limits: Limits
    mode: Mode  # the causal mode, which says what the distance is; see docs/paper.md
    gene_map: GeneMap  # which gene belongs to which feature
    requirement: Requirement  # what counts as reaching the target
    # the rules, each with the equations that it needs, by the name of the effect
    rules: Sequence[BoundRule]
    effort: Array  # (f,), how hard a change of each feature is
    max_changes: int | None = None  # the most actions and holds that a candidate may have, or None
    causal_weight: float = 0.1  # lambda of mode soft
    # in mode hard, how many times an action on a feature counts that its causes could move
    effect_weight: float = 1.0
    # the distance of the modes soft and off, a name in DISTANCES; that of paper is always squared,
    # that of hard always absolute
    distance_form: str = "absolute"
    # how time moves the features that wait; it stands still where nobody may wait
    clock: Clock = STILL
    # the possible worlds in which a candidate must work, each with the chance that is asked for
    doubts: tuple[Doubt, ...] = ()
    # what the explained model has answered already; None where it is quicker to ask again
    answers: PredictionCache | None = None
    # takes the place of the prototype loss where rows that are typical of the target are wanted
    likeness: Likeness | None = None
    # what binds each row by itself, instead of max_changes, all rules and what is required of the
    # model's answer; None where all rows are alike
    own_terms: OwnTerms | None = None
    # What was laid out for a problem of the same rows and terms; None lays it out when it is first
    # asked for. A problem that is changed in anything else starts without.
    known_layout: InitVar[Layout | None] = None
    _known: Layout | None = field(init=False, repr=False)

    def __post_init__(self, known_layout: Layout | None) -> None:
        object.__setattr__(self, "_known", known_layout)

    def evaluate(self, genes: Array) -> Evaluation:
        """Return the losses and the violation of genes ``(i, c, g)``."""
        return self.score(self.realise(genes))

    # What is asked for, and what follows from it.

    def realise(self, genes: Array) -> Actions:
        """Return what a person would see: rows with their consequences, and which cells those are.

        A feature that may not be acted on is not held either: it follows from its causes. An
        action that leads to an avoided level is none. In the modes ``paper`` and ``off`` every
        change is an action and nothing follows.
        """
        query, movable = self.query, self.limits.movable
        parts = query.factual, movable, self.gene_map, self.codec.avoided
        return self._follow(*read_genes(genes, *parts))

    def realise_by_hand(self, rows: Array, by_hand: Array) -> Actions:
        """Return what a person would see who does some cells of rows, and nothing else.

        Shapes: rows ``(i, c, f)``, by_hand ``(i, c, f)``.
        """
        parts = self.query.factual, self.gene_map, self.codec.avoided
        return self._follow(*read_actions(rows, by_hand, *parts))

    def _follow(self, rows: Array, acting: Array) -> Actions:
        """Return what follows where rows are asked for and some of their cells may be acted on."""
        scm, query = self.scm if self.mode in ("hard", "soft") else None, self.query
        return self.clock.follow(scm, self.codec, query.factual, rows, query.residual, acting)

    # The model.

    def ask(self, rows: Array, classifier: Classifier | None = None) -> Array:
        """Return the class probabilities ``(i, c, k)`` that a model gives rows ``(i, c, f)``.

        The model is the explained one unless another is given. A cell that is as it was goes to
        the model as it came in, bit for bit; a row that the model has answered for the same person
        is not asked about again where the problem has a table of its answers.
        """
        model, query, codec = classifier or self.classifier, self.query, self.codec
        near = clamp_for_model(rows, np.maximum(query.magnitude, codec.largest))
        raw = None if query.raw is None else query.raw[:, None]
        values = flatten(model_inputs(model, near, query.factual[:, None], raw, codec), 0, 1)
        if model is self.classifier and self.answers is not None:
            owners = np.broadcast_to(query.keys[:, None], rows.shape[:-1]).ravel()
            chances = self.answers.ask(values, owners, predictor_of(model))
        else:
            chances = predictor_of(model)(values)
        return chances.reshape(*rows.shape[:-1], -1)

    # What candidates are worth.

    def score(self, realised: Actions, *, with_prototype: bool = True) -> Evaluation:
        """Return the losses and the violation of realised rows.

        A candidate that misses the target, a rule or a limit lacks all of the chance that a doubt
        asks for. Without the prototype its loss is 0: what improves a candidate by its distance
        alone does not ask for it, and it costs as much as a model.
        """
        rows, factual = realised.point, self.query.factual
        losses, violation = self.terms.scored(realised, self.ask(rows))
        losses[..., Loss.DISTANCE] += self._causal_loss(rows)
        obeyed = None if self.own_terms is None else self.own_terms.obeyed
        self.layout.rule_program.add_violation(factual, rows, violation, obeyed)
        for number, rule, mechanisms in self.layout.rules_with_equations:
            lacking = rule.violation(factual, rows, mechanisms)
            violation += lacking if obeyed is None else obeyed[:, number, None] * lacking
        if with_prototype:
            losses[..., Loss.PROTOTYPE] = self.typicality_loss(rows)
        if self.doubts:
            sound = are_sound(violation, realised.count, *np.moveaxis(losses, -1, 0))
            violation += missing_chance(self, realised, self.doubts, sound)[0]
        return Evaluation(losses, violation)

    def final_distance(self, realised: Actions) -> Array:
        """Return f_final_dist (Eq. 9) in the mode of this problem, ``(i, c)``."""
        distance, _ = self.terms.measured(realised)
        return distance + self._causal_loss(realised.point)

    def typicality_loss(self, rows: Array) -> Array:
        """Return the prototype loss (Eq. 6) of rows ``(i, c, f)``, or what takes its place.

        That is the squared latent distance to the prototype, divided by the latent size, so that
        the size does not change the scale.
        """
        query = self.query
        if self.likeness is None:
            return self.autoencoder.arrays.mean_squared_offsets(rows, query.prototype)
        assert query.own is not None, "the query knows the classes of its rows"
        return self.likeness.loss(rows, query.target, query.own)

    @np.errstate(all="ignore")  # equations can lead anywhere
    def _causal_loss(self, rows: Array) -> Array | float:
        """Return what deviating from the causes costs beside the distance, ``(i, c)``.

        In mode ``soft`` that is the gap to what the causes lead to, in mode ``paper`` Eq. 8 as it
        is printed; elsewhere nothing.
        """
        factual = self.query.factual
        if self.scm is None or self.mode not in ("soft", "paper"):
            return 0.0
        if self.mode == "paper":
            return printed_gap(rows, factual, self.scm).sum(-1)
        gap = causal_gap(rows, factual, self.query.residual, self.scm)
        return self.causal_weight * cost_of_gap(gap, DISTANCES[self.form].code).sum(-1)

    @property
    def form(self) -> str:
        """The name of the form of the distance."""
        if self.mode in ("paper", "hard"):
            return "squared" if self.mode == "paper" else "absolute"
        return self.distance_form

    # What is laid out once.

    @cached_property
    def layout(self) -> Layout:
        """What is laid out once."""
        return self._known or Layout.of(self)

    @property
    def genome(self) -> Genome:
        """The values that an action may set, a gene for each feature."""
        return self.layout.genome

    @property
    def terms(self) -> Terms:
        """The terms that need no model."""
        return self.layout.terms

    @property
    def searched_genome(self) -> Genome:
        """What a search may change: the genes of the features, then the switches."""
        return self.genome_by(self.gene_map)

    def genome_by(self, gene_map: GeneMap) -> Genome:
        """Return the genes of the rows by a map of them."""
        return genome_of(self.codec, self.query.factual, self.limits, gene_map)

    def lay_out_terms(self) -> Terms:
        """Return the terms that need no model."""
        terms = Terms.of(
            self.query.factual,
            self.query.target,
            self.limits,
            self._weights,
            self.distance,
            self.form,
            self.mode == "hard",
            self.requirement,
            self.max_changes,
        )
        own = self.own_terms
        return terms if own is None else terms._replace(max_changes=own[0], required=own[1])

    @property
    def _weights(self) -> Array:
        """The weight of each feature ``(f,)`` or ``(i, 1, f)``.

        In mode ``hard`` an action counts more where causes could be moved; in mode ``paper`` only
        roots count, because Eq. 8 has the others.
        """
        if self.scm is None:
            return self.effort
        if self.mode == "paper":
            effects = self.scm.graph.endogenous
            return self.effort * [name not in effects for name in self.codec.schema.names]
        if self.mode == "hard" and self.effect_weight != 1:
            return action_weights(self.effort, self.limits.movable, self.scm, self.effect_weight)
        return self.effort

    # Other problems of the same kind.

    def take(self, instances: Array) -> Self:
        """Return the problem of some of the rows, given by position."""
        own = None if self.own_terms is None else self.own_terms.take(instances)
        return replace(
            self,
            query=self.query.take(instances),
            limits=self.limits.take(instances),
            own_terms=own,
            known_layout=self.layout.take(instances),
        )

    def with_few_worlds(self) -> Self:
        """Return the problem whose doubts have fewer worlds, so that asking often is affordable."""
        return self._with_doubts(tuple(doubt.few for doubt in self.doubts))

    def with_doubts_asked_for(self) -> Self:
        """Return the problem without the doubts that nobody asks for."""
        return self._with_doubts(tuple(doubt for doubt in self.doubts if doubt.is_asked_for))

    @property
    def asks_for_doubts(self) -> bool:
        """Whether the caller asks for some of the doubts, so that nothing is shown without them."""
        return any(doubt.is_asked_for for doubt in self.doubts)

    def without_doubts(self) -> Self:
        """Return the problem in which a candidate need not be sure to work."""
        return self._with_doubts(())

    def _with_doubts(self, doubts: tuple[Doubt, ...]) -> Self:
        return replace(self, doubts=doubts, known_layout=self.layout)
