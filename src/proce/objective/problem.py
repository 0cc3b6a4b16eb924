"""The three objectives of the paper (Eq. 10) and the constraints, on what a person would see.

One batch of candidates goes one way, whatever the model or the mode: it is realised (what is asked
for, and what follows from it), the model is asked, and it is scored. Constraints are no fourth
objective: they decide by constrained domination (Deb 2002).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

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
from proce.objective.genes import GeneMap, genome_of, read_actions, read_genes
from proce.objective.instances import InstanceBatch, clamp_for_model, magnitude
from proce.objective.likeness import Likeness
from proce.objective.limits import Limits, Requirement
from proce.objective.terms import Terms, most_changes
from proce.objective.uncertainty import MIN_CHANCE, UncertaintySet
from proce.objective.waiting import STILL, Clock
from proce.schema import Codec, Rule
from proce.schema.rules.program import RuleProgram
from proce.schema.rules.rule import program_of
from proce.search import Evaluation, Genome

BoundRule = tuple[Rule, Mapping[str, Callable[[Array], Array]]]


def are_sound(violation: Array, count: Array, *losses: Array) -> Flags:
    """Return which candidates do something, obey all, and have finite losses."""
    flags: Flags = (violation <= 0) & (count > 0)
    for loss in losses:
        flags &= np.isfinite(loss)
    return flags


@dataclass(frozen=True, eq=False)
class CounterfactualProblem:
    """The search problem of some rows: genes in, losses and violations out; made with :meth:`of`.

    What follows from other fields is laid out once, so that these are changed by the methods at
    the end alone.
    """

    # codec, classifier, autoencoder, distance, scm: the fitted parts; scm is None in mode off
    codec: Codec
    classifier: Classifier
    autoencoder: AutoEncoder
    distance: FeatureDistance
    scm: StructuralCausalModel | None
    # batch, limits: the rows and what they may become
    batch: InstanceBatch
    limits: Limits
    mode: Mode  # the causal mode, which says what the distance is; see docs/paper.md
    gene_map: GeneMap  # which gene belongs to which feature
    requirement: Requirement  # what counts as reaching the target
    # the rules, each with the equations that it needs, by the name of the effect
    rules: Sequence[BoundRule]
    effort: Array  # (f,), how hard a change of each feature is
    max_changes: int | None  # the most actions and holds that a candidate may have, or None
    causal_weight: float  # lambda of mode soft
    # in mode hard, how many times an action on a feature counts that its causes could move
    effect_weight: float
    form: str  # the form of the distance, a name in DISTANCES
    # how time moves the features that wait; it stands still where nobody may wait
    clock: Clock
    # the possible worlds in which a candidate must work, each with the chance that is asked for
    uncertainty: tuple[UncertaintySet, ...]
    # what the explained model has answered already; None where it is quicker to ask again
    answers: PredictionCache | None
    # takes the place of the prototype loss where rows that are typical of the target are wanted
    likeness: Likeness | None
    # genome, terms: what follows from the fields above: the values that an action may set, a gene
    # for each feature, and the terms of a score that need no model
    genome: Genome
    terms: Terms
    rule_program: RuleProgram  # the rules without ~>, as a kernel runs them
    largest: Array  # (i, 1, f), how far from 0 an entry may be when a model is asked
    # (i, rules), the rules that each row must obey; None where that is all of them
    obeyed: Flags | None = None

    @classmethod
    def of(
        cls,
        *,
        codec: Codec,
        classifier: Classifier,
        autoencoder: AutoEncoder,
        distance: FeatureDistance,
        scm: StructuralCausalModel | None,
        batch: InstanceBatch,
        limits: Limits,
        mode: Mode,
        gene_map: GeneMap,
        requirement: Requirement,
        rules: Sequence[BoundRule],
        effort: Array,
        max_changes: int | None = None,
        causal_weight: float = 0.1,
        effect_weight: float = 1.0,
        distance_form: str = "absolute",
        clock: Clock = STILL,
        uncertainty: tuple[UncertaintySet, ...] = (),
        answers: PredictionCache | None = None,
    ) -> "CounterfactualProblem":
        """Pose the problem; the mode ``paper`` is always squared, the mode ``hard`` absolute."""
        form = {"paper": "squared", "hard": "absolute"}.get(mode, distance_form)
        weights = _weights(effort, limits, scm, mode, effect_weight)
        terms = Terms.of(
            batch.factual,
            batch.target,
            limits,
            weights,
            distance,
            form,
            mode == "hard",
            requirement,
            max_changes,
        )
        return cls(
            codec=codec,
            classifier=classifier,
            autoencoder=autoencoder,
            distance=distance,
            scm=scm,
            batch=batch,
            limits=limits,
            mode=mode,
            gene_map=gene_map,
            requirement=requirement,
            rules=rules,
            effort=effort,
            max_changes=max_changes,
            causal_weight=causal_weight,
            effect_weight=effect_weight,
            form=form,
            clock=clock,
            uncertainty=uncertainty,
            answers=answers,
            likeness=None,
            genome=genome_of(codec, batch.factual, limits, GeneMap(len(codec.schema))),
            terms=terms,
            rule_program=program_of([rule for rule, _ in rules]),
            largest=np.maximum(magnitude(batch.factual), codec.largest)[:, None],
        )

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
        batch, movable = self.batch, self.limits.movable
        parts = batch.factual, movable, self.gene_map, self.codec.avoided
        return self._follow(*read_genes(genes, *parts))

    def realise_by_hand(self, rows: Array, by_hand: Array) -> Actions:
        """Return what a person would see who does some cells of rows, and nothing else.

        Shapes: rows ``(i, c, f)``, by_hand ``(i, c, f)``.
        """
        parts = self.batch.factual, self.gene_map, self.codec.avoided
        return self._follow(*read_actions(rows, by_hand, *parts))

    def _follow(self, rows: Array, acting: Array) -> Actions:
        """Return what follows where rows are asked for and some of their cells may be acted on."""
        scm, batch = self.scm if self.mode in ("hard", "soft") else None, self.batch
        return self.clock.follow(scm, self.codec, batch.factual, rows, batch.residual, acting)

    # The model.

    def ask(self, rows: Array, classifier: Classifier | None = None) -> Array:
        """Return the class probabilities ``(i, c, k)`` that a model gives rows ``(i, c, f)``.

        The model is the explained one unless another is given. A cell that is as it was goes to
        the model as it came in, bit for bit; a row that the model has answered for the same person
        is not asked about again where the problem has a table of its answers.
        """
        model, batch, codec = classifier or self.classifier, self.batch, self.codec
        near = clamp_for_model(rows, self.largest)
        raw = None if batch.raw is None else batch.raw[:, None]
        values = flatten(model_inputs(model, near, batch.factual[:, None], raw, codec), 0, 1)
        if model is self.classifier and self.answers is not None:
            owners = np.broadcast_to(batch.keys[:, None], rows.shape[:-1]).ravel()
            probabilities = self.answers.ask(values, owners, predictor_of(model))
        else:
            probabilities = predictor_of(model)(values)
        return probabilities.reshape(*rows.shape[:-1], -1)

    # What candidates are worth.

    def score(self, realised: Actions, *, with_prototype: bool = True) -> Evaluation:
        """Return the losses and the violation of realised rows.

        A candidate that misses the target, a rule or a limit lacks all of the chance that an
        uncertainty set asks for. Without the prototype its loss is 0: what improves a candidate by
        its distance alone does not ask for it, and it costs as much as a model.
        """
        rows, factual = realised.point, self.batch.factual
        losses, violation = self.terms.scored(realised, self.ask(rows))
        losses[..., Loss.DISTANCE] += self._causal_loss(rows)
        self.rule_program.add_violation(factual, rows, violation, self.obeyed)
        for number, (rule, mechanisms) in enumerate(self.rules):
            if rule.dependence is not None:
                lacking = rule.violation(factual, rows, mechanisms)
                violation += lacking if self.obeyed is None else self.obeyed[:, [number]] * lacking
        if with_prototype:
            losses[..., Loss.PROTOTYPE] = self.typicality_loss(rows)
        if self.uncertainty:
            sound = are_sound(violation, realised.count, *np.moveaxis(losses, -1, 0))
            violation += self._missed_chances(realised, sound)[0]
        return Evaluation(losses, violation)

    def robustness_gap(self, realised: Actions, asked: Array) -> Array:
        """Return what candidates ``(i, c)`` lack to the chances that uncertainty sets ask for.

        It is 0 for a candidate that is sure to work, and infinite for one that is too unlikely to
        be advice, or that was not ``asked (i, c)`` about.
        """
        missed, is_advice = self._missed_chances(realised, asked)
        return np.where(is_advice, missed, np.inf)

    def _missed_chances(self, realised: Actions, asked: Array) -> tuple[Array, Array]:
        """Return what candidates ``(i, c)`` lack, and which are advice at all.

        What they lack to several sets is added: advice works for a person only where it works in
        the face of all of them. What works with a chance below one half in the face of any is no
        advice. Those not ``asked (i, c)`` about lack all of the chances, and are none: worlds are
        many, so nobody asks about them.
        """
        missed, is_advice = np.zeros_like(realised.point[..., 0]), asked
        owner, candidate = np.nonzero(asked)
        part, alone = self, realised
        if self.uncertainty and len(owner):  # an instance for each candidate
            part = self.take(owner)
            columns = vars(realised).values()
            alone = Actions(*(cells[owner, candidate][:, None] for cells in columns))
        for worlds in self.uncertainty:
            chance = np.zeros_like(missed)
            if len(owner):
                chance[owner, candidate] = worlds.chance(worlds.odds(part, alone)[..., 0])
            missed = missed + np.maximum(worlds.min_chance - chance, 0)
            is_advice = is_advice & (chance >= MIN_CHANCE)
        return missed, is_advice

    def final_distance(self, realised: Actions) -> Array:
        """Return f_final_dist (Eq. 9) in the mode of this problem, ``(i, c)``."""
        distance, _ = self.terms.measured(realised)
        return distance + self._causal_loss(realised.point)

    def typicality_loss(self, rows: Array) -> Array:
        """Return the prototype loss (Eq. 6) of rows ``(i, c, f)``, or what takes its place.

        That is the squared latent distance to the prototype, divided by the latent size, so that
        the size does not change the scale.
        """
        batch = self.batch
        if self.likeness is None:
            return self.autoencoder.arrays.mean_squared_offsets(rows, batch.prototype)
        assert batch.own is not None, "the query knows the classes of its rows"
        return self.likeness.loss(rows, batch.target, batch.own)

    @np.errstate(all="ignore")  # equations can lead anywhere
    def _causal_loss(self, rows: Array) -> Array | float:
        """Return what deviating from the causes costs beside the distance, ``(i, c)``.

        In mode ``soft`` that is the gap to what the causes lead to, in mode ``paper`` Eq. 8 as it
        is printed; elsewhere nothing.
        """
        factual = self.batch.factual
        if self.scm is None or self.mode not in ("soft", "paper"):
            return 0.0
        if self.mode == "paper":
            return printed_gap(rows, factual, self.scm).sum(-1)
        gap = causal_gap(rows, factual, self.batch.residual, self.scm)
        return self.causal_weight * cost_of_gap(gap, DISTANCES[self.form].code).sum(-1)

    @property
    def searched_genome(self) -> Genome:
        """What a search may change: the genes of the features, then the switches."""
        return genome_of(self.codec, self.batch.factual, self.limits, self.gene_map)

    # Other problems of the same kind.

    def take(self, rows: Array) -> Self:
        """Return the problem of some of the rows, given by position."""
        return replace(
            self,
            batch=self.batch.take(rows),
            limits=self.limits.take(rows),
            genome=self.genome.take(rows),
            terms=self.terms.take(rows),
            largest=self.largest.take(rows, axis=0),
            obeyed=None if self.obeyed is None else self.obeyed[rows],
        )

    def with_limits(self, limits: Limits) -> Self:
        """Return the problem of rows that may become something else."""
        factual = self.batch.factual
        weights = _weights(self.effort, limits, self.scm, self.mode, self.effect_weight)
        return replace(
            self,
            limits=limits,
            genome=genome_of(self.codec, factual, limits, GeneMap(len(self.codec.schema))),
            terms=self.terms.with_limits(factual, limits, weights),
        )

    def with_requirement(self, requirement: Requirement) -> Self:
        """Return the problem in which something else counts as reaching the target."""
        required = np.tile(requirement.line, (len(self.batch.factual), 1))
        terms = self.terms._replace(required=required)
        return replace(self, requirement=requirement, terms=terms)

    def with_max_changes(self, max_changes: int | None) -> Self:
        """Return the problem with another limit on actions and holds, or without one."""
        most = np.full(len(self.batch.factual), most_changes(max_changes))
        return replace(self, max_changes=max_changes, terms=self.terms._replace(max_changes=most))

    def with_uncertainty(self, uncertainty: tuple[UncertaintySet, ...]) -> Self:
        """Return the problem in which a candidate must work in some possible worlds."""
        return replace(self, uncertainty=uncertainty)

    def without_uncertainty(self) -> Self:
        """Return the problem in which a candidate need not be sure to work."""
        return self.with_uncertainty(())

    def with_required_uncertainty(self) -> Self:
        """Return the problem without the uncertainty sets that nobody asks for."""
        return self.with_uncertainty(tuple(own for own in self.uncertainty if own.required))

    def subsample(self) -> Self:
        """Return the problem with fewer possible worlds, so that asking often is affordable."""
        return self.with_uncertainty(tuple(worlds.subsample() for worlds in self.uncertainty))

    @property
    def requires_robustness(self) -> bool:
        """Whether the caller asks that advice be sure, so that nothing is shown that is not."""
        return any(worlds.required for worlds in self.uncertainty)


def _weights(
    effort: Array,
    limits: Limits,
    scm: StructuralCausalModel | None,
    mode: Mode,
    effect_weight: float,
) -> Array:
    """Return the weight of each feature ``(f,)`` or ``(i, 1, f)``.

    In mode ``hard`` an action counts more where causes could be moved; in mode ``paper`` only
    roots count, because Eq. 8 has the others.
    """
    if scm is None:
        return effort
    if mode == "paper":
        return effort * [name not in scm.graph.endogenous for name in scm.codec.schema.names]
    if mode == "hard" and effect_weight != 1:
        return action_weights(effort, limits.movable, scm, effect_weight)
    return effort
