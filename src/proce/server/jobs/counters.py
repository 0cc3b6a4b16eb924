"""What has become of jobs, in numbers."""

from dataclasses import dataclass, field


@dataclass
class JobCounters:
    """Numbers that only grow, for metrics.

    Attributes
    ----------
    accepted
        How many jobs were accepted.
    refused
        How many were not, because the queue was full.
    endings
        How many ended as ``done``, ``failed``, ``cancelled`` or ``interrupted``.
    queue_seconds
        How long the jobs that were begun had waited, together.
    begun
        How many jobs were begun.
    work_seconds
        How long workers had the jobs that have ended, together.
    worked
        How many jobs workers have ended.
    retries
        How many calls were given to another worker after theirs died.
    restarts
        How many workers were replaced.
    """

    accepted: int = 0
    refused: int = 0
    endings: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("done", "failed", "cancelled", "interrupted"), 0)
    )
    queue_seconds: float = 0.0
    begun: int = 0
    work_seconds: float = 0.0
    worked: int = 0
    retries: int = 0
    restarts: int = 0
