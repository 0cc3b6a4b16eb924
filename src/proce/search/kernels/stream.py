"""The random numbers of :mod:`proce.search.stream`, for numba."""

import numpy as np
from numpy.typing import NDArray

from proce.search.kernels.compiling import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mixed(state: np.uint64) -> np.uint64:
    """Return the finalizer of SplitMix64."""
    state = (state ^ (state >> _30)) * _FIRST
    state = (state ^ (state >> _27)) * _SECOND
    return state ^ (state >> _31)


@kernel
def started(state: np.uint64, generation: int, purpose: int) -> np.uint64:
    """Return where a row's numbers for one generation and purpose begin."""
    state = mixed(state + np.uint64(generation) * _FIRST)
    return mixed(state + np.uint64(purpose) * _SECOND)


@kernel
def drawn(start: np.uint64, position: int) -> np.uint64:
    """Return the bits at a position."""
    return mixed(start + np.uint64(position + 1) * _GOLDEN)


@kernel
def uniform(bits: np.uint64) -> float:
    """Return a number between 0 and 1, both excluded, from the upper 52 bits."""
    return (np.float64(np.int64(bits >> np.uint64(12))) + 0.5) * 2.0**-52


@kernel
def upper_half(bits: np.uint64) -> float:
    """Return a number in [0, 1)."""
    return np.float64(np.int64(bits >> _32)) * 2.0**-32


@kernel
def lower_half(bits: np.uint64) -> float:
    """Return a number in [0, 1)."""
    return np.float64(np.int64(bits & _LOW_HALF)) * 2.0**-32


@kernel
def upper_whole(bits: np.uint64, n: int) -> np.int64:
    """Return a whole number below ``n``."""
    return np.int64(((bits >> _32) * np.uint64(n)) >> _32)


@kernel
def lower_whole(bits: np.uint64, n: int) -> np.int64:
    """Return a whole number below ``n``."""
    return np.int64(((bits & _LOW_HALF) * np.uint64(n)) >> _32)


@kernel
def fill(
    streams: NDArray[np.uint64], generation: int, purpose: int, out: NDArray[np.float64]
) -> None:
    """Write the uniform numbers ``(i, count)`` of each stream, one after the other."""
    for i in range(len(streams)):
        start = started(streams[i], generation, purpose)
        for position in range(out.shape[1]):
            out[i, position] = uniform(drawn(start, position))
