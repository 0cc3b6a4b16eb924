"""Networks: a torch module with the encoding of its input and the meaning of its output."""

from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import torch
from torch import Tensor, nn

from proce.arguments import kind_name
from proce.classifier.adapters.probe import check_answers, detect_output, probe_rows
from proce.classifier.answer import (
    Output,
    as_columns,
    check_probabilities,
    count_classes,
    to_probabilities,
    translate_errors,
)
from proce.classifier.classifier import Adapter, checked_classes
from proce.classifier.encoding import (
    Encoding,
    FrameEncoding,
    FrameFunction,
    InputEncoding,
    as_encoding,
)
from proce.errors import ModelError, ModelInterfaceError, ModelOutputError
from proce.schema import Codec

# Rows at a time: the values between layers stay in the cache, 2-3 times faster than all at once.
CPU_BLOCK_ROWS = 4096
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

    def inputs(self, rows: Tensor) -> Tensor:
        """Return the network's input ``(n, w)``, in the module's dtype and on its device."""
        dtype, device = _dtype_and_device(self.module)
        return self.encoding(rows.to(device), dtype).to(device).contiguous()

    def probabilities(self, inputs: Tensor) -> Tensor:
        """Return the class probabilities ``(n, k)`` of inputs; autograd runs through."""
        return to_probabilities(self._columns(inputs), self.output)

    def gradient(self, rows: Tensor, target: Tensor | int) -> Tensor:
        """Return the gradient of p(target) with respect to the inputs, ``(n, w)``."""
        inputs = self.inputs(rows)
        if not inputs.is_floating_point():
            raise ModelInterfaceError(
                f"{self.name} is given whole numbers by its encoding, so there is no gradient"
                " with respect to its input. Use a method that does not need one."
            )
        inputs.requires_grad_()
        with torch.enable_grad():
            probabilities = self.probabilities(inputs)
            positions = torch.as_tensor(target, device=inputs.device).expand(len(rows))
            total = probabilities.gather(1, positions[:, None]).sum()  # rows do not interact
        (gradient,) = torch.autograd.grad(total, inputs)
        return gradient.to(rows.device)

    def _probabilities_of(self, rows: Tensor) -> Tensor:
        return self._answers(self.inputs(rows)).to(rows.device)

    def _probabilities_of_raw(self, raw: Tensor) -> Tensor:
        dtype, device = _dtype_and_device(self.module)
        if isinstance(self.encoding, InputEncoding):
            rows = self.codec.by_range.to_unit(raw).to(device)
            return self._answers(self.encoding.of_range(rows, dtype)).to(raw.device)
        return self._answers(self.encoding.of_raw(raw, dtype).to(device)).to(raw.device)

    def _probabilities_of_frame(self, frame: Any) -> Tensor:
        dtype, device = _dtype_and_device(self.module)
        if isinstance(self.encoding, InputEncoding):
            rows = self.codec.by_range.encode(frame).to(device)
            return self._answers(self.encoding.of_range(rows, dtype)).cpu()
        return self._answers(self.encoding.of_frame(frame, dtype).to(device)).cpu()

    def _answers(self, inputs: Tensor) -> Tensor:
        """Return the checked probabilities of inputs ``(n, w)``, without a gradient."""
        on_cpu = inputs.device.type == "cpu"
        with torch.no_grad():
            blocks = torch.split(inputs.contiguous(), CPU_BLOCK_ROWS if on_cpu else len(inputs))
            columns = torch.cat([self._columns(block) for block in blocks])
        return check_probabilities(columns, self.output, len(self.classes), self.name)

    def _columns(self, inputs: Tensor) -> Tensor:
        with translate_errors(self.name, len(inputs), _width_advice(inputs)):
            answer = self._forward(inputs)
        if not isinstance(answer, Tensor):
            raise ModelOutputError(
                f"{self.name} answered with {kind_name(answer)}; expected one tensor of"
                " logits or probabilities. Wrap it in a module that returns that tensor alone."
            )
        return as_columns(answer, len(inputs), self.name)

    def _forward(self, inputs: Tensor) -> Any:
        return self.module(inputs)


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
    with torch.no_grad():
        columns = draft._columns(inputs)
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


def _ends_linear(classifier: TorchClassifier, inputs: Tensor) -> bool:
    """Whether the network's last step is a linear layer, so its output is no probability.

    Logits may happen to lie between 0 and 1 on every row of the probe.
    """
    if not inputs.is_floating_point():
        return False
    try:
        with torch.enable_grad():
            answer = classifier._forward(inputs.detach().clone().requires_grad_())
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
