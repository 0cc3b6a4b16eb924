"""The tree of errors; each is also the builtin error that a caller would expect.

::

    ProceError
    ├── SchemaError        (ValueError)   a feature, a schema or a frame that does not fit it
    ├── RuleError          (ValueError)   a rule that cannot be read or evaluated
    ├── GraphError         (ValueError)   a causal graph with a cycle or an unknown name
    ├── ModelError         (ValueError)   a model that cannot be asked, or answers nonsense
    │   ├── ModelInterfaceError  (TypeError)   it has no way to give probabilities
    │   └── ModelOutputError                   wrong shape, NaN, sums, unknown classes
    ├── SearchError        (ValueError)   settings, options or a start that cannot be searched
    ├── RowIndexError      (IndexError)   a row that a result does not have
    ├── NotFittedError     (ValueError, AttributeError)   a method is asked before it was fitted
    ├── UnsupportedOption  (TypeError)    a method cannot honour an option of the call
    ├── DatasetError       (ValueError)   an unknown data set or a wrong option of one
    │   └── DownloadError  (OSError)      its file is missing, damaged or out of reach
    ├── FileError          (OSError)      a file that cannot be read or written as asked
    ├── PersistenceError   (ValueError)   an explainer or a model that cannot be saved or loaded
    ├── ReceiptError       (ValueError)   text that is no receipt, or a changed one
    ├── BenchmarkError     (ValueError)   a plan or a run folder that cannot be used
    ├── WorkerError        (RuntimeError) worker processes, or a cluster, that cannot be used
    ├── StoreError         (RuntimeError) a database of explanations that cannot be used
    └── MissingExtraError  (ImportError)  an optional package is not installed

A message says what was wrong, what was expected, and what to do.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class ProceError(Exception):
    """The root of every error raised on purpose by this package."""


class SchemaError(ProceError, ValueError):
    """A feature, a schema, or a frame that does not fit its schema."""


class RuleError(ProceError, ValueError):
    """A rule that cannot be read, or cannot be evaluated on the rows it is given."""

    # how many characters of the rule stand before the mistake; None where it has no place
    position: int | None = None


class GraphError(ProceError, ValueError):
    """A causal graph with a cycle, an unknown name or a missing equation."""

    # how many characters of a graph's text stand before the mistake; None where it has no place
    position: int | None = None


class ModelError(ProceError, ValueError):
    """A model that cannot be asked, or whose answer cannot be used."""


class ModelInterfaceError(ModelError, TypeError):
    """A model that offers no way to ask for probabilities."""


class ModelOutputError(ModelError):
    """A model that answered with the wrong shape, NaN, wrong sums or unknown classes."""


class SearchError(ProceError, ValueError):
    """Settings, options, a genome or a start that cannot be searched."""


class RowIndexError(ProceError, IndexError):
    """A row that a result does not have."""


class NotFittedError(ProceError, ValueError, AttributeError):
    """A method that was asked for explanations before it was fitted."""


class UnsupportedOption(ProceError, TypeError):  # noqa: N818 - it is what the caller asked for
    """An option of a call that this method cannot honour."""


class DatasetError(ProceError, ValueError):
    """An unknown data set, or an option that the data set does not have."""


class DownloadError(DatasetError, OSError):
    """A data file that is absent, damaged or out of reach."""


class FileError(ProceError, OSError):
    """A file that cannot be read or written, or is not what its name says."""

    def __reduce__(self) -> Any:
        """Return what other processes make it of, the system's number with it."""
        return type(self), self.args, {**self.__dict__, "errno": self.errno}


class PersistenceError(ProceError, ValueError):
    """An explainer or a model that cannot be saved, or a saved one that cannot be loaded."""


class ReceiptError(ProceError, ValueError):
    """A text that is no receipt, or a receipt that was changed after it was written."""


class BenchmarkError(ProceError, ValueError):
    """A plan that cannot be run, or a run folder that cannot be used."""


class WorkerError(ProceError, RuntimeError):
    """Worker processes, or a cluster of them, that cannot be started, reached or kept alive."""


class StoreError(ProceError, RuntimeError):
    """A database of explanations that cannot be opened, read or written."""


class MissingExtraError(ProceError, ImportError):
    """An optional package that this call needs is not installed."""


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return ``" Did you mean 'x'?"``, or an empty text where no known name is near."""
    near = get_close_matches(str(name), [str(candidate) for candidate in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says, without its full stop, or the error's name."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
