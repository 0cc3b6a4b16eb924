"""What a search problem is made of: fitted parts, rows, limits, rules, what counts as reached."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from torch import Tensor

from proce.causal import StructuralCausalModel
from proce.classifier import AnswerTable, Classifier
from proce.classifier.networks import TrainedNetwork
from proce.compiled import engine
from proce.compiled.arrays import as_array
from proce.latent import AutoEncoder
from proce.objective.avoided import AvoidedLevels
from proce.objective.compiled.compiled_evaluation import CompiledEvaluation
from proce.objective.compiled.compiled_terms import CompiledTerms, Measure
from proce.objective.compiled.terms_on_device import TermsOnDevice, has_kernels, lay_out_terms
from proce.objective.distance import FeatureDistance, Mode, action_weights
from proce.objective.doubts.doubt import Doubt
from proce.objective.likeness import Likeness
from proce.objective.limits import Limits
from proce.objective.query import Query
from proce.objective.requirement import Requirement
from proce.objective.start import GeneMap, genome_of
from proce.objective.waiting import Clock
from proce.schema import Codec, Rule
from proce.search import Genome

BoundRule = tuple[Rule, Mapping[str, Callable[[Tensor], Tensor]]]


@dataclass(frozen=True, eq=False)
class ProblemParts:
    """What a search problem is made of, and what is laid out of it once.

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
    rules: Sequence[BoundRule]
    effort: Tensor
    max_changes: int | None = None
    causal_weight: float = 0.1
    effect_weight: float = 1.0
    squared: bool = False
    clock: Clock | None = None
    doubts: tuple[Doubt, ...] = ()
    answers: AnswerTable | None = None
    likeness: Likeness | None = None

    def take(self, instances: Tensor) -> Self:
        """Return the problem of some of the rows, given by position."""
        part = replace(self, query=self.query.take(instances), limits=self.limits.take(instances))
        vars(part)["avoided"] = self.avoided
        if "genome" in vars(self):  # what was laid out once is not laid out again
            vars(part)["genome"] = self.genome.take(instances)
        known = self.evaluation_in_one_world
        vars(part)["evaluation_in_one_world"] = taken = known and known.take(instances)
        if taken is not None:
            vars(part)["terms"] = taken.terms
        elif "terms" in vars(self):
            vars(part)["terms"] = self.terms.take(instances)
        return part

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
        part = replace(self, doubts=doubts)
        names = ["avoided", "genome", "evaluation_in_one_world"]
        if has_kernels(self.query.factual.device):
            names.append("terms")
        vars(part).update({name: getattr(self, name) for name in names})
        return part

    @property
    def is_squared(self) -> bool:
        """Whether the distance is a sum of squares."""
        return self.mode == "paper" or (self.squared and self.mode != "hard")

    @property
    def measure(self) -> Measure:
        """What the distance is for a kernel, but for what deviating from the causes costs."""
        if self.mode == "hard":
            return "actions"
        if self.mode == "paper" and self.scm is not None:
            return "none"
        return "squared" if self.is_squared else "absolute"

    @cached_property
    def terms(self) -> CompiledTerms | TermsOnDevice:
        """The terms that kernels compute."""
        return lay_out_terms(
            self.query,
            self.limits,
            self.action_weights if self.mode == "hard" else self.effort,
            self.distance,
            self.measure,
            self.requirement,
            [rule for rule, _ in self.rules if rule.dependence is None],
            self.max_changes,
        )

    @property
    def evaluation(self) -> CompiledEvaluation | None:
        """What evaluates candidates by kernels alone; ``None`` where a part has no kernel."""
        return None if self.doubts else self.evaluation_in_one_world

    @cached_property
    def evaluation_in_one_world(self) -> CompiledEvaluation | None:
        """What evaluates candidates by kernels alone where nothing is doubted."""
        device, model = self.query.factual.device, self.classifier
        is_simple = self.mode in ("hard", "off") and self.likeness is None and self.clock is None
        is_simple = is_simple and self.answers is None
        if not is_simple or self.rules_with_equations or not engine.use_kernels(device):
            return None
        encoder = self.autoencoder.encoder_arrays(device)
        if not isinstance(model, TrainedNetwork) or not model.has_kernel(device) or not encoder:
            return None
        program = self.scm.program if self.scm is not None and self.mode == "hard" else None
        if program is not None and len(program.segments) > 1:
            return None
        assert isinstance(self.terms, CompiledTerms), "the rows are on the host"
        return CompiledEvaluation(
            self.terms,
            as_array(self.limits.movable),
            self.gene_map.switches,
            as_array(self.avoided.table),
            program,
            as_array(self.query.residual),
            as_array(self.query.magnitude.maximum(self.codec.largest)),
            model.arrays,
            encoder,
            as_array(self.query.prototype.float()),
        )

    @cached_property
    def rules_with_equations(self) -> Sequence[BoundRule]:
        """The rules with ``~>``, which kernels leave to tensors."""
        return [bound for bound in self.rules if bound[0].dependence is not None]

    @cached_property
    def avoided(self) -> AvoidedLevels:
        """The levels that no action may lead to."""
        return AvoidedLevels.of(self.codec.schema)

    @cached_property
    def action_weights(self) -> Tensor:
        """The weight of an action ``(f,)`` or ``(i, 1, f)``: more where causes could be moved."""
        if self.scm is None or self.effect_weight == 1:
            return self.effort
        return action_weights(self.effort, self.limits.movable, self.scm, self.effect_weight)

    @cached_property
    def genome(self) -> Genome:
        """The values that an action may set, a gene for each feature."""
        gene_map = GeneMap(len(self.codec.schema))
        return genome_of(self.codec, self.query.factual, self.limits, gene_map)
