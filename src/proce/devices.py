"""Where tensors live: twins of what was fitted, for a device on which a search runs.

What was fitted stays where it is. Its twin for a device holds the same tensors there, however deep
they are, and what a call makes of the twin finds back to the original, with all that this one has
worked out.
"""

import copy
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

HOST = torch.device("cpu")
Fitted = TypeVar("Fitted")
Value = TypeVar("Value")
_Known = Callable[[Any], Any]  # from what must move to its twin, or None where there is none yet


class Twins(Generic[Fitted]):
    """What was fitted, and its twin on a device.

    Parameters
    ----------
    original
        A dataclass of fitted parts.
    device
        Where the twin lives.

    Attributes
    ----------
    original, device
        The parameters of the same names.
    twin
        The same parts on the device; the original itself where all of it lives there.
    """

    def __init__(self, original: Fitted, device: torch.device) -> None:
        self.original, self.device = original, device
        self._twin_of: dict[int, tuple[Any, Any]] = {}  # by id, the original and its twin
        self._original_of: dict[int, tuple[Any, Any]] = {}
        self.twin: Fitted = original
        if device != HOST:
            self.twin = _moved(original, device, self._known_or_new)

    def there(self, value: Value) -> Value:
        """Return what a call made of the original, on the device."""
        if self.device == HOST:
            return value
        moved: Value = _moved(value, self.device, _lookup(self._twin_of))
        return moved

    def here(self, value: Value) -> Value:
        """Return what a call made of the twin, on the host."""
        if self.device == HOST:
            return value
        moved: Value = _moved(value, HOST, _lookup(self._original_of))
        return moved

    def at_work(self) -> AbstractContextManager[Any]:
        """Return a context in which new tensors are on the device, unless something else is said.

        On the host that is so anyway, and the context costs time.
        """
        return nullcontext() if self.device == HOST else self.device

    def _known_or_new(self, value: Any) -> Any:
        if id(value) not in self._twin_of:
            twin = _copied(value, self.device, self._known_or_new)
            self._twin_of[id(value)] = value, twin
            self._original_of[id(twin)] = twin, value
        return self._twin_of[id(value)][1]


def bytes_free(device: torch.device) -> int | None:
    """Return how much memory a device has left for tensors; ``None`` on the host, as not asked."""
    if device.type != "cuda":
        return None
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return torch.cuda.mem_get_info(device)[0] + unused


def _lookup(known: Mapping[int, tuple[Any, Any]]) -> _Known:
    def find(value: Any) -> Any:
        return known[id(value)][1] if id(value) in known else None

    return find


def _moved(value: Any, device: torch.device, known: _Known) -> Any:
    """Return what holds the same tensors on a device; what holds none is returned as it is."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, nn.Module) or (is_dataclass(value) and not isinstance(value, type)):
        twin = known(value)
        return _copied(value, device, known) if twin is None else twin
    if isinstance(value, tuple | list):
        parts = [_moved(part, device, known) for part in value]
        same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    if isinstance(value, Mapping):
        entries = {key: _moved(part, device, known) for key, part in value.items()}
        return value if all(entries[key] is value[key] for key in value) else entries
    return value.on_device(device) if hasattr(value, "on_device") else value


def _copied(value: Any, device: torch.device, known: _Known) -> Any:
    """Return a module, or a dataclass with its fields, on a device; itself where nothing moves.

    What a dataclass has worked out from its fields is left behind, and so is what it collects.
    """
    if isinstance(value, nn.Module):
        tensors = (*value.parameters(), *value.buffers())
        is_there = all(tensor.device.type == device.type for tensor in tensors)
        return value if is_there else copy.deepcopy(value).to(device)
    given, collected = [], {}
    for field in fields(value):
        if field.init or field.default_factory is MISSING:
            given.append(field.name)
        else:
            collected[field.name] = field.default_factory
    before = {name: getattr(value, name) for name in given}
    after = {name: _moved(part, device, known) for name, part in before.items()}
    if all(after[name] is before[name] for name in given):
        return value
    twin = object.__new__(type(value))
    after |= {name: new() for name, new in collected.items()}
    for name, part in after.items():
        object.__setattr__(twin, name, part)
    return twin
