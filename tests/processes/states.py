"""States of workers in tests, which do what a task asks of them."""

import ctypes
import os
import pickle
import signal
import time
from pathlib import Path
from typing import Any

from proce.processes.worker import DONE, Progress


class Echo:
    """Returns what it is given; says how often it was made, and in which process."""

    def echo(self, value: Any) -> Any:
        """Return the value."""
        return value

    def process(self) -> int:
        """Return the id of the process."""
        return os.getpid()

    def wait_for(self, folder: Path) -> int:
        """Leave a trace, wait until somebody says go, and return the id of the process."""
        (folder / str(os.getpid())).touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
        return os.getpid()

    def die(self) -> None:
        """End the process."""
        os.kill(os.getpid(), signal.SIGKILL)

    def leave_child(self) -> None:
        """End the process and leave a child behind, for a while, that Python knows nothing of."""
        if ctypes.CDLL(None).fork() == 0:
            time.sleep(60)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    def go_on(self, folder: Path, progress: Progress) -> None:
        """Leave a trace, and tell progress until nobody listens."""
        (folder / str(os.getpid())).touch()
        while progress("on"):
            time.sleep(0.01)

    def surroundings(self) -> dict[str, object]:
        """Return how many threads the libraries use, the session, and who is ended first."""
        import torch
        from threadpoolctl import threadpool_info

        return {
            "threads": {own["num_threads"] for own in threadpool_info()}
            | {torch.get_num_threads()},
            "session": os.getsid(0),
            "oom_score": int(Path("/proc/self/oom_score_adj").read_text()),
        }

    def exit(self, code: int) -> None:
        """Leave the program, as a model may."""
        raise SystemExit(code)

    def double(self, numbers: list[int], progress: Progress) -> list[int]:
        """Return what the caller answers for each number."""
        return [progress.ask(number) for number in numbers]

    def stall(self, progress: Progress) -> None:
        """Send half an answer, leave a child that holds the link, and stop."""
        if ctypes.CDLL(None).fork() == 0:
            time.sleep(60)
            os._exit(0)
        message = pickle.dumps((DONE, progress.number, "x" * 1000))
        os.write(progress.link.fileno(), len(message).to_bytes(4, "big") + message[:500])
        os.kill(os.getpid(), signal.SIGSTOP)
