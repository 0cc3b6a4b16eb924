"""A queue in which those who ask take turns."""

from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import zip_longest

from proce.server.jobs.job import Job


class FairQueue:
    """Jobs that wait: in the order in which they came, but owners with several take turns.

    Who asks for one explanation waits for one explanation of each of the others, and not for all
    that somebody has asked for before.
    """

    def __init__(self) -> None:
        self._of_owners: OrderedDict[str, deque[Job]] = OrderedDict()  # the first is next

    def __len__(self) -> int:
        return sum(len(jobs) for jobs in self._of_owners.values())

    def put(self, job: Job) -> None:
        """Add a job at the end of those of its owner."""
        self._of_owners.setdefault(job.owner, deque()).append(job)

    def take(self) -> Job | None:
        """Remove and return the job whose turn it is; ``None`` where nobody waits."""
        if not self._of_owners:
            return None
        owner, jobs = self._of_owners.popitem(last=False)
        job = jobs.popleft()
        if jobs:
            self._of_owners[owner] = jobs  # behind all others
        return job

    def remove(self, job: Job) -> bool:
        """Remove a job; return False where it does not wait."""
        jobs = self._of_owners.get(job.owner, deque())
        if job not in jobs:
            return False
        jobs.remove(job)
        if not jobs:
            del self._of_owners[job.owner]
        return True

    def in_order(self) -> Iterator[Job]:
        """Yield the jobs in the order of their turns, were nobody else to come."""
        for turn in zip_longest(*self._of_owners.values()):
            yield from (job for job in turn if job is not None)
