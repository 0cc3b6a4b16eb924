"""What a published method is given to solve, and what it hands back.

Everything a row draws, asks and gets depends on that row alone: its streams are keyed by its
values, its evaluations are counted for itself. So a batch gives what its rows give one by one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from proce.arrays import Array, cells_differ
from proce.classifier import Classifier, decide, predict_changed
from proce.compiled.copies import first_of_each, rounded
from proce.compiled.streams import RowStreams, row_keys
from proce.losses import target_probability
from proce.methods.calls.call import BoundRule, Call, obey_rules
from proce.objective import GeneMap, Limits, genome_of
from proce.objective.genes import read_actions
from proce.objective.terms import obey_limits
from proce.schema import Action, Codec, Level, Schema
from proce.search import Genome

UNLIMITED = 2**62  # evaluations, where the caller set no limit


@dataclass(frozen=True, eq=False)
class CommonFit:
    """What every published method learns from the training rows."""

    # codec, classifier: the features and the model
    codec: Codec
    classifier: Classifier
    # rows, predicted: the training rows (n, f), and the class that the model puts each in (n,)
    rows: Array
    predicted: Array
    rules: tuple[BoundRule, ...]  # candidates that break one of these are dropped
    respect_schema: bool  # whether one-way actions and features that only follow bind the method
    seed: int  # the seed of everything random
    # words for some of the model's classes, by class
    class_labels: Mapping[Level, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Task:
    """Some rows, each with a class that it should reach."""

    common: CommonFit  # what the method has learned, as every method does
    # factual, raw, target: the rows (i, f) in the entries of the codec and in raw units, and the
    # wanted classes (i,)
    factual: Array
    raw: Array
    target: Array
    n: int  # how many counterfactuals are asked for, for each
    # What may move, and where to. Fixed features, missing cells, permitted ranges, and vary and
    # ranges of the call bind always; one-way actions with respect_schema.
    limits: Limits
    genome: Genome  # the same as a grid of permitted values
    evaluations_left: Array  # (i,), evaluations that each row still has
    call: Call  # the call, which has the clock, the record and the progress callback

    @classmethod
    def of(cls, common: CommonFit, call: Call, part: Array) -> "Task":
        """Pose the task of the rows of a call at some positions ``(i,)``."""
        options, factual = call.options, call.factual[part]
        codec = replace(common.codec, schema=binding(common.codec.schema, common.respect_schema))
        limits = call.limits.of_rows(codec, factual)
        genome = genome_of(codec, factual, limits, GeneMap(len(codec.schema)))
        left = np.full((len(part),), options.max_evaluations or UNLIMITED)
        raw, target = call.raw[part], call.target[part]
        return cls(common, factual, raw, target, options.n, limits, genome, left, call)

    def __len__(self) -> int:
        return len(self.factual)

    @property
    def streams(self) -> RowStreams:
        """The rows' own random numbers."""
        return RowStreams.of(self.common.seed, row_keys(self.factual))

    @property
    def over(self) -> bool:
        """Whether the call must end now: ask in every loop."""
        return self.call.over

    def report(self, generation: int) -> None:
        """Tell the caller that the method goes on, in its own rounds."""
        self.call.report_rows(generation)

    def repair(self, rows: Array, positions: Array) -> Array:
        """Return candidates ``(a, c, f)`` of some rows, cells on permitted values."""
        factual, wanted = self.factual[positions], self.genome.take(positions).repair(rows)
        everything = np.ones(rows.shape, np.bool_)
        gene_map, avoided = GeneMap(rows.shape[-1]), self.common.codec.avoided
        return read_actions(wanted, everything, factual, gene_map, avoided)[0]

    def allowed(self, rows: Array, positions: Array) -> Array:
        """Return flags ``(a, c)``: candidates of some rows that obey every limit as they are."""
        limits, factual = self.limits.take(positions), self.factual[positions]
        acted_on = cells_differ(rows, factual[:, None])
        return obey_limits(limits, self.common.codec, factual, rows, acted_on, acted_on)

    def reached(self, rows: Array, positions: Array) -> tuple[Array, Array]:
        """Ask the model about candidates ``(a, c, f)`` of some rows."""
        # Returns flags ``(a, c)``, true where a candidate has the target class and obeys all rules
        # and limits, and the target's probability ``(a, c)``. Every candidate costs its row an
        # evaluation; those that it cannot pay are false with a probability of NaN.
        flags, answers = self.answers(rows, positions)
        return flags, target_probability(answers, self.target[positions])

    def answers(self, rows: Array, positions: Array) -> tuple[Array, Array]:
        """Do what :meth:`reached` does, and return all probabilities ``(a, c, k)``."""
        paid = np.arange(rows.shape[1])[None] < self.evaluations_left[positions][:, None]
        self.evaluations_left[positions] -= paid.sum(1)
        flags = np.zeros(paid.shape, dtype=np.bool_)
        answers = np.full((*paid.shape, len(self.common.classifier.classes)), np.nan)
        if bool(paid.any()):
            owner = np.broadcast_to(positions[:, None], paid.shape)[paid]
            flags[paid], answers[paid] = self._ask(rows[paid], owner)
        return flags & self.allowed(rows, positions), answers

    def pay(self, positions: Array) -> None:
        """Count an evaluation of each of some rows, for a model asked in another way."""
        self.evaluations_left[positions] -= 1
        self.call.evaluations += len(positions)

    def _ask(self, rows: Array, owner: Array) -> tuple[Array, Array]:
        classifier, target = self.common.classifier, self.target[owner]
        own, raw = self.factual[owner], self.raw[owner]
        answer = predict_changed(classifier, rows, own, raw, self.common.codec)
        self.call.evaluations += len(rows)
        reached = decide(answer, classifier.threshold) == target
        return reached & obey_rules(self.common.rules, own, rows), answer


NOTHING_MOVES = "No feature of this row may move."
EVALUATIONS_SPENT = (
    "The evaluations were used up before a candidate of the target class was found; raise"
    " max_evaluations."
)


@dataclass(eq=False)
class Candidates:
    """What a method found for the rows of a task, from the best to the worst of each row."""

    rows: Array  # (i, c, f); a place without a candidate holds the row itself
    found: Array  # (i, c), which places hold a candidate that reached the target
    unfinished: Array  # (i,), rows that time ran out on
    # for rows by position, the way to each candidate (s, f), the candidate last; empty for methods
    # without one
    steps: dict[int, tuple[Array, ...]] = field(default_factory=dict)
    # for rows by position, what the reader should know, such as why nothing was found
    notes: dict[int, str] = field(default_factory=dict)

    @classmethod
    def none(cls, task: Task, n_spare: int = 0) -> "Candidates":
        """Return as many empty places as the task asks for, and some more."""
        rows = np.tile(task.factual[:, None], (1, task.n + n_spare, 1))
        found = np.zeros(rows.shape[:2], dtype=np.bool_)
        return cls(rows, found, np.zeros(len(task), dtype=np.bool_))

    @property
    def incomplete(self) -> Array:
        """Which rows have fewer candidates than places, ``(i,)``."""
        return np.logical_not(self.found.all(1))

    def add(self, positions: Array, rows: Array) -> None:
        """Add one candidate to each of some incomplete rows, unless the row has it already."""
        # Shapes: positions ``(a,)``, rows ``(a, f)``.
        collected = np.concatenate([self.rows[positions], rows[:, None]], axis=1)
        counts = np.insert(self.found[positions], self.rows.shape[1], True, axis=1)
        new = first_of_each(rounded(collected), counts)[:, -1]
        receivers = positions[new]
        places = self.found.sum(1)[receivers]
        self.rows[receivers, places] = rows[new]
        self.found[receivers, places] = True

    def fill(self, position: int, rows: Array) -> None:
        """Give the places of a row to its candidates ``(c, f)``, the best first."""
        # Those for which there is no place are left out.
        kept = rows[: self.rows.shape[1]]
        self.rows[position, : len(kept)] = kept
        self.found[position, : len(kept)] = True

    def note_failures(self, task: Task, reason_of: Callable[[int], str]) -> None:
        """Note why rows have no candidate; a method words what is not so for all methods."""
        for position in np.flatnonzero(~self.found.any(1) & ~self.unfinished).tolist():
            if not task.genome.movable[position].any():
                self.notes[position] = NOTHING_MOVES
            elif task.evaluations_left[position] <= 0:
                self.notes[position] = EVALUATIONS_SPENT
            else:
                self.notes[position] = reason_of(position)


def binding(schema: Schema, respect_schema: bool) -> Schema:
    """Return the schema as a published method takes it."""
    # Without ``respect_schema`` only what is fixed stays: the methods know no one-way actions and
    # no features that merely follow.
    if respect_schema:
        return schema
    loose = [f.name for f in schema if f.action is not Action.FIXED]
    return schema.edit(loose, action=Action.FREE) if loose else schema
