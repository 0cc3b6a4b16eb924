"""The random numbers of :mod:`proce.streams`, for numba."""

import numpy as np

from proce.compiled.kernel import kernel
from proce.streams import FIRST_FACTOR, GOLDEN, LOW_HALF, SECOND_FACTOR

GOLDEN_WORD, _LOW_HALF = np.uint64(GOLDEN), np.uint64(LOW_HALF)
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(FIRST_FACTOR), np.uint64(SECOND_FACTOR)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mix(state: np.uint64) -> np.uint64:
    """Return a number scrambled by the finalizer of SplitMix64."""
    state = (state ^ (state >> _30)) * _FIRST_FACTOR
    state = (state ^ (state >> _27)) * _SECOND_FACTOR
    return state ^ (state >> _31)


@kernel
def stream_start(state: np.uint64, generation: int, purpose: int | np.int64) -> np.uint64:
    """Return where a row's numbers for one generation and purpose begin."""
    state = mix(state + np.uint64(generation) * _FIRST_FACTOR)
    return mix(state + np.uint64(purpose) * _SECOND_FACTOR)


@kernel
def draw_bits(start: np.uint64, position: int) -> np.uint64:
    """Return the random bits at a position of a stream."""
    return mix(start + np.uint64(position + 1) * GOLDEN_WORD)


@kernel
def uniform(bits: np.uint64) -> float:
    """Return a number between 0 and 1, both excluded, from the upper 52 bits."""
    return (np.float64(np.int64(bits >> np.uint64(12))) + 0.5) * 2.0**-52


@kernel
def upper_half(bits: np.uint64) -> float:
    """Return a number in [0, 1) from the upper half of the bits."""
    return np.float64(np.int64(bits >> _32)) * 2.0**-32


@kernel
def lower_half(bits: np.uint64) -> float:
    """Return a number in [0, 1) from the lower half of the bits."""
    return np.float64(np.int64(bits & _LOW_HALF)) * 2.0**-32


@kernel
def upper_whole(bits: np.uint64, n: int) -> np.int64:
    """Return a whole number below ``n`` from the upper half of the bits."""
    return np.int64(((bits >> _32) * np.uint64(n)) >> _32)


@kernel
def lower_whole(bits: np.uint64, n: int) -> np.int64:
    """Return a whole number below ``n`` from the lower half of the bits."""
    return np.int64(((bits & _LOW_HALF) * np.uint64(n)) >> _32)
