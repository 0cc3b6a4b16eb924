"""How long and how fast the networks of this package learn, and what is told of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from proce.arguments import check_between, check_count, check_fields
from proce.errors import SearchError

_MAX_RATE = 1_000.0  # of learning: each step would throw a weight that far


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How long and how fast a network learns.

    Attributes
    ----------
    n_epochs
        The largest number of passes over the training rows.
    batch_size
        The number of rows per step.
    learning_rate
        The highest learning rate of Adam.
    patience
        The number of epochs without improvement on the held-out rows after which training stops.
    held_out
        The share of the rows that are not learned from; their loss says when to stop.
    halve_after
        The number of epochs without improvement after which the learning rate is halved.
    schedule
        How the learning rate falls: ``plateau`` halves it, ``cosine`` lets it rise over the first
        tenth of all steps and fall along a cosine to zero at the last one, so that the loss rests
        when the epochs are over.
    """

    n_epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 2e-3
    patience: int = 6
    held_out: float = 0.1
    halve_after: int = 2
    schedule: Literal["plateau", "cosine"] = "plateau"

    def __post_init__(self) -> None:
        check_fields(self, SearchError)
        for name in ("n_epochs", "batch_size", "patience", "halve_after"):
            check_count(name, getattr(self, name), SearchError)
        check_between("learning_rate", self.learning_rate, SearchError, 0, _MAX_RATE)
        check_between("held_out", self.held_out, SearchError, 0, 1)
        if self.schedule not in ("plateau", "cosine"):
            raise SearchError(f"schedule is {self.schedule!r}; expected 'plateau' or 'cosine'.")


@dataclass(frozen=True, slots=True)
class Epoch:
    """What a progress callback gets after each epoch; it stops the training by returning False."""

    number: int
    n_epochs: int
    held_out_loss: float


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """How a training went."""

    n_epochs: int
    best_epoch: int
    held_out_loss: float
    elapsed_seconds: float


EpochCallback = Callable[[Epoch], object]
