"""Models that break on some people, as a model of a user may."""

import os
import signal
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import worlds


@dataclass(frozen=True)
class Breaking:
    """The bank's model, which breaks on people of an odd age.

    Attributes
    ----------
    age
        The age.
    kills
        Whether the process ends; else an error is raised.
    """

    age: int
    kills: bool

    def __call__(self, frame: Any) -> "np.ndarray":
        """Return probabilities of both classes."""
        if (frame["age"] == self.age).any():
            if self.kills:
                os.kill(os.getpid(), signal.SIGSEGV)
            raise ValueError("this age is not in the table")
        return np.asarray(worlds.bank(frame))
