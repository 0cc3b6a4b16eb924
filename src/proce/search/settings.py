"""The settings of a search."""

from dataclasses import dataclass
from typing import Literal, Self

from proce.arguments import check_between, check_count, check_fields
from proce.errors import SearchError

MAX_CANDIDATES = 1_000_000  # of a generation, and generations of a search: more fit in no memory
Crowding = Literal["deb", "paper"]
Mating = Literal["tournament", "random_pairs"]
Crossover = Literal["sbx", "swap"]


@dataclass(frozen=True, slots=True)
class NSGA2Settings:
    """Settings of NSGA-II.

    Attributes
    ----------
    population_size
        The number of candidates that survive a generation.
    n_offspring
        The number of new candidates per generation.
    n_generations
        The largest number of generations; the initial population is the first.
    mating
        ``"tournament"``: a parent is the better of two drawn at random.
        ``"random_pairs"``: the population is shuffled and paired (Algorithm 1).
    crossover
        ``"sbx"``: simulated binary crossover of half the genes, then a uniform swap.
        ``"swap"``: genes are swapped only (Algorithm 1).
    crossover_probability
        The share of the pairs that cross; the others are copied.
    crossover_eta, mutation_eta
        A larger value keeps a child nearer to its parents.
    mutation_rate
        How many of a child's movable genes mutate, on average.
    revert_rate
        How willingly a child's genes return to their anchor: each with the chance
        ``revert_rate * u**3``, where ``u`` is drawn once for the child. Most children keep nearly
        all of their genes and some give up most of them, so that changes stay few however many
        genes there are.
    crowding
        See :mod:`proce.search.survival`.
    stop_improvement
        An instance stops once it improved by less than this share; None for never.
    stop_window
        The number of generations over which the improvement is measured.
    stop_every
        The number of generations between two checks; it divides the window.
    """

    population_size: int = 100
    n_offspring: int = 100
    n_generations: int = 50
    mating: Mating = "tournament"
    crossover: Crossover = "sbx"
    crossover_probability: float = 0.9
    crossover_eta: float = 15.0
    mutation_eta: float = 20.0
    mutation_rate: float = 1.0
    revert_rate: float = 0.7
    crowding: Crowding = "deb"
    stop_improvement: float | None = 0.01
    stop_window: int = 10
    stop_every: int = 5

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        for name in ("population_size", "n_offspring", "n_generations"):
            check_count(name, getattr(self, name), SearchError, maximum=MAX_CANDIDATES)
        check_count("stop_every", self.stop_every, SearchError)
        for name in ("crossover_eta", "mutation_eta", "mutation_rate", "revert_rate"):
            check_between(name, getattr(self, name), SearchError, 0)
        check_between("crossover_probability", self.crossover_probability, SearchError, 0, 1)
        if self.stop_improvement is not None:
            check_between("stop_improvement", self.stop_improvement, SearchError, 0)
        check_count("stop_window", self.stop_window, SearchError, maximum=MAX_CANDIDATES)
        if self.stop_window % self.stop_every:
            raise SearchError(
                f"stop_window is {self.stop_window}; expected a multiple of stop_every,"
                f" which is {self.stop_every}."
            )
        for field, known in _NAMES.items():
            if getattr(self, field) not in known:
                names = ", ".join(map(repr, known))
                raise SearchError(f"{field} is {getattr(self, field)!r}; expected one of {names}.")

    @classmethod
    def paper(cls) -> Self:
        """Return the authors' settings: 200, 50 offspring, eta 3, no early stop, no revert."""
        return cls(
            population_size=200,
            n_offspring=50,
            n_generations=100,
            crossover_eta=3.0,
            mutation_eta=3.0,
            revert_rate=0.0,
            stop_improvement=None,
        )


_NAMES = {
    "mating": ("tournament", "random_pairs"),
    "crossover": ("sbx", "swap"),
    "crowding": ("deb", "paper"),
}
