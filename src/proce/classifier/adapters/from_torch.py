"""Networks: a torch module with the encoding of its input and the meaning of its output."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from proce.arguments import kind_name
from proce.arrays import Array, Floats
from proce.classifier.adapters.probe import check_answers, detect_output, probe_rows
from proce.classifier.classifier import Adapter, checked_classes
from proce.classifier.encoding import (
    Encoding,
    FrameEncoding,
    FrameFunction,
    InputEncoding,
    as_encoding,
)
from proce.classifier.prediction import (
    Output,
    check_probabilities,
    check_shape,
    count_classes,
    translate_errors,
)
from proce.compiled.row_network import Layer
from proce.errors import ModelError, ModelInterfaceError, ModelOutputError, PersistenceError
from proce.schema import Codec

# Rows at a time: the values between layers stay in the cache, 2-3 times faster than all at once.
CPU_BLOCK_ROWS = 4096
_GRADIENT_ROWS = 64  # of one shape, because the last bits of a product depend on its shape
_SHAPE_STEPS = ("View", "UnsafeView", "Reshape", "Squeeze", "Unsqueeze", "Select", "Slice")
_LINEAR_STEPS = ("Addmm", "Mm", "Addmv", "Mv", "Linear")


@dataclass(frozen=True, eq=False)
class TorchClassifier(Adapter):
    """A copy of a network in evaluation mode, with the encoding it was trained on."""

    module: nn.Module
    encoding: Encoding
    output: Output

    @property
    def name(self) -> str:
        """What the model is called in messages."""
        return f"the network {type(self.module).__name__}"

    def with_codec(self, codec: Codec) -> Self:
        """Return the network for rows of a codec of the same features; its input is the same."""
        own = self.encoding
        encoding = own.function if isinstance(own, FrameEncoding) else own.kind
        return replace(self, codec=codec, encoding=as_encoding(encoding, codec))

    @property
    def takes_units(self) -> bool:
        """Whether the network is given numbers on the unit range."""
        return isinstance(self.encoding, InputEncoding)

    def inputs(self, rows: Floats) -> Array:
        """Return the network's input ``(n, w)``."""
        return self.encoding(rows, self._numpy_dtype)

    def probabilities(self, inputs: Tensor) -> Tensor:
        """Return the class probabilities ``(n, k)`` of inputs; autograd runs through."""
        return tensor_probabilities(self._columns(inputs), self.output)

    def gradient(self, rows: Floats, target: Array | int) -> Array:
        """Return the gradient of p(target) with respect to the inputs, ``(n, w)``."""
        inputs = self.inputs(rows)
        if not np.issubdtype(inputs.dtype, np.floating):
            raise ModelInterfaceError(
                f"{self.name} is given whole numbers by its encoding, so there is no gradient"
                " with respect to its input. Use a method that does not need one."
            )
        positions = np.broadcast_to(np.asarray(target, np.int64), len(rows))
        return self.loss_gradient(inputs, positions, torch.clone)

    def loss_gradient(
        self, inputs: Array, target: Array, loss: Callable[[Tensor], Tensor]
    ) -> Floats:
        """Return the gradient ``(n, w)`` of a loss of p(target) of inputs ``(n, w)``."""
        gradient = np.empty(inputs.shape)
        for start in range(0, len(inputs), _GRADIENT_ROWS):
            block = slice(start, start + _GRADIENT_ROWS)
            n_rows = len(inputs[block])
            padding = (0, _GRADIENT_ROWS - n_rows)
            given = np.pad(inputs[block], (padding, (0, 0)), mode="edge")
            wanted = np.pad(target[block], padding, mode="edge")
            gradient[block] = self._block_gradient(given, wanted, loss)[:n_rows]
        return gradient

    def _block_gradient(
        self, inputs: Array, target: Array, loss: Callable[[Tensor], Tensor]
    ) -> Floats:
        dtype, device = _dtype_and_device(self.module)
        given = torch.tensor(inputs, dtype=dtype, device=device).requires_grad_()
        positions = torch.tensor(target, dtype=torch.long, device=device)
        with torch.enable_grad():
            losses = loss(self.probabilities(given).gather(1, positions[:, None]))
            total = losses.sum()  # rows do not interact
        (gradient,) = torch.autograd.grad(total, given)
        return gradient.cpu().double().numpy()

    @property
    def _numpy_dtype(self) -> Any:
        """The dtype of the module's weights, or float32 where NumPy has none like it."""
        names = {torch.float64: np.float64, torch.float16: np.float16}
        return names.get(_dtype_and_device(self.module)[0], np.float32)

    def _probabilities_of(self, rows: Floats) -> Floats:
        return self._answers(self.inputs(rows))

    def _probabilities_of_raw(self, raw: Floats) -> Floats:
        if isinstance(self.encoding, InputEncoding):
            rows = self.codec.by_range.to_unit(raw)
            return self._answers(self.encoding.of_range(rows, self._numpy_dtype))
        return self._answers(self.encoding.of_raw(raw, self._numpy_dtype))

    def _probabilities_of_frame(self, frame: Any) -> Floats:
        if isinstance(self.encoding, InputEncoding):
            rows = self.codec.by_range.encode(frame)
            return self._answers(self.encoding.of_range(rows, self._numpy_dtype))
        return self._answers(self.encoding.of_frame(frame, self._numpy_dtype))

    def _answers(self, inputs: Array) -> Floats:
        """Return the checked probabilities of inputs ``(n, w)``, without a gradient."""
        columns = self.columns_of(inputs)
        return check_probabilities(columns, self.output, len(self.classes), self.name)

    def columns_of(self, inputs: Array) -> Floats:
        """Return what the network gives for inputs ``(n, w)``, as columns ``(n, m)``."""
        given = self._tensor(inputs)
        on_cpu = given.device.type == "cpu"
        with torch.no_grad():
            blocks = torch.split(given, CPU_BLOCK_ROWS if on_cpu else len(given))
            columns = torch.cat([self._columns(block) for block in blocks])
        return columns.cpu().numpy()

    def _tensor(self, inputs: Array) -> Tensor:
        dtype, device = _dtype_and_device(self.module)
        given = torch.from_numpy(np.ascontiguousarray(inputs)).to(device)
        return given.to(dtype) if given.is_floating_point() else given

    def _columns(self, inputs: Tensor) -> Tensor:
        n_rows = len(inputs)
        with translate_errors(self.name, n_rows, _width_advice(inputs)):
            answer = self.module(inputs)
        if not isinstance(answer, Tensor):
            raise ModelOutputError(
                f"{self.name} answered with {kind_name(answer)}; expected one tensor of"
                " logits or probabilities. Wrap it in a module that returns that tensor alone."
            )
        if answer.is_complex():
            raise ModelOutputError(
                f"{self.name} answered with complex numbers; expected probabilities of shape"
                f" ({n_rows}, k), real numbers from 0 to 1."
            )
        values = answer.double()
        check_shape(tuple(values.shape), n_rows, self.name)
        return values[:, None] if values.ndim == 1 else values


def from_torch(
    module: nn.Module,
    codec: Codec,
    threshold: float | None = None,
    *,
    classes: Any = None,
    encoding: str | FrameFunction | None = None,
    output: Output | None = None,
) -> TorchClassifier:
    """Adapt a copy of a module; the module itself, its mode included, stays as it is."""
    draft = TorchClassifier(
        codec,
        (0, 1),
        None,
        _frozen_copy(module),
        as_encoding(encoding or "one_hot", codec),
        output or "logit",
    )
    inputs = draft.inputs(probe_rows(codec))
    columns = draft.columns_of(inputs)
    if output is None:
        linear = _ends_linear(draft, inputs)
        output = detect_output(columns, draft.name, ends_linear=linear)
    n_classes = count_classes(columns)
    known = checked_classes(range(n_classes) if classes is None else classes, draft.name)
    check_answers(columns, output, len(known), draft.name, codec)
    return TorchClassifier(codec, known, threshold, draft.module, draft.encoding, output)


def _frozen_copy(module: nn.Module) -> nn.Module:
    try:
        copy = deepcopy(module)
    except Exception as error:
        raise ModelError(
            f"the network {type(module).__name__} cannot be copied, and the original is never"
            f" changed: {error}. Give a callable from a frame to probabilities instead."
        ) from error
    return copy.eval().requires_grad_(False)


def _dtype_and_device(module: nn.Module) -> tuple[torch.dtype, torch.device]:
    """Return the dtype and the device of a module's weights."""
    for tensor in chain(module.parameters(), module.buffers()):
        if tensor.is_floating_point():
            return tensor.dtype, tensor.device
    return torch.float32, torch.device("cpu")


def _ends_linear(classifier: TorchClassifier, inputs: Array) -> bool:
    """Whether the network's last step is a linear layer, so its output is no probability."""
    # Logits may happen to lie between 0 and 1 on every row of the probe.
    if not np.issubdtype(inputs.dtype, np.floating):
        return False
    try:
        with torch.enable_grad():
            answer = classifier.module(classifier._tensor(inputs).clone().requires_grad_())
    except Exception:  # the module detaches its input somewhere; its values alone must do
        return False
    step = answer.grad_fn
    while step is not None and step.name().startswith(_SHAPE_STEPS):
        step = step.next_functions[0][0]
    return step is not None and step.name().startswith(_LINEAR_STEPS)


def _width_advice(inputs: Tensor) -> str:
    return (
        f" It was given an input of shape {tuple(inputs.shape)}; say with encoding= how its"
        " training rows were encoded ('one_hot', 'label' or a function from a frame)."
    )


def tensor_probabilities(columns: Tensor, output: Output) -> Tensor:
    """Return columns ``(n, m)`` as class probabilities ``(n, k)``; autograd runs through."""
    # A single column holds the second of two classes.
    if columns.shape[1] > 1:
        return columns if output == "probability" else columns.softmax(-1)
    if output == "probability":
        return torch.cat([1 - columns, columns], dim=-1)
    return torch.cat([-columns, columns], dim=-1).sigmoid()  # 1 - p loses digits near 1


def module_of(layers: Iterable[Layer]) -> nn.Module:
    """Return a frozen module of linear layers, with ReLU after some of them."""
    steps: list[nn.Module] = []
    for weights, bias, is_ramp in layers:
        layer = nn.Linear(weights.shape[1], weights.shape[0])
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(weights))
            layer.bias.copy_(torch.tensor(bias))
        steps += [layer, nn.ReLU()] if is_ramp else [layer]
    return nn.Sequential(*steps).eval().requires_grad_(False)


def module_bytes(module: nn.Module) -> bytes:
    """Return the weights of a module as the content of a safetensors file."""
    from safetensors.torch import save

    state = module.state_dict()
    if odd := [name for name, value in state.items() if not isinstance(value, Tensor)]:
        raise PersistenceError(
            f"the network {type(module).__name__} keeps {odd[0]!r}, which is not a tensor; leave"
            " the model out with save(folder, model=False), and hand it over at loading."
        )
    return save({name: part.detach().cpu().clone().contiguous() for name, part in state.items()})


def module_with(constructor: Callable[[], Any], content: bytes) -> nn.Module:
    """Return a module from a function that makes one, with the weights of a file put into it."""
    from safetensors.torch import load

    module = constructor()
    if not isinstance(module, nn.Module):
        raise PersistenceError(
            f"model= gave a {type(module).__name__} when it was called without arguments; expected"
            " a torch module, into which the saved weights are put."
        )
    try:
        with torch.no_grad():
            module.load_state_dict(load(content))
    except RuntimeError as error:
        raise PersistenceError(
            f"the saved weights do not fit the network {type(module).__name__} that model= gave:"
            f" {str(error).splitlines()[-1].strip()} Give the constructor of the network that was"
            " saved."
        ) from error
    return module
