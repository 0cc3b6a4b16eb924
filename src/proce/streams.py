"""Random numbers that belong to a row: a hash of (seed, key, generation, purpose, position).

The n-th number of a stream is computed from n alone, so a row draws the same numbers alone, in any
batch, and after other rows have left the batch. :mod:`proce.compiled.stream` has the arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from proce.arguments import brief, is_whole
from proce.arrays import Array, Floats, Ints, Words
from proce.errors import SearchError

MAX_SEED = 2**63 - 1


class Purpose(IntEnum):
    """What a number is drawn for; no number serves two purposes."""

    MATING = 1
    CROSSING = 2
    CROSSOVER = 3
    CHANGE = 4
    MUTATION = 5
    START = 6  # an initial population
    NOISE = 7  # what explains a level
    SHELL = 8  # candidates around a row


@dataclass(frozen=True, eq=False)
class RowStreams:
    """One stream of random numbers per row."""

    states: Words  # (i,), the seed of each stream

    @classmethod
    def of(cls, seed: int, keys: Ints) -> "RowStreams":
        """Return the streams of rows with the given whole-number keys ``(i,)``."""
        return cls.of_each((seed,), keys)

    @classmethod
    def of_each(cls, seeds: Sequence[int], keys: Ints) -> "RowStreams":
        """Return the streams of rows under each of several seeds, one seed after the other."""
        from proce.compiled.stream import mix_states

        words = np.array([seed % 2**64 for seed in seeds], np.uint64)
        states = np.empty((len(words), len(keys)), np.uint64)
        mix_states(words, np.ascontiguousarray(keys, np.int64).view(np.uint64), states)
        return cls(states.ravel())

    def take(self, rows: Array) -> "RowStreams":
        """Return the streams of some of the rows, given by position."""
        return RowStreams(self.states[rows])

    def bits(self, generation: int, purpose: Purpose, count: int) -> Words:
        """Return ``(i, count)`` words, every bit of which is random."""
        from proce.compiled.stream import draw_words

        words = np.empty((len(self.states), count), np.uint64)
        draw_words(self.states, generation, int(purpose), words)
        return words

    def uniforms(self, generation: int, purpose: Purpose, count: int) -> Floats:
        """Return ``(i, count)`` numbers between 0 and 1, both excluded."""
        from proce.compiled.stream import draw_uniforms

        uniforms = np.empty((len(self.states), count))
        draw_uniforms(self.states, generation, int(purpose), uniforms)
        return uniforms


def row_keys(rows: Floats) -> Ints:
    """Return what the random streams of rows ``(…, f)`` depend on: a hash of their values alone."""
    from proce.compiled.stream import hash_rows

    size = rows.shape[-1]
    words = np.ascontiguousarray(rows, np.float64).view(np.uint64)
    keys = np.empty(rows.shape[:-1], np.uint64)
    hash_rows(words.reshape(-1, size) if size else words.reshape(keys.size, 0), keys.reshape(-1))
    return keys.view(np.int64)


def check_seed(seed: Any) -> None:
    """Refuse what is not a whole number from 0 on, or does not fit into 64 bits."""
    if not is_whole(seed) or seed < 0:
        raise SearchError(f"seed is {brief(seed)}; expected a whole number from 0 on.")
    if seed > MAX_SEED:
        raise SearchError(f"seed is {brief(seed)}; expected a whole number below 2**63.")
