"""The processors of this machine that this process may use."""

import os


def n_usable() -> int:
    """Return how many processors this process may use, where the system tells; else all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
