"""CERTIFAI (Sharma, Henderson and Ghosh 2020, arXiv:1905.07857): a genetic algorithm on distance.

Candidates of the target class evolve by selection, mutation and crossover; their fitness is one
over their distance, as in the paper. The generations are run by PyGAD; the operators are the
paper's and draw from the row's own stream of random numbers.
"""

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from proce.arguments import check_between, check_count, check_fields
from proce.arrays import Array, Floats
from proce.compiled.copies import distinct, groups_of
from proce.compiled.streams import Purpose, RowStreams
from proce.errors import MissingExtraError, SearchError
from proce.methods.calls.method import ProgressCallback
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, CommonFit, Task
from proce.schema import Codec, MixedDistance
from proce.search.genome import permitted_values

_MIN_DISTANCE = 1e-9  # a distance of zero would be infinitely fit
_N_SPARE = 4  # counterfactuals beyond those asked for, in case some fail the last check
_SILENT_LOGGER = logging.Logger("pygad", logging.CRITICAL + 1)  # PyGAD logs what it also raises


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifaiSettings:
    """Settings of CERTIFAI.

    Attributes
    ----------
    population_size
        How many candidates a generation has; the better half survives.
    n_generations
        How many generations there are, at most.
    mutation_probability
        The share of children of which some features are drawn anew.
    crossover_probability
        The share of children that take some features from a second parent.
    start_rounds
        How often, at most, a whole population is drawn to find candidates of the target class.
    patience
        After how many generations without a nearer candidate a row is done.
    """

    population_size: int = 100
    n_generations: int = 100
    mutation_probability: float = 0.2
    crossover_probability: float = 0.5
    start_rounds: int = 20
    patience: int = 30

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        check_count("population_size", self.population_size, SearchError, minimum=4)
        for name in ("n_generations", "start_rounds", "patience"):
            check_count(name, getattr(self, name), SearchError)
        for name in ("mutation_probability", "crossover_probability"):
            check_between(name, getattr(self, name), SearchError, 0, 1)


class Certifai(Published[CertifaiSettings]):
    """CERTIFAI (Sharma, Henderson and Ghosh 2020), for any classifier.

    Candidates of the target class, drawn from all permitted values, evolve by selection,
    crossover and mutation; the fittest is the nearest. Needs PyGAD: the ``bench`` extra.
    """

    Settings = CertifaiSettings

    def _prepare(self, common: CommonFit, progress: ProgressCallback | None) -> "CertifaiDistance":
        _import_pygad()
        return CertifaiDistance.of(common.codec, common.rows)

    def _find(self, task: Task) -> Candidates:
        candidates, settings = Candidates.none(task, _N_SPARE), self.settings_
        for position in range(len(task)):
            if task.over:
                candidates.unfinished[position:] = True
                break
            search = _GeneticSearch.of(task, position, self.prepared_, settings)
            candidates.fill(position, search.run())
            candidates.unfinished[position] = task.over
        n_drawn = settings.population_size * settings.start_rounds
        reason = (
            f"None of up to {n_drawn:,} random rows within the limits has the target class, so"
            " there is nothing to start from."
        )
        candidates.note_failures(task, lambda _: reason)
        return candidates


@dataclass(frozen=True, eq=False)
class CertifaiDistance:
    """The paper's distance for mixed data."""

    # ``n_con/n · Σ |x - c| / MAD`` over the continuous features plus ``n_cat/n`` times the number
    # of levels that differ.

    by_feature: MixedDistance  # the distance of each single feature
    weights: Array  # (f,), for each feature the share of features that are of its kind

    @classmethod
    def of(cls, codec: Codec, rows: Array) -> "CertifaiDistance":
        """Return the distance with the deviations of training rows ``(n, f)``."""
        by_feature = MixedDistance.by_deviation(codec, rows)
        level_share = by_feature.is_level.astype(np.float64).mean()
        return cls(by_feature, np.where(by_feature.is_level, level_share, 1 - level_share))

    def __call__(self, rows: Array, factual: Array) -> Array:
        """Return how far rows ``(…, f)`` are from others, ``(…,)``."""
        return (self.by_feature(rows, factual) * self.weights).sum(-1)


def fitness(distance: Array, reached: Array) -> Array:
    """Return ``1 / distance`` of candidates, and 0 for those without the target class."""
    return np.where(reached, 1 / np.maximum(distance, _MIN_DISTANCE), 0.0)


@dataclass(eq=False)
class _GeneticSearch:
    """The search for one row, whose genes are the features that may move."""

    task: Task
    position: Array  # (1,), of the row in the task
    distance: CertifaiDistance
    settings: CertifaiSettings
    streams: RowStreams
    genes: Array  # (g,), positions of the features that may move

    @classmethod
    def of(
        cls, task: Task, position: int, distance: CertifaiDistance, settings: CertifaiSettings
    ) -> "_GeneticSearch":
        only = np.array([position])
        genes = np.flatnonzero(task.genome.movable[position])
        return cls(task, only, distance, settings, task.streams.take(only), genes)

    def run(self) -> Array:
        """Return the candidates that reached the target ``(c, f)``, the nearest first."""
        population, scores = self._first_population()
        if not len(population):
            return self._rows(population)
        if not self.task.over and self._has_evaluations_left:
            search = self._evolve(population, scores)
            population, scores = search.population, search.last_generation_fitness
        reached = np.flatnonzero(scores > 0)
        order = reached[np.argsort(-scores[reached], kind="stable")]
        return self._rows(population[order[distinct(population[order])]])

    def _first_population(self) -> tuple[Floats, Floats]:
        """Return the first population, all of the target class, and its fitness."""
        size = self.settings.population_size
        members, scores = np.empty((0, len(self.genes))), np.empty(0)
        for turn in range(self.settings.start_rounds if len(self.genes) else 0):
            if len(members) >= size or self.task.over or not self._has_evaluations_left:
                break
            draws = self._draws(turn, Purpose.START, size)
            drawn = self._repair(self._permitted_values(draws))
            score = self._score(drawn)
            members = np.vstack([members, drawn[score > 0]])
            scores = np.append(scores, score[score > 0])
        if not len(members):
            return members, scores
        repeated = np.resize(np.arange(len(members)), size)  # too few are repeated
        return members[repeated], scores[repeated]

    def _score(self, population: Floats) -> Floats:
        """Return the fitness of candidates; the model is asked once, about all."""
        rows = self._rows(population)
        reached, _ = self.task.reached(rows[None], self.position)
        factual = self.task.factual[self.position]
        return fitness(self.distance(rows, factual), reached[0])

    def _rows(self, population: Floats) -> Array:
        """Return candidates as whole rows ``(c, f)``."""
        rows = np.tile(self.task.genome.anchor[self.position], (len(population), 1))
        rows[:, self.genes] = np.asarray(population, dtype=np.float64)
        return rows

    def _repair(self, population: Floats) -> Floats:
        """Return candidates with every gene on a permitted value."""
        rows = self.task.repair(self._rows(population)[None], self.position)[0]
        return rows[:, self.genes]

    @property
    def _has_evaluations_left(self) -> bool:
        return bool(self.task.evaluations_left[self.position] > 0)

    def _evolve(self, population: Floats, scores: Floats) -> Any:
        """Return PyGAD's search after its last generation."""
        size = len(population)
        search = _import_pygad().GA(
            num_generations=self.settings.n_generations,
            num_parents_mating=size // 2,
            keep_elitism=size // 2,
            initial_population=population,
            fitness_func=lambda search, candidates, _: (
                self._score(candidates) if search.generations_completed else scores
            ),
            fitness_batch_size=size,
            parent_selection_type="sss",  # the fittest
            crossover_type=self._crossover,
            mutation_type=self._mutate,
            on_generation=self._after_generation,
            stop_criteria=f"saturate_{self.settings.patience}",
            gene_type=float,
            suppress_warnings=True,
            logger=_SILENT_LOGGER,
        )
        search.run()
        return search

    def _crossover(self, parents: Floats, shape: tuple[int, int], search: Any) -> Floats:
        """Return children: copies of a parent, some with features of a second one."""
        turn, count = search.generations_completed, shape[0]
        first = np.resize(np.arange(len(parents)), count)
        mates = self._draws(turn, Purpose.MATING, count)[:, 0]
        second = (mates * len(parents)).astype(int)
        crossing = self._draws(turn, Purpose.CROSSING, count)[:, :1]
        swapped = self._draws(turn, Purpose.CROSSOVER, count) < 0.5
        swapped &= crossing < self.settings.crossover_probability
        return np.where(swapped, parents[second], parents[first])

    def _mutate(self, children: Floats, search: Any) -> Floats:
        """Return children of which some have some features drawn anew."""
        turn, count = search.generations_completed, len(children)
        chance, share = np.split(self._draws(turn, Purpose.CHANGE, 2 * count), 2)
        draws = self._draws(turn, Purpose.MUTATION, 2 * count)
        order = draws[:count].argsort(1).argsort(1)
        redrawn = order < np.ceil(share[:, :1] * len(self.genes))  # one feature to all
        firsts, group = groups_of(np.concatenate([search.population, children]))
        copies = firsts[group[-count:]] < len(search.population)
        redrawn &= copies[:, None] | (chance[:, :1] < self.settings.mutation_probability)
        return self._repair(np.where(redrawn, self._permitted_values(draws[count:]), children))

    def _after_generation(self, search: Any) -> str | None:
        self.task.report(search.generations_completed)
        return "stop" if self.task.over or not self._has_evaluations_left else None

    def _draws(self, turn: int, purpose: Purpose, count: int) -> Floats:
        """Return ``(count, g)`` numbers between 0 and 1 of the row's own stream."""
        width = len(self.genes)
        return self.streams.uniforms(turn, purpose, count * width).reshape(count, width)

    def _permitted_values(self, draws: Floats) -> Floats:
        """Return permitted values, each as likely as the others, from draws ``(c, g)``."""
        genome, genes = self.task.genome, self.genes
        lower, upper = (end[self.position, genes] for end in (genome.lower, genome.upper))
        return permitted_values(draws, lower, upper, genome.step[genes])


def _import_pygad() -> Any:
    try:
        import pygad
    except ImportError as error:
        raise MissingExtraError(
            "CERTIFAI needs PyGAD, which is not installed; install it with"
            " pip install 'proce[bench]'."
        ) from error
    return pygad
