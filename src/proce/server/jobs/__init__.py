"""The life of an explanation that was asked for: queued, running, and one of four endings."""

from proce.server.jobs.job import JobCounters, JobEnded, UnknownJob
from proce.server.jobs.jobs import JobLimits, Jobs

__all__ = ["JobCounters", "JobEnded", "JobLimits", "Jobs", "UnknownJob"]
