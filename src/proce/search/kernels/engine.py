"""Whether numba does the work: on the CPU, where it is installed and can keep its cache."""

import logging
from functools import cache

import torch

logger = logging.getLogger(__name__)


@cache
def kernels_available() -> bool:
    """Return whether the kernels can be compiled; this imports numba, which takes half a second."""
    try:
        from proce.search.kernels import survival, variation  # noqa: F401
    except (ImportError, RuntimeError) as reason:  # numba raises the latter without a cache folder
        logger.warning("searching without numba, several times slower: %s", reason)
        return False
    return True


def use_kernels(device: torch.device) -> bool:
    """Return whether tensors of this device go through numba."""
    return device.type == "cpu" and kernels_available()
