"""One small change of a module, and what became of it."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """A module with one small change.

    Attributes
    ----------
    module
        The path of the module below ``src/proce``.
    function
        The outermost function that holds the change, qualified by its class; empty where the change
        is run when the module is imported: constants, defaults of parameters and of fields.
    statement
        The first line of the statement that is changed, as it stands in the source.
    before, after
        The code that is changed, and what it becomes.
    column
        Where the code begins in its line.
    operator
        The name of the mutation.
    lines
        The first and the last line of what is changed; a test that runs none of them cannot notice.
    first_line
        Where the outermost function begins, its decorators included; 0 without one.
    source
        The text of the changed module.
    """

    module: str
    function: str
    statement: str
    before: str
    after: str
    column: int
    operator: str
    lines: tuple[int, int]
    first_line: int
    source: str

    @property
    def key(self) -> tuple[str, str, str, str, str, int]:
        """What names the change, also after lines above it have come or gone."""
        own = (self.module, self.function, self.statement, self.before, self.after)
        return (*own, self.column)


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Attributes
    ----------
    outcome
        ``killed`` by a test, by ``time``, by a ``crash``; ``survived``, or ``unreached`` by a test.
    by
        The test that failed, or what ended the run.
    seconds
        The processor time that it took.
    """

    outcome: str
    by: str
    seconds: float


def record_of(mutant: Mutant, verdict: Verdict) -> dict[str, Any]:
    """Return what is written about a mutant: all but the text of the module."""
    own = asdict(mutant)
    del own["source"], own["first_line"]
    return {**own, **asdict(verdict)}


def key_of(record: dict[str, Any]) -> tuple[str, str, str, str, str, int]:
    """Return the key of the mutant that a record is about."""
    names = ("module", "function", "statement", "before", "after")
    return (*(record[name] for name in names), record["column"])  # type: ignore[return-value]
