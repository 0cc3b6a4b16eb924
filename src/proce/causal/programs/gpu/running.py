"""Programs on a CUDA device: what follows from actions, effect by effect."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import triton
from torch import Tensor

from proce.causal.programs.gpu.equations import outcome_kernel, separate_kernel
from proce.causal.programs.program import Program, Table

_AT_ONCE = 128  # candidates of one kernel's program


@dataclass(frozen=True, eq=False)
class ProgramOnDevice:
    """The tables of a program as tensors on a device.

    Attributes
    ----------
    program
        The program.
    equations
        The whole numbers and the numbers of effects and of parents, and the weights.
    tolerances
        ``(f, 6)``: from what on a feature has moved, and from what on that is an action or a hold,
        which is never so where nobody can act; its step and where the grid begins; its lowest and
        highest value, which only numbers have.
    """

    program: Program
    equations: tuple[Tensor, ...]
    tolerances: Tensor

    @classmethod
    def of(cls, program: Program, device: torch.device) -> "ProgramOnDevice":
        """Return a program on a device."""
        effects = program.effects.reshape(-1)
        tables = (*_matrices(effects), *_matrices(program.parents), program.weights)
        own = program.tolerances
        acts, is_number = own["can_act"] == 1, own["is_number"] == 1
        columns = (
            own["still"],
            np.where(acts, own["still"], np.inf),
            own["step"],
            own["origin"],
            np.where(is_number, own["lowest"], -np.inf),
            np.where(is_number, own["highest"], np.inf),
        )
        return cls(
            program,
            tuple(torch.from_numpy(np.ascontiguousarray(table)).to(device) for table in tables),
            torch.from_numpy(np.stack(columns, axis=1)).to(device),
        )

    def separate(
        self, factual: Tensor, rows: Tensor, residual: Tensor, acting: Tensor | None
    ) -> tuple[Tensor, ...]:
        """Return point, acted on, held, consequence, expected and outside of rows ``(i, c, f)``.

        The parameters are those of :func:`proce.causal.models.compiled.separate`.
        """
        rows, residual = rows.contiguous(), residual.contiguous()
        own = factual.contiguous()
        acted_on = (rows - own[:, None]).abs() > self.tolerances[:, 1]
        point = torch.where(acted_on, rows, own[:, None])
        expected = own[:, None].expand_as(rows).contiguous()
        flags = torch.zeros(3, *rows.shape, dtype=torch.bool, device=rows.device)
        written = (point, expected, *(f.view(torch.uint8) for f in (acted_on, *flags)))
        given = rows if acting is None else acting.contiguous().view(torch.uint8)
        for place, effect in enumerate(self.program.effects[0]):
            if not effect["is_cut"] and point.numel():
                values = self._outcome(place, point, residual)
                self._launch(
                    separate_kernel,
                    rows,
                    (values, self.tolerances, own, rows, given, *written, int(effect["position"])),
                    HAS_FLAGS=acting is not None,
                )
        held, consequence, outside = flags
        return point, acted_on, held, consequence, expected, outside

    def propagate(self, rows: Tensor, residual: Tensor, acted_on: Tensor) -> Tensor:
        """Return where rows ``(i, c, f)`` lead to in each model, ``(m, i, c, f)``.

        ``residual (m, i, w)`` is the noise of the rows in each model.
        """
        effects, residual = self.program.effects, residual.contiguous()
        outcomes = rows.expand(len(effects), *rows.shape).contiguous()
        for model, own in enumerate(effects):
            now = outcomes[model]
            for place, effect in enumerate(own):
                if effect["is_cut"] or not now.numel():
                    continue
                f = int(effect["position"])
                value = self._outcome(model * len(own) + place, now, residual[model])
                before = now[..., f]
                rounding = float(self.program.tolerances[f]["rounding"])
                is_same = (value - before).abs() <= rounding * before.abs().clamp(min=1)
                stays = acted_on[..., f] | is_same | value.isnan()
                now[..., f] = torch.where(stays, before, value)
        return outcomes

    def _outcome(self, place: int, rows: Tensor, residual: Tensor) -> Tensor:
        """Return what the causes of an effect lead to, ``(i, c)``; NaN where it is not known."""
        values = torch.empty(rows.shape[:2], dtype=rows.dtype, device=rows.device)
        arguments = (*self.equations, place, rows, residual, values)
        self._launch(outcome_kernel, rows, arguments, n_noise=residual.shape[-1])
        return values

    def _launch(self, kernel: Any, rows: Tensor, arguments: tuple[Any, ...], **named: Any) -> None:
        n_instances, n_candidates, n_features = rows.shape
        n_all = n_instances * n_candidates
        kernel[(triton.cdiv(n_all, _AT_ONCE),)](
            *arguments,
            n_all=n_all,
            n_candidates=n_candidates,
            n_features=n_features,
            B=_AT_ONCE,
            **named,
        )


def _matrices(table: Table) -> tuple[Any, Any]:
    """Return the whole numbers and the numbers of records, as columns of two matrices."""
    names = table.dtype.names or ()
    ints, floats = (
        [table[name] for name in names if table.dtype[name].kind == kind] for kind in "if"
    )
    return np.stack(ints, axis=1), np.stack(floats, axis=1)
