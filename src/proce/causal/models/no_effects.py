"""Actions where nothing follows: what has changed was acted on."""

from functools import lru_cache

import numpy as np

from proce.arrays import Array
from proce.causal.equations.tables import EquationTables
from proce.causal.models import compiled
from proce.causal.models.actions import Actions, Tolerances
from proce.causal.programs.program import EFFECT, Program
from proce.schema import Codec


def act_without_effects(codec: Codec, factual: Array, rows: Array) -> Actions:
    """Return what is acted on in candidates ``(i, c, f)`` of rows ``(i, f)``: all that changed.

    What may be acted on is not asked; a change that is too small to count is taken back.
    """
    residual = np.empty((len(factual), 0))
    return compiled.separate(_program(codec), _follow_nothing, factual, rows, residual)


@lru_cache(maxsize=32)
def _program(codec: Codec) -> Program:
    tolerances = Tolerances.of(codec).table(codec)
    tolerances["can_act"] = True
    return EquationTables().program(np.zeros((1, 0), EFFECT), tolerances)


def _follow_nothing(position: int, rows: Array, noise: Array) -> Array:
    raise AssertionError("there is no effect to ask for")
