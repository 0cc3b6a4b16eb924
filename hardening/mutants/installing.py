"""Puts a changed module in the place of the one that is there.

A change inside a function replaces the code of the function where it lives, so that everybody who
holds the function runs the change, and nothing needs to be imported again. Where a kernel is
changed, all kernels run as Python: a compiled one hands a word of 64 bits to Python as a plain
integer, which the next one takes for a signed number and refuses.
"""

import gc
import importlib.abc
import importlib.util
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from mutants.mutant import Mutant
from mutants.rooms import SOURCE, module_name


class Functions:
    """The functions of modules that have been imported, by where they are written."""

    def __init__(self, paths: Iterable[Path]) -> None:
        files = {str(path) for path in paths}
        self._at: dict[tuple[str, str, int], list[FunctionType]] = {}
        for found in gc.get_objects():
            if type(found) is FunctionType and found.__code__.co_filename in files:
                code = found.__code__
                place = (code.co_filename, code.co_qualname, code.co_firstlineno)
                self._at.setdefault(place, []).append(found)

    def install(self, mutant: Mutant) -> None:
        """Give the function of a mutant its changed code."""
        path = str(SOURCE / "proce" / mutant.module)
        place = (path, mutant.function, mutant.first_line)
        functions = self._at[place]
        code = _code_at(compile(mutant.source, path, "exec"), mutant.function, mutant.first_line)
        for function in functions:
            function.__code__ = code
        if any(kernel.py_func in functions for kernel in _kernels()):
            interpret_kernels()


def _code_at(module: CodeType, name: str, line: int) -> CodeType:
    """Return the code of the function of this name that begins at this line."""
    waiting = [module]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == name and code.co_firstlineno == line:
            return code
        waiting += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    raise LookupError(f"{name} does not begin at line {line} of {module.co_filename}")


def _kernels() -> list[Dispatcher]:
    """Return every kernel that has been imported."""
    found = [value for module in _own_modules() for value in vars(module).values()]
    own = {id(value): value for value in found if issubclass(type(value), Dispatcher)}
    return list(own.values())


def interpret_kernels() -> None:
    """Let all kernels run as Python."""
    chosen = {id(kernel): kernel for kernel in _kernels()}
    np.seterr(all="ignore")  # as the kernels are compiled
    for kernel in chosen.values():
        if "math" in kernel.py_func.__globals__:
            kernel.py_func.__globals__["math"] = _UnguardedMath()
    for module in _own_modules():
        for name, value in list(vars(module).items()):
            if id(value) in chosen:
                setattr(module, name, _with_records(chosen[id(value)].py_func))


class _UnguardedMath:
    """The functions of ``math``, which give infinity and NaN where Python raises, as numba does."""

    def __getattr__(self, name: str) -> Any:
        known = getattr(math, name)
        if not callable(known):
            return known

        def run(*arguments: float) -> float:
            try:
                return float(known(*arguments))
            except OverflowError:
                return math.inf
            except ValueError:
                is_zero = name.startswith("log") and arguments[0] == 0
                return -math.inf if is_zero else math.nan

        return run


def _with_records(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel's function that reads the fields of records as numba does, by a dot."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        return function(*map(_as_records, arguments))

    return run


def _as_records(value: Any) -> Any:
    has_fields = isinstance(value, np.ndarray) and value.dtype.names is not None
    return value.view(np.recarray) if has_fields else value


def _own_modules() -> list[ModuleType]:
    """Return the modules of the package and of the tests that have been imported."""
    roots = ("proce", "tests")
    return [module for name, module in list(sys.modules.items()) if name.split(".")[0] in roots]


class ChangedModule(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports the changed module of a mutant in the place of the one that is on the disk."""

    def __init__(self, mutant: Mutant) -> None:
        self._path = SOURCE / "proce" / mutant.module
        self._source = mutant.source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where the changed module comes from; ``None`` for every other module."""
        if fullname != module_name(self._path):
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self)

    def get_filename(self, fullname: str) -> str:
        """Return where the module is written."""
        return str(self._path)

    def get_data(self, path: str | bytes) -> bytes:
        """Return the changed text."""
        return self._source.encode("utf-8")
