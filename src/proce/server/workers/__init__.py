"""Processes that hold an explainer each and answer calls, whatever becomes of them."""

from proce.server.workers.call import Call, CallCancelled, CallTimedOut, QueueFull, WorkerDied
from proce.server.workers.crew import CrewSettings
from proce.server.workers.workers import Workers, WorkersSettings, WorkersState

__all__ = [
    "Call",
    "CallCancelled",
    "CallTimedOut",
    "CrewSettings",
    "QueueFull",
    "WorkerDied",
    "Workers",
    "WorkersSettings",
    "WorkersState",
]
