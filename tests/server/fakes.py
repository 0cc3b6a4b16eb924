"""Explainers for workers in tests: quick, without a model, and as wicked as one can be."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proce.errors import ProceError, SchemaError

_STEP_SECONDS = 0.002
_MAX_STEPS = 30_000


class FieldError(ProceError, ValueError):
    """An error with fields of its own."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)
        self.field, self.message = field, message


class StubbornError(ProceError):
    """An error that cannot be pickled, nor made of its words."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


@dataclass(frozen=True)
class Opener:
    """Opens a :class:`FakeApi`, which knows a folder; on some openings something happens.

    Attributes
    ----------
    folder
        Where each worker leaves a file, and where explainers remember what they have done once.
    raises
        Whether opening raises an error.
    dies
        Whether opening ends the process.
    """

    folder: Path
    raises: bool = False
    dies: bool = False

    def __call__(self) -> "FakeApi":
        (self.folder / f"worker-{os.getpid()}").touch()
        if self.raises:
            raise SchemaError("feature 'age': there is no such explainer.")
        if self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return FakeApi(self.folder)


class FakeApi:
    """What workers of tests are asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def echo(self, value: Any) -> Any:
        """Return the value."""
        return value

    def process(self) -> int:
        """Return the id of the process."""
        return os.getpid()

    def wait(self, seconds: float) -> None:
        """Take a while, and listen to nobody."""
        time.sleep(seconds)

    def raises(self, kind: str) -> None:
        """Raise an error of some kind."""
        if kind == "fields":
            raise FieldError("rows[0].age", "it is negative")
        if kind == "stubborn":
            raise StubbornError(1, 2)
        if kind == "bug":
            raise KeyError("age")
        if kind == "memory":
            raise MemoryError

    def unsendable(self) -> object:
        """Return what cannot be sent."""
        return lambda: None

    def die(self, times: int, name: str = "die") -> str:
        """End the process, a number of times; then return."""
        traces = list(self.folder.glob(f"{name}-*"))
        if len(traces) < times:
            (self.folder / f"{name}-{len(traces)}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return f"alive after {len(traces)}"

    def explain(self, request: dict[str, Any], progress: Any) -> dict[str, Any]:
        """Take some steps, and return the request's name with its square.

        ``dies`` ends the process at the first step so many times, ``deaf`` never stops,
        ``for_ever`` takes steps until it is stopped.
        """
        if request.get("dies"):
            self.die(request["dies"], f"explain-{request['name']}")
        if request.get("deaf"):
            time.sleep(60)
        n_steps = _MAX_STEPS if request.get("for_ever") else request.get("steps", 1)
        for step in range(n_steps):
            if progress({"stage": "search", "done": step, "total": n_steps}) is False:
                (self.folder / f"stopped-{request['name']}").touch()
                break
            time.sleep(_STEP_SECONDS)
        name = request["name"]
        return {"name": name, "square": name**2 if isinstance(name, int) else None}
