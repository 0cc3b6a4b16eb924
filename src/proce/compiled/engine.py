"""Whether numba does the work: on the CPU, where it is installed and can keep its cache."""

import logging
from functools import cache

import torch

logger = logging.getLogger(__name__)


@cache
def kernels_available() -> bool:
    """Return whether kernels can be compiled; this imports numba, which takes half a second."""
    try:
        from proce.compiled.kernel import kernel

        kernel(_nothing)
    except (ImportError, RuntimeError) as reason:  # numba raises the latter without a cache folder
        logger.warning("searching without numba, several times slower: %s", reason)
        return False
    return True


def use_kernels(device: torch.device) -> bool:
    """Return whether tensors of this device go through numba."""
    return device.type == "cpu" and kernels_available()


def _nothing() -> None:
    """Do nothing: a kernel that is never called, to see whether there can be one."""
