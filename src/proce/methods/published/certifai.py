"""CERTIFAI: the nearest row of another class, by a genetic algorithm.

Sharma, Henderson and Ghosh (2020), arXiv:1905.07857. The search is PyGAD's; the operators are
the paper's and draw from the row's own stream.
"""

import logging
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.errors import MissingExtraError, SearchError
from proce.methods.calls.method import ProgressCallback
from proce.methods.published.published import Published
from proce.methods.published.task import Candidates, Learnt, Task
from proce.objective import MixedDistance
from proce.schema import Codec
from proce.streams import Purpose, RowStreams

_NEAREST = 1e-9  # a distance of zero would be infinitely fit
_SPARE = 4  # handed back beyond what is asked for, in case one fails the last check
_QUIET = logging.Logger("pygad", logging.CRITICAL + 1)  # it would log what it also raises

Genes = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifaiSettings:
    """Settings of CERTIFAI.

    Attributes
    ----------
    population_size
        Candidates of a generation; the better half survives.
    n_generations
        At most this many.
    mutation_probability
        Candidates of which some features are drawn anew.
    crossover_probability
        Candidates that exchange some features with another.
    start_rounds
        How often, at most, a whole population is drawn to find the first of the target class.
    patience
        Generations without a nearer candidate after which a row is done.
    """

    population_size: int = 100
    n_generations: int = 100
    mutation_probability: float = 0.2
    crossover_probability: float = 0.5
    start_rounds: int = 20
    patience: int = 30

    def __post_init__(self) -> None:
        for name, least in (
            ("population_size", 4),
            ("n_generations", 1),
            ("start_rounds", 1),
            ("patience", 1),
        ):
            if not getattr(self, name) >= least:
                raise SearchError(f"{name} is {getattr(self, name)}; expected {least} or more.")
        for name in ("mutation_probability", "crossover_probability"):
            if not 0 <= getattr(self, name) <= 1:
                raise SearchError(f"{name} is {getattr(self, name)}; expected 0 to 1.")


class Certifai(Published[CertifaiSettings]):
    """CERTIFAI (Sharma, Henderson and Ghosh 2020), for any classifier.

    Candidates of the target class, drawn from all permitted values, evolve by selection,
    crossover and mutation; the fittest is the nearest. Needs PyGAD: the ``bench`` extra.
    """

    Settings = CertifaiSettings

    def _prepare(self, learnt: Learnt, progress: ProgressCallback | None) -> "CertifaiDistance":
        _pygad()
        return CertifaiDistance.of(learnt.codec, learnt.rows)

    def _find(self, task: Task) -> Candidates:
        kept = task.n + _SPARE
        rows = task.factual[:, None].repeat(1, kept, 1)
        found = torch.zeros(len(task), kept, dtype=torch.bool)
        unfinished = torch.zeros(len(task), dtype=torch.bool)
        notes: dict[int, str] = {}
        for at in range(len(task)):
            if task.over:
                unfinished[at:] = True
                break
            search = _Search.of(task, at, self.prepared_, self.settings_)
            best = search.run()[:kept]
            rows[at, : len(best)], found[at, : len(best)] = best, True
            unfinished[at] = task.over
            if search.note:
                notes[at] = search.note
        return Candidates(rows, found, unfinished, notes=notes)


@dataclass(frozen=True, eq=False)
class CertifaiDistance:
    """The paper's distance for mixed data.

    ``n_con/n · Σ |x - c| / MAD`` over the continuous features plus ``n_cat/n`` times the number
    of levels that differ.

    Attributes
    ----------
    each
        The distance of each feature.
    weights
        ``(f,)``, the share of features that are of the same kind.
    """

    each: MixedDistance
    weights: Tensor

    @classmethod
    def of(cls, codec: Codec, rows: Tensor) -> "CertifaiDistance":
        """Return the distance with the deviations of training rows ``(n, f)``."""
        each = MixedDistance.by_deviation(codec, rows)
        share = each.is_level.double().mean()
        return cls(each, torch.where(each.is_level, share, 1 - share))

    def __call__(self, rows: Tensor, factual: Tensor) -> Tensor:
        """Return how far rows ``(…, f)`` are from others, ``(…,)``."""
        return (self.each(rows, factual) * self.weights).sum(-1)


def fitness(distance: Tensor, reached: Tensor) -> Tensor:
    """Return ``1 / distance`` of candidates, and 0 for those without the target class."""
    return torch.where(reached, 1 / distance.clamp(min=_NEAREST), 0.0)


@dataclass(eq=False)
class _Search:
    """The search of one row: its genes are the features that may move."""

    task: Task
    only: Tensor  # (1,), the row's position
    distance: CertifaiDistance
    settings: CertifaiSettings
    streams: RowStreams
    genes: Tensor  # positions of the features
    note: str = field(default="", init=False)

    @classmethod
    def of(
        cls, task: Task, at: int, distance: CertifaiDistance, settings: CertifaiSettings
    ) -> "_Search":
        only = torch.tensor([at])
        genes = torch.nonzero(task.genome.movable[at]).flatten()
        return cls(task, only, distance, settings, task.streams.take(only), genes)

    def run(self) -> Tensor:
        """Return the candidates that reached the target ``(c, f)``, the nearest first."""
        population, scores = self.start()
        if not len(population):
            return self.rows(population)
        if not self.task.over and self._affordable:
            search = self._evolve(population, scores)
            population, scores = search.population, search.last_generation_fitness
        reached = np.flatnonzero(scores > 0)
        order = reached[np.argsort(-scores[reached], kind="stable")]
        distinct = np.sort(np.unique(population[order], axis=0, return_index=True)[1])
        return self.rows(population[order][distinct])

    def start(self) -> tuple[Genes, Genes]:
        """Return the first population, all of the target class, and its fitness."""
        size = self.settings.population_size
        kept, scores = np.empty((0, len(self.genes))), np.empty(0)
        for turn in range(self.settings.start_rounds if len(self.genes) else 0):
            if len(kept) >= size or self.task.over or not self._affordable:
                break
            draws = self._draws(turn, Purpose.START, size)
            drawn = self.repaired(self._anywhere(draws))
            score = self.score(drawn)
            kept, scores = np.vstack([kept, drawn[score > 0]]), np.append(scores, score[score > 0])
        if not len(kept):
            self.note = _nothing_to_start_from(len(self.genes), size, self.settings.start_rounds)
            return kept, scores
        again = np.resize(np.arange(len(kept)), size)  # the few stand for the many
        return kept[again], scores[again]

    def score(self, population: Genes) -> Genes:
        """Return the fitness of candidates; the model is asked once, about all."""
        rows = self.rows(population)
        reached, _ = self.task.reached(rows[None], self.only)
        return fitness(self.distance(rows, self.factual), reached[0]).numpy()

    def rows(self, population: Genes) -> Tensor:
        """Return candidates as whole rows ``(c, f)``."""
        rows = self.task.genome.anchor[self.only].repeat(len(population), 1)
        rows[:, self.genes] = torch.from_numpy(np.asarray(population, dtype=np.float64))
        return rows

    def repaired(self, population: Genes) -> Genes:
        """Return candidates with every gene on a permitted value."""
        rows = self.task.repair(self.rows(population)[None], self.only)[0]
        return rows[:, self.genes].numpy()

    @property
    def factual(self) -> Tensor:
        return self.task.factual[self.only]

    @property
    def _affordable(self) -> bool:
        return bool(self.task.left[self.only] > 0)

    def _evolve(self, population: Genes, scores: Genes) -> Any:
        size = len(population)
        search = _pygad().GA(
            num_generations=self.settings.n_generations,
            num_parents_mating=size // 2,
            keep_elitism=size // 2,
            initial_population=population,
            fitness_func=lambda ga, drawn, _: (
                self.score(drawn) if ga.generations_completed else scores
            ),
            fitness_batch_size=size,
            parent_selection_type="sss",  # the fittest
            crossover_type=self._crossed,
            mutation_type=self._mutated,
            on_generation=self._after,
            stop_criteria=f"saturate_{self.settings.patience}",
            gene_type=float,
            suppress_warnings=True,
            logger=_QUIET,
        )
        search.run()
        return search

    def _crossed(self, parents: Genes, shape: tuple[int, int], search: Any) -> Genes:
        """Return children: each a parent, some with features of the next one."""
        turn, count = search.generations_completed, shape[0]
        first = np.resize(np.arange(len(parents)), count)
        pairs = self._draws(turn, Purpose.MATING, count)[:, 0]
        second = (pairs * len(parents)).astype(int)
        crossing = self._draws(turn, Purpose.CROSSING, count)[:, :1]
        swapped = self._draws(turn, Purpose.CROSSOVER, count) < 0.5
        swapped &= crossing < self.settings.crossover_probability
        return np.where(swapped, parents[second], parents[first])

    def _mutated(self, children: Genes, search: Any) -> Genes:
        """Return children, of which some have some features drawn anew."""
        turn, count = search.generations_completed, len(children)
        chance, share = np.split(self._draws(turn, Purpose.CHANGE, 2 * count), 2)
        draws = self._draws(turn, Purpose.MUTATION, 2 * count)
        order = draws[:count].argsort(1).argsort(1)
        anew = order < np.ceil(share[:, :1] * len(self.genes))  # one feature to all
        known = {tuple(each) for each in search.population}
        copies = np.array([[tuple(each) in known] for each in children])
        anew &= copies | (chance[:, :1] < self.settings.mutation_probability)
        return self.repaired(np.where(anew, self._anywhere(draws[count:]), children))

    def _after(self, search: Any) -> str | None:
        self.task.tell(search.generations_completed)
        return "stop" if self.task.over or not self._affordable else None

    def _draws(self, turn: int, purpose: Purpose, count: int) -> Genes:
        """Return ``(count, g)`` numbers between 0 and 1 of the row's own stream."""
        width = len(self.genes)
        return self.streams.uniforms(turn, purpose, count * width).reshape(count, width).numpy()

    def _anywhere(self, draws: Genes) -> Genes:
        """Return permitted values, each as likely as the others, from draws ``(c, g)``."""
        genome, genes = self.task.genome, self.genes
        lower, upper = (end[self.only, genes].numpy() for end in (genome.lower, genome.upper))
        step = genome.step[genes].numpy()
        stepped = np.where(step > 0, step, 1.0)
        on_grid = lower + stepped * np.floor(draws * ((upper - lower) / stepped + 1))
        anywhere: Genes = np.where(step > 0, on_grid, lower + draws * (upper - lower))
        return anywhere


def _nothing_to_start_from(n_genes: int, size: int, rounds: int) -> str:
    if not n_genes:
        return "No feature may move."
    return (
        f"None of up to {size * rounds:,} random rows within the limits has the target class, so"
        " there is nothing to start from."
    )


def _pygad() -> Any:
    try:
        import pygad
    except ImportError as error:
        raise MissingExtraError(
            "CERTIFAI needs PyGAD, which is not installed; install it with"
            " pip install 'proce[bench]'."
        ) from error
    return pygad
