"""Random numbers that belong to a row: a hash of (seed, key, generation, purpose, position).

The n-th number of a stream is computed from n alone (SplitMix64 of Steele, Lea and Flood 2014,
without a state), so a row draws the same numbers alone, in any batch, and after other rows have
left the batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from proce.arguments import brief, is_whole
from proce.arrays import Array, Floats, Ints, Words
from proce.compiled.kernel import kernel, part
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
        words = np.array([seed % 2**64 for seed in seeds], np.uint64)
        states = np.empty((len(words), len(keys)), np.uint64)
        mix_states(words, np.ascontiguousarray(keys, np.int64).view(np.uint64), states)
        return cls(states.ravel())

    def take(self, rows: Array) -> "RowStreams":
        """Return the streams of some of the rows, given by position."""
        return RowStreams(self.states[rows])

    def bits(self, generation: int, purpose: Purpose, count: int) -> Words:
        """Return ``(i, count)`` words, every bit of which is random."""
        words = np.empty((len(self.states), count), np.uint64)
        draw_words(self.states, generation, int(purpose), words)
        return words

    def uniforms(self, generation: int, purpose: Purpose, count: int) -> Floats:
        """Return ``(i, count)`` numbers between 0 and 1, both excluded."""
        uniforms = np.empty((len(self.states), count))
        draw_uniforms(self.states, generation, int(purpose), uniforms)
        return uniforms


def row_keys(rows: Floats) -> Ints:
    """Return what the random streams of rows ``(…, f)`` depend on: a hash of their values alone."""
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


GOLDEN_WORD, _LOW_HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFFFFFFFF)
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_INFINITY, _NAN = np.uint64(0xFFE0000000000000), np.uint64(0x7FF8 << 48)  # the first unsigned
_1, _27, _30, _31, _32 = np.uint64(1), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@part
def mix(state: np.uint64) -> np.uint64:
    """Return a number scrambled by the finalizer of SplitMix64."""
    state = (state ^ (state >> _30)) * _FIRST_FACTOR
    state = (state ^ (state >> _27)) * _SECOND_FACTOR
    return state ^ (state >> _31)


@part
def stream_start(state: np.uint64, generation: int, purpose: int | np.int64) -> np.uint64:
    """Return where a row's numbers for one generation and purpose begin."""
    state = mix(state + np.uint64(generation) * _FIRST_FACTOR)
    return mix(state + np.uint64(purpose) * _SECOND_FACTOR)


@part
def draw_bits(start: np.uint64, position: int) -> np.uint64:
    """Return the random bits at a position of a stream."""
    return mix(start + np.uint64(position + 1) * GOLDEN_WORD)


@part
def uniform(bits: np.uint64) -> float:
    """Return a number between 0 and 1, both excluded, from the upper 52 bits."""
    return (np.float64(np.int64(bits >> np.uint64(12))) + 0.5) * 2.0**-52


@part
def upper_half(bits: np.uint64) -> float:
    """Return a number in [0, 1) from the upper half of the bits."""
    return np.float64(np.int64(bits >> _32)) * 2.0**-32


@part
def lower_half(bits: np.uint64) -> float:
    """Return a number in [0, 1) from the lower half of the bits."""
    return np.float64(np.int64(bits & _LOW_HALF)) * 2.0**-32


@part
def upper_whole(bits: np.uint64, n: int) -> np.int64:
    """Return a whole number below ``n`` from the upper half of the bits."""
    return np.int64(((bits >> _32) * np.uint64(n)) >> _32)


@part
def lower_whole(bits: np.uint64, n: int) -> np.int64:
    """Return a whole number below ``n`` from the lower half of the bits."""
    return np.int64(((bits & _LOW_HALF) * np.uint64(n)) >> _32)


@kernel
def mix_states(seeds: Words, keys: Words, states: Words) -> None:
    """Write the state ``(s, i)`` of each row's stream under each seed, from the keys ``(i,)``."""
    for s in range(len(seeds)):
        start = mix(seeds[s] + GOLDEN_WORD)
        for i in range(len(keys)):
            states[s, i] = mix(start + keys[i] * GOLDEN_WORD)


@kernel
def draw_words(states: Words, generation: int, purpose: int, words: Words) -> None:
    """Write the random bits ``(i, n)`` of each stream, for a generation and a purpose."""
    for i in range(len(states)):
        start = stream_start(states[i], generation, purpose)
        for position in range(words.shape[1]):
            words[i, position] = draw_bits(start, position)


@kernel
def draw_uniforms(states: Words, generation: int, purpose: int, uniforms: Floats) -> None:
    """Write numbers ``(i, n)`` between 0 and 1, both excluded, for a generation and a purpose."""
    for i in range(len(states)):
        start = stream_start(states[i], generation, purpose)
        for position in range(uniforms.shape[1]):
            uniforms[i, position] = uniform(draw_bits(start, position))


@part
def hash_row(words: Words) -> np.uint64:
    """Return a hash of the bits ``(n,)`` of some values; another one in another order.

    Equal values have equal hashes: -0.0 that of 0.0, and every NaN the same.
    """
    code = np.uint64(0)
    for position in range(len(words)):
        word, unsigned = words[position], words[position] << _1
        if unsigned == 0:
            word = unsigned
        elif unsigned > _INFINITY:
            word = _NAN
        code += mix(word + np.uint64(position) * GOLDEN_WORD)
    return code


@kernel
def hash_rows(words: Words, codes: Words) -> None:
    """Write the hash ``(n,)`` of each row of bits ``(n, f)``."""
    for row in range(len(words)):
        codes[row] = hash_row(words[row])
