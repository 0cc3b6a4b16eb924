"""The CPU time of this process and of those that work for it."""

import os

import psutil


def cpu_seconds() -> float:
    """Return the CPU time of this process, and of workers that have ended, whoever forked them.

    What a server of workers takes to import what they need is left out, as it does so once.
    """
    servers = psutil.Process().children()
    return sum(os.times()[:4]) + sum(sum(server.cpu_times()[2:4]) for server in servers)
