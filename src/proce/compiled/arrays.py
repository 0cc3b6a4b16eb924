"""Tensors as numba takes them."""

from typing import Any

from numpy.typing import NDArray
from torch import Tensor


def as_array(tensor: Tensor) -> NDArray[Any]:
    """Return a tensor of the CPU as a contiguous array; where it is one, of the same memory."""
    return tensor.contiguous().numpy()
