"""Whether Triton does the work: on a CUDA device, where it is installed."""

import logging
from functools import cache

import torch

logger = logging.getLogger(__name__)


@cache
def triton_available() -> bool:
    """Return whether Triton is there; it comes with PyTorch's builds for CUDA."""
    try:
        import triton  # noqa: F401
    except ImportError as reason:
        logger.warning("searching on CUDA without Triton, several times slower: %s", reason)
        return False
    return True


def use_triton(device: torch.device) -> bool:
    """Return whether tensors of this device go through Triton."""
    return device.type == "cuda" and triton_available()
