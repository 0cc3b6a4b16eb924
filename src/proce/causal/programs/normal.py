"""The normal distribution for numba, by the rational functions of Cephes (Moshier 1989)."""

import math

import numpy as np

from proce.causal.programs.program import Floats
from proce.compiled.kernel import kernel

_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_TAIL = math.exp(-2)  # below this share, and above one less it, an expansion of the tail is used

# Numerators and denominators, highest power first: the middle, the tail, the farthest tail.
_P0 = np.array(
    [
        -5.99633501014107895267e1,
        9.80010754185999661536e1,
        -5.66762857469070293439e1,
        1.39312609387279679503e1,
        -1.23916583867381258016e0,
    ]
)
_Q0 = np.array(
    [
        1.0,
        1.95448858338141759834e0,
        4.67627912898881538453e0,
        8.63602421390890590575e1,
        -2.25462687854119370527e2,
        2.00260212380060660359e2,
        -8.20372256168333339912e1,
        1.59056225126211695515e1,
        -1.18331621121330003142e0,
    ]
)
_P1 = np.array(
    [
        4.05544892305962419923e0,
        3.15251094599893866154e1,
        5.71628192246421288162e1,
        4.40805073893200834700e1,
        1.46849561928858024014e1,
        2.18663306850790267539e0,
        -1.40256079171354495875e-1,
        -3.50424626827848203418e-2,
        -8.57456785154685413611e-4,
    ]
)
_Q1 = np.array(
    [
        1.0,
        1.57799883256466749731e1,
        4.53907635128879210584e1,
        4.13172038254672030440e1,
        1.50425385692907503408e1,
        2.50464946208309415979e0,
        -1.42182922854787788574e-1,
        -3.80806407691578277194e-2,
        -9.33259480895457427372e-4,
    ]
)
_P2 = np.array(
    [
        3.23774891776946035970e0,
        6.91522889068984211695e0,
        3.93881025292474443415e0,
        1.33303460815807542389e0,
        2.01485389549179081538e-1,
        1.23716634817820021358e-2,
        3.01581553508235416007e-4,
        2.65806974686737550832e-6,
        6.23974539184983293730e-9,
    ]
)
_Q2 = np.array(
    [
        1.0,
        6.02427039364742014255e0,
        3.67983563856160859403e0,
        1.37702099489081330271e0,
        2.16236993594496635890e-1,
        1.34204006088543189037e-2,
        3.28014464682127739104e-4,
        2.89247864745380683936e-6,
        6.79019408009981274425e-9,
    ]
)


@kernel
def share_below(value: float) -> float:
    """Return the share of standard normal numbers below a value."""
    return math.erfc(-value * _ROOT_HALF) / 2


@kernel
def value_above(share: float) -> float:
    """Return the value below which a share of standard normal numbers lies."""
    if share == 0:
        return -np.inf
    if share == 1:
        return np.inf
    if not 0 < share < 1:
        return np.nan
    is_lower = share <= 1 - _TAIL
    tail = share if is_lower else 1 - share
    if tail > _TAIL:
        middle = tail - 0.5
        square = middle * middle
        value = middle + middle * (square * _polynomial(square, _P0) / _polynomial(square, _Q0))
        return value * _ROOT_TWO_PI
    root = math.sqrt(-2 * math.log(tail))
    inverse = 1 / root
    if root < 8:
        correction = inverse * _polynomial(inverse, _P1) / _polynomial(inverse, _Q1)
    else:
        correction = inverse * _polynomial(inverse, _P2) / _polynomial(inverse, _Q2)
    value = root - math.log(root) / root - correction
    return -value if is_lower else value


@kernel
def _polynomial(value: float, coefficients: Floats) -> float:
    total = 0.0
    for coefficient in coefficients:
        total = total * value + coefficient
    return total
