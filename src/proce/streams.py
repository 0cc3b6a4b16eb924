"""Random numbers that belong to a row: a hash of (seed, key, generation, purpose, position).

This is SplitMix64 (Steele, Lea and Flood 2014) without a state: the n-th number of a stream is
computed from n alone, so a row draws the same numbers alone, in any batch, and after other rows
have left the batch. `proce.search.kernels.stream` is the same arithmetic for numba.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from proce.arguments import brief, is_whole
from proce.errors import SearchError

GOLDEN = 0x9E3779B97F4A7C15
FIRST_FACTOR, SECOND_FACTOR = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
LOW_HALF = 0xFFFFFFFF
MAX_SEED = 2**63 - 1
_GOLDEN_WORD = np.uint64(GOLDEN)
_FIRST_WORD, _SECOND_WORD = np.uint64(FIRST_FACTOR), np.uint64(SECOND_FACTOR)
_12, _27, _30, _31 = np.uint64(12), np.uint64(27), np.uint64(30), np.uint64(31)


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
    """One stream of random numbers per row.

    Attributes
    ----------
    states
        ``(i,)`` int64, the seed of each stream.
    """

    states: Tensor

    @classmethod
    def of(cls, seed: int, keys: Tensor) -> "RowStreams":
        """Return the streams of rows with the given whole-number keys ``(i,)``."""
        return cls.of_each((seed,), keys)

    @classmethod
    def of_each(cls, seeds: Sequence[int], keys: Tensor) -> "RowStreams":
        """Return the streams of rows under each of several seeds, one seed after the other."""
        if not keys.is_cpu:
            return cls(_states_by_tensors(seeds, keys))
        starts = _mixed(np.array([(seed + GOLDEN) % 2**64 for seed in seeds], np.uint64))
        words = keys.to(torch.int64).numpy().view(np.uint64) * _GOLDEN_WORD
        states = _mixed(starts[:, None] + words).ravel()
        return cls(torch.from_numpy(states.view(np.int64)))

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """The states as numba takes them; on the CPU only."""
        return self.states.numpy().view(np.uint64)

    def take(self, rows: Tensor) -> "RowStreams":
        """Return the streams of some of the rows, given by position."""
        return RowStreams(self.states[rows])

    def bits(self, generation: int, purpose: Purpose, count: int) -> Tensor:
        """Return ``(i, count)`` int64, every bit of which is random."""
        if not self.states.is_cpu:
            return _bits_by_tensors(self.states, generation, purpose, count)
        return torch.from_numpy(self._draw(generation, purpose, count).view(np.int64))

    def uniforms(self, generation: int, purpose: Purpose, count: int) -> Tensor:
        """Return ``(i, count)`` float64 between 0 and 1, both excluded."""
        if not self.states.is_cpu:
            return uniform(self.bits(generation, purpose, count))
        words = self._draw(generation, purpose, count) >> _12
        return torch.from_numpy((words.astype(np.float64) + 0.5) * 2.0**-52)

    def _draw(self, generation: int, purpose: Purpose, count: int) -> NDArray[np.uint64]:
        """Return the bits by NumPy, which takes a third of the time for the few of a row."""
        start = _mixed(self.words + np.uint64(generation * FIRST_FACTOR % 2**64))
        start = _mixed(start + np.uint64(int(purpose) * SECOND_FACTOR % 2**64))  # (i,)
        positions = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN_WORD
        return _mixed(start[:, None] + positions)


def mix(state: Tensor) -> Tensor:
    """Return every int64 scrambled by the finalizer of SplitMix64."""
    if not state.is_cpu:
        return _mix_tensor(state)
    words = np.atleast_1d(state.numpy().view(np.uint64))
    return torch.from_numpy(_mixed(words).view(np.int64)).reshape(state.shape)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> _30)) * _FIRST_WORD
    words = (words ^ (words >> _27)) * _SECOND_WORD
    words ^= words >> _31
    return words


def _mix_tensor(state: Tensor) -> Tensor:
    """Return the same by PyTorch, on any device."""
    state = (state ^ _shift_right(state, 30)) * _signed(FIRST_FACTOR)
    state = (state ^ _shift_right(state, 27)) * _signed(SECOND_FACTOR)
    return state ^ _shift_right(state, 31)


def _states_by_tensors(seeds: Sequence[int], keys: Tensor) -> Tensor:
    words = [_signed(seed % 2**64 + GOLDEN) for seed in seeds]
    starts = _mix_tensor(torch.tensor(words, device=keys.device))
    return _mix_tensor(starts[:, None] + keys.to(torch.int64) * _signed(GOLDEN)).flatten()


def _bits_by_tensors(states: Tensor, generation: int, purpose: Purpose, count: int) -> Tensor:
    start = _mix_tensor(states + _signed(generation * FIRST_FACTOR))
    start = _mix_tensor(start + _signed(purpose * SECOND_FACTOR))  # (i,)
    positions = torch.arange(1, count + 1, device=start.device) * _signed(GOLDEN)
    return _mix_tensor(start[:, None] + positions)


def power(base: Tensor, exponent: Tensor | float) -> Tensor:
    """Return a power whose last bit does not depend on where in a batch an element stands.

    On the CPU PyTorch computes the last few elements of a tensor in another way than the rest.
    """
    if base.device.type != "cpu":
        return base.pow(exponent)
    numbers = exponent.numpy() if isinstance(exponent, Tensor) else exponent
    return torch.from_numpy(np.power(base.numpy(), numbers))


def hash_values(values: Tensor) -> Tensor:
    """Return a hash (…,) of float64 values (…, n); the same values in another order differ."""
    salt = torch.arange(values.shape[-1], device=values.device) * _signed(GOLDEN)
    return mix(values.view(torch.int64) + salt).sum(-1)


def uniform(bits: Tensor) -> Tensor:
    """Return a number between 0 and 1, both excluded, from the upper 52 bits."""
    return (_shift_right(bits, 12).double() + 0.5) * 2.0**-52


def whole_numbers(bits: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return two whole numbers below ``n``, from the upper and the lower half of the bits."""
    return (_shift_right(bits, 32) * n) >> 32, ((bits & LOW_HALF) * n) >> 32


def halves(bits: Tensor) -> tuple[Tensor, Tensor]:
    """Return two numbers in [0, 1), from the upper and the lower half of the bits."""
    return _shift_right(bits, 32).double() * 2.0**-32, (bits & LOW_HALF).double() * 2.0**-32


def _shift_right(state: Tensor, by: int) -> Tensor:
    """Shift to the right and fill with zeros, whatever the sign."""
    return (state >> by) & ((1 << (64 - by)) - 1)


def _signed(value: int) -> int:
    """Return a 64-bit pattern as the int64 that PyTorch takes."""
    value %= 2**64
    return value - 2**64 if value >= 2**63 else value


def row_keys(rows: Tensor) -> Tensor:
    """Return what the random streams of rows ``(i, f)`` depend on: their values alone."""
    return hash_values(rows.nan_to_num(nan=-9.0))


def check_seed(seed: Any) -> None:
    """Refuse what is not a whole number from 0 on, or does not fit into 64 bits."""
    if not is_whole(seed) or seed < 0:
        raise SearchError(f"seed is {brief(seed)}; expected a whole number from 0 on.")
    if seed > MAX_SEED:
        raise SearchError(f"seed is {brief(seed)}; expected a whole number below 2**63.")
