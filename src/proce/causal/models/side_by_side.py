"""The mechanisms of several causal models as one, so that rows go through all models at once."""

from dataclasses import dataclass

import numpy as np

from proce.arrays import Array
from proce.causal.equations.mechanism import Mechanism, Parents, Units


@dataclass(frozen=True)
class SideBySide:
    """A mechanism whose arrays have a first axis ``(m, …)``, with one mechanism for each entry.

    Attributes
    ----------
    mechanisms
        The mechanisms of one feature, all in the same units and with noise of the same size.
    """

    mechanisms: tuple[Mechanism, ...]

    @property
    def units(self) -> Units:
        """Whether numbers come and go in raw units or on the unit range."""
        return self.mechanisms[0].units

    @property
    def noise_size(self) -> int:
        """How many numbers describe the noise of one row."""
        return self.mechanisms[0].noise_size

    def predict(self, parents: Parents, /) -> Array:
        """Return the equations without their noise."""
        each = enumerate(self.mechanisms)
        return np.stack([own.predict(_entry(parents, place)) for place, own in each])

    def abduct(self, parents: Parents, value: Array, uniforms: Array) -> Array:
        """Return the noise ``(m, …, noise_size)`` under which these parents give this value."""
        each = enumerate(self.mechanisms)
        return np.stack(
            [
                own.abduct(_entry(parents, place), value[place], uniforms[place])
                for place, own in each
            ]
        )

    def respond(self, parents: Parents, residual: Array) -> Array:
        """Return the values under these parents, with noise ``(m, …, noise_size)``."""
        first = self.mechanisms[0]
        if all(own is first for own in self.mechanisms):
            return first.respond(parents, residual)
        each = enumerate(self.mechanisms)
        return np.stack(
            [own.respond(_entry(parents, place), residual[place]) for place, own in each]
        )


def _entry(parents: Parents, place: int) -> dict[str, Array]:
    return {name: values[place] for name, values in parents.items()}
