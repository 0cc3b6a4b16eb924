"""The settings of ProCE."""

from dataclasses import dataclass, field, fields, replace
from typing import Self

from proce.arguments import check_between, check_count
from proce.errors import SearchError
from proce.latent import MAX_WIDTH, AutoEncoderSettings
from proce.objective import Start
from proce.objective.distance import DISTANCES
from proce.schema.features.reprs import short_repr
from proce.schema.scale import Scale
from proce.search import NSGA2Settings

MAX_WAIT_YEARS = 100.0
_MIN_REFITS = 2  # one has no spread
_MAX_REFITS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SearchSettings(NSGA2Settings):
    """The settings of ProCE: those of NSGA-II, and its own.

    Attributes
    ----------
    n_neighbours
        How many training rows make a prototype; K of the paper.
    latent_size
        The size of the latent space, E of the paper; ``None`` for a small one that is chosen from
        the number of features.
    margin
        How far beyond the decision the target must be reached, so that advice does not end
        on the boundary. Where the margin cannot be had, the decision itself is enough, and the
        result says so.
    causal_weight
        The weight of what does not follow from its causes in ``causal="soft"``; lambda of
        ``docs/paper.md``.
    effect_weight
        For ``causal="hard"``, how many times an action counts on a feature whose causes could be
        acted on instead. A weight above 1 prefers actions on causes, whose consequences are less
        sure.
    distance
        How the modes ``soft`` and ``off`` measure a change: ``absolute``, the size of each
        difference with a charge of 0.02 per action, or ``squared``, as the paper does (Eq. 7).
        Squares spread a change over many features. The mode ``paper`` is squared in any case,
        the mode ``hard`` never.
    max_wait_years
        How long people may be told to wait where the schema has features that wait and nothing
        else was found; 0 for never.
    start
        The candidates that a search begins with: ``mixed``, or ``gaussian`` as in Algorithm 1.
    n_refits
        How often the equations are fitted again on resampled rows. How far the actions pass the
        decision in these refits says how likely they work in the true equations. Advice that
        works with a chance of 98% is preferred, and searched for again where it was not found;
        advice with a chance below one half is not shown. 0 for no such test, otherwise at least 2.
    scale
        What the unit range of a number is: ``bulk``, the central 99% of the training rows, which
        outliers cannot move, with changed numbers rounded to about a thousandth of it; or
        ``range``, from the lowest to the highest value, as in the paper.
    sparse
        Whether actions that are not needed are taken back, and whether the ways of one, two and
        three actions are scanned before the search; False as in the paper.
    chunk_size
        How many rows are searched at a time; ``None`` for 256 to 1,024, by the size of their
        populations. It bounds the memory and does not change results.
    autoencoder
        All other settings of the latent space.
    """

    n_neighbours: int = 10
    latent_size: int | None = None
    margin: float = 0.1
    causal_weight: float = 0.1
    effect_weight: float = 1.0
    distance: str = "absolute"
    max_wait_years: float = 5.0
    start: Start = "mixed"
    n_refits: int = 20
    scale: Scale = "bulk"
    sparse: bool = True
    chunk_size: int | None = None
    autoencoder: AutoEncoderSettings = field(default_factory=AutoEncoderSettings)

    def __post_init__(self) -> None:
        NSGA2Settings.__post_init__(self)
        check_count("n_neighbours", self.n_neighbours, SearchError)
        if self.chunk_size is not None:
            check_count("chunk_size", self.chunk_size, SearchError)
        if self.latent_size is not None:
            check_count("latent_size", self.latent_size, SearchError, maximum=MAX_WIDTH)
        if not 0 <= self.margin < 0.5:
            raise SearchError(f"margin is {self.margin}; expected 0 or more, and under 0.5.")
        check_between("causal_weight", self.causal_weight, SearchError, 0)
        check_between("effect_weight", self.effect_weight, SearchError, 1)
        if not 0 <= self.max_wait_years <= MAX_WAIT_YEARS:
            raise SearchError(
                f"max_wait_years is {self.max_wait_years}; expected 0 (never) to"
                f" {MAX_WAIT_YEARS:g}."
            )
        if self.n_refits != 0 and not self.n_refits >= _MIN_REFITS:
            raise SearchError(
                f"n_refits is {self.n_refits}; expected a whole number, 0 (no refits) or at least"
                f" {_MIN_REFITS}: one alone says nothing of a chance."
            )
        check_count("n_refits", self.n_refits, SearchError, 0, _MAX_REFITS)
        if self.scale not in ("bulk", "range"):
            raise SearchError(f"scale is {self.scale!r}; expected 'bulk' or 'range'.")
        if self.start not in ("mixed", "gaussian"):
            raise SearchError(f"start is {self.start!r}; expected 'mixed' or 'gaussian'.")
        if self.distance not in tuple(DISTANCES):
            known = " or ".join(map(repr, DISTANCES))
            raise SearchError(f"distance is {self.distance!r}; expected {known}.")

    def __repr__(self) -> str:
        return short_repr(self)

    @classmethod
    def paper(cls) -> Self:
        """Return the authors' settings."""
        search = NSGA2Settings.paper()
        shared = {field.name: getattr(search, field.name) for field in fields(search)}
        return cls(
            **shared,
            latent_size=256,
            margin=0.0,
            causal_weight=1.0,
            distance="squared",
            n_refits=0,
            sparse=False,
            start="gaussian",
            scale="range",
        )

    @property
    def latent(self) -> AutoEncoderSettings:
        """The settings of the auto-encoder, with ``latent_size`` where it is given."""
        if self.latent_size is None:
            return self.autoencoder
        return replace(self.autoencoder, latent_size=self.latent_size)
