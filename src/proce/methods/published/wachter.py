"""Wachter et al. (2017, arXiv:1711.00399): gradient descent on prediction and distance.

The method minimises ``λ · loss(p(target)) + distance`` (Eq. 2 of the paper), where the distance is
L1 over the median absolute deviation of each feature. λ, the trade-off, is raised until the rounded
row has the target class, then brought back between the last that failed and the first that did not;
last, the way from the row to the result is shortened.

The descent is in the input of the network: numbers between bounds, levels as weights. A feature
with a column per level becomes one weight per level; the weights of a feature are not negative and
sum to one. A feature that is one number, a level's code included, is relaxed as that number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from proce.adam import Adam
from proce.arguments import check_count, check_fields
from proce.arrays import Array, Flags, Floats, Ints, flatten
from proce.classifier import Classifier, DifferentiableClassifier, InputEncoding, TrainedNetwork
from proce.errors import ModelInterfaceError, SearchError, did_you_mean
from proce.methods.calls.method import ProgressCallback
from proce.methods.calls.options import check_above
from proce.methods.published.published import Published
from proce.methods.published.task import EVALUATIONS_SPENT, Candidates, CommonFit, Task
from proce.schema import Continuous, MixedDistance, Schema
from proce.schema.features.levels import rank_span
from proce.search import Genome

Loss = Literal["squared", "cross_entropy"]
# The decay rates of Adam. A descent has a few dozen steps, in which what began to move must be able
# to return: longer memories than these leave it on the way.
_MEAN_DECAY, _SQUARE_DECAY = 0.5, 0.5
_LEAST_ROOT = 1e-12  # Adam divides by a root, which must not be zero
_LEAST_CHANCE = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True, kw_only=True)
class WachterSettings:
    """Settings of Wachter's method.

    Attributes
    ----------
    loss
        ``squared``, (1 - p)², as in the paper, or ``cross_entropy``, -log p, of the target's
        probability.
    n_steps
        How many steps Adam takes for each λ.
    step_size
        The size of the first step for each λ, on the unit range of the training rows; it falls
        to zero.
    growth
        What λ is multiplied by until the class flips, above 1.
    n_raises
        How often λ is raised, at most.
    n_refinements
        How often λ is then brought nearer to the least that is enough.
    n_halvings
        How often the straight way from the row to the result is halved in search of its end.
    """

    loss: Loss = "cross_entropy"
    n_steps: int = 40
    step_size: float = 0.05
    growth: float = 2.0
    n_raises: int = 15
    n_refinements: int = 5
    n_halvings: int = 8

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        if self.loss not in get_args(Loss):
            raise SearchError(
                f"loss is {self.loss!r}; expected 'squared' or 'cross_entropy'."
                + did_you_mean(self.loss, get_args(Loss))
            )
        check_count("n_steps", self.n_steps, SearchError)
        for name in ("n_raises", "n_refinements", "n_halvings"):
            check_count(name, getattr(self, name), SearchError, minimum=0)
        check_above("step_size", self.step_size, 0)
        check_above("growth", self.growth, 1)


@dataclass(frozen=True, eq=False)
class RelaxedEncoding:
    """An input encoding whose columns may hold any number, and which columns mean what."""

    encoding: InputEncoding  # the encoding of the network, with w columns
    number_columns: Ints  # (m,), the columns that hold a feature as one number
    # (b, l), the columns of the features that have one per level. Features with fewer levels are
    # filled up with a column that does not exist, the one after the last.
    weight_columns: Ints
    weighted_features: Ints  # (b,), the positions of those features in the schema
    # (w,), how far each column goes: 1, or the last code of a level that is one number
    span: Floats

    @classmethod
    def of(cls, encoding: InputEncoding, schema: Schema) -> "RelaxedEncoding":
        """Return the relaxed encoding of the rows of a schema."""
        number_columns, blocks, weighted_features = [], [], []
        span = np.ones(encoding.width)
        start = 0
        for position, (feature, n_levels) in enumerate(zip(schema, encoding.n_levels, strict=True)):
            if n_levels:
                blocks.append(np.arange(start, start + n_levels))
                weighted_features.append(position)
            else:
                number_columns.append(start)
                if not isinstance(feature, Continuous):
                    span[start] = rank_span(len(feature.levels))
            start += n_levels or 1
        longest = max((len(block) for block in blocks), default=0)
        weight_columns = np.full((len(blocks), longest), encoding.width)
        for block, line in zip(blocks, weight_columns, strict=True):
            line[: len(block)] = block
        return cls(
            encoding,
            np.array(number_columns, np.int64),
            weight_columns,
            np.array(weighted_features, np.int64),
            span,
        )

    def weights_by_feature(self, points: Floats, filler: float) -> Floats:
        """Return the level weights of points ``(i, w)`` by feature, ``(i, b, l)``."""
        # ``filler`` stands in the places of features with fewer levels than the others.
        filled = np.concatenate([points, np.full((len(points), 1), filler)], axis=1)
        return filled[:, self.weight_columns]

    def with_weights(self, points: Floats, weights: Floats) -> Floats:
        """Return points ``(i, w)`` whose level weights are replaced by others ``(i, b, l)``."""
        filled = np.concatenate([points, points[:, :1]], axis=1)
        filled[:, self.weight_columns.ravel()] = flatten(weights, 1, 2)
        return filled[:, :-1]

    def feasible_set(self, genome: Genome) -> "FeasibleSet":
        """Return where the points of some rows may go."""
        source = self.encoding.source
        movable = genome.movable[:, source]
        n_flags = int(self.encoding.may_miss.sum())  # the last columns say what is missing
        movable[:, self.encoding.width - n_flags :] = False
        lower, upper = genome.lower[:, source], genome.upper[:, source]
        codes = np.arange(self.weight_columns.shape[1])
        bounds = (genome.lower, genome.upper)
        lowest, highest = (bound[:, self.weighted_features, None] for bound in bounds)
        permitted = ((codes >= lowest) & (codes <= highest)).astype(np.float64)
        return FeasibleSet(
            self,
            genome,
            self.encoding(genome.anchor, np.float64),
            self.with_weights(lower, np.zeros_like(permitted)),
            self.with_weights(upper, permitted),
            movable,
        )


@dataclass(frozen=True, eq=False)
class FeasibleSet:
    """The points ``(i, w)`` of a relaxed encoding that some rows may become."""

    relaxed: RelaxedEncoding  # the encoding, which says what the columns mean
    genome: Genome  # what the rows themselves may become
    start: Floats  # (i, w), the rows as they are
    # lower, upper: (i, w), the bounds; the weight of a level that is not permitted is 0
    lower: Floats
    upper: Floats
    movable: Flags  # (i, w), whether a column may move at all

    def take(self, rows: Ints) -> "FeasibleSet":
        """Return the feasible set of some of the rows, given by position."""
        start, lower, upper = self.start[rows], self.lower[rows], self.upper[rows]
        genome = self.genome.take(rows)
        return FeasibleSet(self.relaxed, genome, start, lower, upper, self.movable[rows])

    def project(self, points: Floats) -> Floats:
        """Return the nearest feasible points."""
        inside = np.minimum(np.maximum(points, self.lower), self.upper)
        weights = self.relaxed.weights_by_feature(points, -np.inf)
        forbidden = self.relaxed.weights_by_feature(self.upper, 0.0) == 0
        weights = project_onto_simplex(np.where(forbidden, -np.inf, weights))
        return np.where(self.movable, self.relaxed.with_weights(inside, weights), self.start)

    def round_to_rows(self, points: Floats) -> Floats:
        """Return points as rows ``(i, f)``: the heaviest level, and permitted values."""
        rows = self.genome.anchor.copy()
        relaxed = self.relaxed
        rows[:, relaxed.encoding.source[relaxed.number_columns]] = points[:, relaxed.number_columns]
        if len(relaxed.weighted_features):
            heaviest = relaxed.weights_by_feature(points, -np.inf).argmax(-1)
            rows[:, relaxed.weighted_features] = heaviest
        return self.genome.repair(rows[:, None]).squeeze(1)


def project_onto_simplex(values: Floats) -> Floats:
    """Return the nearest weights ``(…, l)`` that are not negative and sum to one."""
    # Entries of minus infinity get no weight (Duchi et al. 2008).
    if not values.shape[-1]:
        return values
    ranked = np.sort(values, axis=-1)[..., ::-1]
    finite = np.isfinite(ranked)
    total = np.where(finite, ranked, 0.0).cumsum(-1) - 1
    count = np.arange(1, values.shape[-1] + 1)
    support = np.maximum((finite & (ranked * count > total)).sum(-1, keepdims=True), 1)
    shift = np.take_along_axis(total, support - 1, -1) / support
    return np.maximum(values - shift, 0.0)


@dataclass(frozen=True, eq=False)
class Descent:
    """Descends on ``λ · loss(p(target)) + distance`` from the rows of a task."""

    # Every row has an optimiser of its own, so that a row goes the same way in any batch. Adam
    # scales the gradient of each number by itself; the weights of one feature's levels share a
    # scale, or each step would favour all levels alike.

    task: Task  # the rows and their targets
    # numbers over their scale; a level costs the weight that it takes from the own level
    distance: MixedDistance
    loss: Loss

    def run(
        self,
        feasible: FeasibleSet,
        points: Floats,
        trade_off: Floats,
        positions: Ints,
        *,
        n_steps: int,
        step_size: float,
    ) -> Floats:
        """Return where the descents of some rows end."""
        # Shapes: points ``(a, w)``, trade_off ``(a,)``, positions ``(a,)``.
        zeros = np.zeros_like(points)
        adam = Adam(zeros, zeros.copy(), _MEAN_DECAY, _SQUARE_DECAY, _LEAST_ROOT)
        for step in range(n_steps):
            if self.task.over:
                break
            gradient = self._gradient(feasible, points, trade_off, positions)
            shared = _share_largest(feasible, np.square(gradient))
            move = adam.step(gradient, shared, step_size * (1 - step / n_steps))
            moved = feasible.project(points - feasible.relaxed.span * move)
            # A number that would pass its own value stops there: beyond it the distance grows.
            crossed = (points - feasible.start) * (moved - feasible.start) < 0
            points = np.where(crossed, feasible.start, moved)
        return points

    def smallest_trade_off(self, feasible: FeasibleSet) -> Floats:
        """Return the λ ``(i,)`` above which a feature begins to move; infinite where none can."""
        slope = self._loss_gradient(feasible.start, np.arange(len(self.task)))
        relaxed, start = feasible.relaxed, feasible.start
        has_room = np.where(slope < 0, feasible.upper - start, start - feasible.lower) > 0
        pull = np.abs(slope) / self._unit_cost(feasible) * (has_room & feasible.movable)
        number_pull = pull[:, relaxed.number_columns].max(1, initial=0.0)
        own = relaxed.weights_by_feature(slope * start, 0.0).sum(-1, keepdims=True)
        gain = own - relaxed.weights_by_feature(slope, 0.0)
        gain = np.where(_permitted_levels(feasible), gain, 0.0)
        level_pull = gain.max((1, 2), initial=0.0)
        with np.errstate(divide="ignore"):  # where nothing pulls, no λ is enough
            return 1 / np.maximum(number_pull, level_pull)

    def _gradient(
        self, feasible: FeasibleSet, points: Floats, trade_off: Floats, positions: Ints
    ) -> Floats:
        """Return the gradient ``(a, w)`` of loss and distance together."""
        # A number at the person's own value, where the distance has its kink, has a gradient only
        # where the loss pulls harder than the distance.
        slope = trade_off[:, None] * self._loss_gradient(points, positions) * feasible.movable
        unit_cost = self._unit_cost(feasible)
        offset = points - feasible.start
        at_kink = slope - np.minimum(np.maximum(slope, -unit_cost), unit_cost)
        numbers = np.where(offset == 0, at_kink, slope + np.sign(offset) * unit_cost)
        return _centre_weights(feasible, numbers, slope - feasible.start)

    def _loss_gradient(self, points: Floats, positions: Ints) -> Floats:
        """Return the gradient of the loss alone, which costs every row an evaluation."""
        model, targets = self.task.common.classifier, self.task.target[positions]
        slope = loss_gradient(model, points, targets, self.loss)
        self.task.pay(positions)
        return slope

    def _unit_cost(self, feasible: FeasibleSet) -> Floats:
        """Return what a unit of each column adds to the distance, ``(w,)``."""
        return 1 / self.distance.scale[feasible.relaxed.encoding.source]


def _permitted_levels(feasible: FeasibleSet) -> Flags:
    """Return which levels may have weight, by feature, ``(i, b, l)``."""
    return feasible.relaxed.weights_by_feature(feasible.upper * feasible.movable, 0.0) > 0


def _centre_weights(feasible: FeasibleSet, numbers: Floats, weights: Floats) -> Floats:
    """Return a gradient ``(a, w)`` of numbers, and of level weights less their mean."""
    # What the weights of a feature have in common cannot move them, because they sum to one.
    permitted = _permitted_levels(feasible)
    blocks = feasible.relaxed.weights_by_feature(weights, 0.0) * permitted
    count = np.maximum(permitted.sum(-1, keepdims=True), 1)
    mean = blocks.sum(-1, keepdims=True) / count
    return feasible.relaxed.with_weights(numbers, (blocks - mean) * permitted)


def _share_largest(feasible: FeasibleSet, squares: Floats) -> Floats:
    """Return squares ``(a, w)`` in which the weights of one feature all have its largest."""
    blocks = feasible.relaxed.weights_by_feature(squares, 0.0)
    largest = np.broadcast_to(blocks.max(-1, initial=0.0, keepdims=True), blocks.shape)
    return feasible.relaxed.with_weights(squares, largest)


def loss_gradient(model: Any, points: Floats, targets: Ints, loss: Loss) -> Floats:
    """Return the gradient ``(n, w)`` of the loss of the targets' probabilities, by PyTorch."""
    network = model.module if isinstance(model, TrainedNetwork) else model
    gradient: Floats = network.loss_gradient(points, targets, _LOSSES[loss])
    return gradient


# Of tensors of probabilities. A probability too small for the weights' numbers still has a
# logarithm with a gradient, so the loss is differentiated as a whole.
_LOSSES: dict[str, Callable[[Any], Any]] = {
    "squared": lambda chances: (1 - chances) ** 2,
    # `losses.loss_of_chance` ends at 1e-12, where there would be no gradient to follow any more.
    "cross_entropy": lambda chances: -chances.clamp(min=_LEAST_CHANCE).log(),
}


class Wachter(Published[WachterSettings]):
    """Gradient descent from the row towards the target class, with λ raised until it flips.

    The model must have gradients: a ``torch.nn.Module``, or a network of
    ``proce.classifier.fit_network``. One counterfactual a row.
    """

    Settings = WachterSettings

    def _prepare(
        self, common: CommonFit, progress: ProgressCallback | None
    ) -> tuple[RelaxedEncoding, MixedDistance]:
        encoding = _checked_encoding(common.classifier, common.rows[:1])
        relaxed = RelaxedEncoding.of(encoding, common.codec.schema)
        return relaxed, MixedDistance.by_deviation(common.codec, common.rows)

    def _find(self, task: Task) -> Candidates:
        settings, (relaxed, distance) = self.settings_, self.prepared_
        feasible = relaxed.feasible_set(task.genome)
        descent = Descent(task, distance, settings.loss)
        search = _TradeOffSearch.begin(task, feasible, descent, settings)
        for number in range(settings.n_raises + settings.n_refinements + 1):
            positions = np.flatnonzero(search.open_rows(task))
            if not len(positions) or task.over:
                break
            part = feasible.take(positions)
            points = descent.run(
                part,
                search.points[positions],
                search.trade_off[positions],
                positions,
                n_steps=settings.n_steps,
                step_size=settings.step_size,
            )
            rows = part.round_to_rows(points)
            reached = self._distance_if_reached(task, rows, positions)
            search.update(positions, points, rows, reached)
            task.report(number + 1)
        self._shorten(task, feasible, search)
        unfinished = search.open_rows(task) & task.over
        found = np.isfinite(search.best_distance)
        candidates = Candidates(search.best_rows[:, None], found[:, None], unfinished)
        candidates.note_failures(task, search.failure_note)
        return candidates

    def _shorten(self, task: Task, feasible: FeasibleSet, search: "_TradeOffSearch") -> None:
        """Look for the smallest share of the way to each result that has the target class."""
        positions = np.flatnonzero(np.isfinite(search.best_distance))
        part, end = feasible.take(positions), search.best_points[positions]
        too_short, enough = np.zeros(len(positions)), np.ones(len(positions))
        for _ in range(self.settings_.n_halvings):
            if not len(positions) or task.over:
                break
            share = (too_short + enough) / 2
            rows = part.round_to_rows(part.start + share[:, None] * (end - part.start))
            distance = self._distance_if_reached(task, rows, positions)
            search.keep_nearest(positions, rows, distance)
            reached = np.isfinite(distance)
            too_short = np.where(reached, too_short, share)
            enough = np.where(reached, share, enough)

    def _distance_if_reached(self, task: Task, rows: Floats, positions: Ints) -> Floats:
        """Ask the model about rows ``(a, f)``; return their distance, infinite if they fail."""
        reached = task.reached(rows[:, None], positions)[0].squeeze(1)
        distance = self.prepared_[1](rows, task.factual[positions]).sum(-1)
        return np.where(reached, distance, np.inf)


@dataclass(eq=False)
class _TradeOffSearch:
    """The search for the smallest λ of each row that is enough, and the nearest row so far."""

    settings: WachterSettings
    trade_off: Floats  # (i,), the λ of the next descent
    # failed, enough: (i,), the largest λ that failed, 0 before the first, and the smallest that was
    # enough, infinite before the first
    failed: Floats
    enough: Floats
    # (i, w), where the next descent starts: where the last descent that was enough ended, or the
    # last of all where none was
    points: Floats
    n_tries: Floats  # (i,), how often λ was raised before the class flipped, then how often refined
    done: Flags  # (i,), whether no further λ is tried
    # best_rows, best_distance, best_points: (i, f), (i,) and (i, w), the nearest row that reached
    # the class, its distance, infinite before the first, and the point that it was rounded from
    best_rows: Floats
    best_distance: Floats
    best_points: Floats

    @classmethod
    def begin(
        cls, task: Task, feasible: FeasibleSet, descent: Descent, settings: WachterSettings
    ) -> "_TradeOffSearch":
        """Return a search whose first λ is the smallest at which any feature moves at all."""
        trade_off = descent.smallest_trade_off(feasible)
        return cls(
            settings,
            trade_off,
            np.zeros_like(trade_off),
            np.full_like(trade_off, np.inf),
            feasible.start.copy(),
            np.zeros_like(trade_off),
            ~np.isfinite(trade_off),
            task.genome.anchor.copy(),
            np.full_like(trade_off, np.inf),
            feasible.start.copy(),
        )

    def open_rows(self, task: Task) -> Flags:
        """Return which rows are not done and can pay for another descent, ``(i,)``."""
        return ~self.done & (task.evaluations_left > self.settings.n_steps)

    def update(self, positions: Ints, points: Floats, rows: Floats, distance: Floats) -> None:
        """Take in how the descents of some rows ended, and choose their next λ."""
        # Shapes: positions ``(a,)``, points ``(a, w)``, rows ``(a, f)``, distance ``(a,)``.
        settings, trade_off = self.settings, self.trade_off[positions]
        reached = np.isfinite(distance)
        better = self.keep_nearest(positions, rows, distance)
        self.best_points[positions[better]] = points[better]
        flipped_before = np.isfinite(self.enough[positions])
        self.failed[positions[~reached]] = trade_off[~reached]
        self.enough[positions[reached]] = trade_off[reached]
        flipped = reached | flipped_before
        moves_start = reached | ~flipped_before
        self.points[positions[moves_start]] = points[moves_start]
        n_tries = np.where(flipped & ~flipped_before, 0.0, self.n_tries[positions] + 1)
        self.n_tries[positions] = n_tries
        max_tries = np.where(flipped, settings.n_refinements, settings.n_raises + 1)
        self.done[positions] = n_tries >= max_tries
        failed, enough = self.failed[positions], self.enough[positions]
        between = np.where(failed > 0, np.sqrt(failed * enough), enough / settings.growth)
        self.trade_off[positions] = np.where(flipped, between, trade_off * settings.growth)

    def keep_nearest(self, positions: Ints, rows: Floats, distance: Floats) -> Flags:
        """Keep rows that are nearer than the nearest before; return which they are, ``(a,)``."""
        better = distance < self.best_distance[positions]
        self.best_distance[positions[better]] = distance[better]
        self.best_rows[positions[better]] = rows[better]
        return better

    def failure_note(self, position: int) -> str:
        """Return why nothing was found for a row that may move."""
        if not np.isfinite(self.trade_off[position]):
            return (
                "The model's answer does not change with any feature that may move, so there is"
                " no gradient to follow."
            )
        if not bool(self.done[position]):  # what is left does not pay for another descent
            return EVALUATIONS_SPENT
        return f"The class did not flip up to λ = {float(self.failed[position]):.3g}."


def _checked_encoding(classifier: Classifier, rows: Array) -> InputEncoding:
    """Return the encoding of a model with gradients; refuse a model without."""
    if not isinstance(classifier, DifferentiableClassifier):
        raise ModelInterfaceError(
            "Wachter follows the model's gradient, and this model has none; expected a"
            " torch.nn.Module or what proce.classifier.fit_network returns. Use GrowingSpheres or"
            " Nearest for other models."
        )
    encoding = getattr(classifier, "encoding", None)
    if not isinstance(encoding, InputEncoding):
        raise ModelInterfaceError(
            "Wachter moves the input of the network, and a function that makes the input from a"
            " frame cannot be undone; expected encoding='one_hot' or 'label'. Train the network on"
            " proce.classifier.one_hot(codec)(codec.encode(frame)), or use GrowingSpheres."
        )
    try:
        classifier.gradient(rows, 0)
    except RuntimeError as error:
        raise ModelInterfaceError(
            f"Wachter follows the model's gradient, and asking for it failed: {error}. Return the"
            " output of the network without detach() or no_grad, or use GrowingSpheres."
        ) from error
    return encoding
