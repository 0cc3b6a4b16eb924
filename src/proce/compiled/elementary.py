"""exp, log, powers, the normal and Student's distribution, the same on every processor.

The C library, NumPy and PyTorch choose among several implementations by what the processor can do,
and their last bits differ. These are the methods of FDLIBM (Sun Microsystems 1993) and, for the
quantiles of the normal distribution, of Cephes (Moshier 1989), in additions, products, divisions
and roots, which IEEE 754 rounds alike everywhere.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from proce.arrays import Array, Floats
from proce.compiled.kernel import kernel, part

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_PER_LN2 = 1.44269504088896338700
_MAX_EXPONENT, _MIN_EXPONENT = 709.782712893383973096, -745.133219101941108420
_MANTISSA, _ONE_BITS = np.int64(0x000FFFFFFFFFFFFF), np.int64(0x3FF0000000000000)
_ROOT_TWO = np.int64(0x0006A09E667F3BCD)  # the mantissa of its bits
_BIAS, _52 = np.int64(1023), np.int64(52)
_SMALLEST_NORMAL = 2.2250738585072014e-308
_ROOT_HALF = math.sqrt(0.5)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)
_TAIL = math.exp(-2)  # below this share, and above one less it, an expansion of the tail is used


def _double_of(_: Any, bits: Any) -> Any:
    """Return the double with some bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


def _bits_of(_: Any, number: Any) -> Any:
    """Return the bits of a double."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


_as_double: Any = intrinsic(_double_of)
_as_bits: Any = intrinsic(_bits_of)


@part
def exp(x: float) -> float:
    """Return e to the power of a number, to within one unit in the last place."""
    if x != x:
        return x
    if x > _MAX_EXPONENT:
        return np.inf
    if x < _MIN_EXPONENT:
        return 0.0
    k = np.rint(x * _PER_LN2)
    high, low = x - k * _LN2_HIGH, k * _LN2_LOW
    r = high - low
    t = r * r
    c = 4.13813679705723846039e-08 * t - 1.65339022054652515390e-06
    c = c * t + 6.61375632143793436117e-05
    c = c * t - 2.77777777770155933842e-03
    c = c * t + 1.66666666666666019037e-01
    c = r - t * c
    y = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    power = np.int64(k)
    if power < -1021:  # two steps, the second into the numbers below the smallest normal one
        return y * _as_double((power + 1000 + _BIAS) << _52) * _as_double((_BIAS - 1000) << _52)
    if power == 1024:
        return y * 2.0 * _as_double((_BIAS + 1023) << _52)
    return y * _as_double((power + _BIAS) << _52)


@part
def log(x: float) -> float:
    """Return the natural logarithm of a number, to within one unit in the last place."""
    if not x > 0.0:
        return -np.inf if x == 0.0 else np.nan
    if x == np.inf:
        return x
    k = np.int64(0)
    if x < _SMALLEST_NORMAL:
        x, k = x * 18014398509481984.0, np.int64(-54)  # 2**54
    bits = _as_bits(x)
    mantissa = bits & _MANTISSA
    above = np.int64(mantissa > _ROOT_TWO)  # whether the mantissa is halved
    k += (bits >> _52) - _BIAS + above
    f = _as_double(mantissa | (_ONE_BITS - (above << _52))) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (
        3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01)
    )
    odd = 1.479819860511658591e-01 * w + 1.818357216161805012e-01
    odd = odd * w + 2.857142874366239149e-01
    odd = z * (odd * w + 6.666666666666735130e-01)
    half = 0.5 * f * f
    n = float(k)
    return n * _LN2_HIGH - ((half - (s * (half + even + odd) + n * _LN2_LOW)) - f)


@part
def power(base: float, exponent: float) -> float:
    """Return a number that is not negative to any power, by its logarithm."""
    if base == 1.0 or exponent == 0.0:
        return 1.0
    return exp(exponent * log(base))


@part
def logistic(x: float) -> tuple[float, float]:
    """Return ``1 / (1 + exp(x))`` and ``1 / (1 + exp(-x))``, with all digits of either."""
    small = exp(-abs(x))
    larger, smaller = 1.0 / (1.0 + small), small / (1.0 + small)
    return (smaller, larger) if x > 0 else (larger, smaller)


@kernel
def write_probabilities(logits: Floats, probabilities: Floats) -> None:
    """Write the class probabilities ``(n, k)`` of logits ``(n, o)``.

    One logit of two classes is that of the second; else there is one of each class.
    """
    n_logits = logits.shape[1]
    for row in range(len(logits)):
        for k in range(n_logits):
            probabilities[row, k] = logits[row, k]
        if n_logits < probabilities.shape[1]:
            probabilities[row, 0], probabilities[row, 1] = logistic(logits[row, 0])
        else:
            turn_into_softmax(probabilities[row])


@part
def turn_into_softmax(logits: Floats) -> tuple[float, float]:
    """Turn logits ``(k,)`` into their softmax; return the highest, and all over its own."""
    highest, total = logits[0], 0.0
    for k in range(1, len(logits)):
        highest = logits[k] if logits[k] > highest or logits[k] != logits[k] else highest
    for k in range(len(logits)):
        logits[k] = exp(logits[k] - highest)
        total += logits[k]
    for k in range(len(logits)):
        logits[k] /= total
    return highest, total


def _coefficients(*lines: tuple[float, ...]) -> Floats:
    """Return coefficients as an array: tuples of each length would have a version of their own."""
    return np.concatenate(lines)


@part
def _polynomial(value: float, coefficients: Floats) -> float:
    """Return a polynomial of coefficients ``(p,)``, that of the highest power first."""
    total = coefficients[0]
    for place in range(1, len(coefficients)):
        total = total * value + coefficients[place]
    return total


# The error function: coefficients of FDLIBM on [0, 0.84), [0.84, 1.25), [1.25, 1/0.35) and beyond.
_P = _coefficients(
    (-2.37630166566501626084e-05, -5.77027029648944159157e-03, -2.84817495755985104766e-02),
    (-3.25042107247001499370e-01, 1.28379167095512558561e-01),
)
_Q = _coefficients(
    (-3.96022827877536812320e-06, 1.32494738004321644526e-04, 5.08130628187576562776e-03),
    (6.50222499887672944485e-02, 3.97917223959155352819e-01, 1.0),
)
_PA = _coefficients(
    (-2.16637559486879084300e-03, 3.54783043256182359371e-02, -1.10894694282396677476e-01),
    (3.18346619901161753674e-01, -3.72207876035701323847e-01, 4.14856118683748331666e-01),
    (-2.36211856075265944077e-03,),
)
_QA = _coefficients(
    (1.19844998467991074170e-02, 1.36370839120290507362e-02, 1.26171219808761642112e-01),
    (7.18286544141962662868e-02, 5.40397917702171048937e-01, 1.06420880400844228286e-01),
    (1.0,),
)
_RA = _coefficients(
    (-9.81432934416914548592e00, -8.12874355063065934246e01, -1.84605092906711035994e02),
    (-1.62396669462573470355e02, -6.23753324503260060396e01, -1.05586262253232909814e01),
    (-6.93858572707181764372e-01, -9.86494403484714822705e-03),
)
_SA = _coefficients(
    (-6.04244152148580987438e-02, 6.57024977031928170135e00, 1.08635005541779435134e02),
    (4.29008140027567833386e02, 6.45387271733267880336e02, 4.34565877475229228821e02),
    (1.37657754143519042600e02, 1.96512716674392571292e01, 1.0),
)
_RB = _coefficients(
    (-4.83519191608651397019e02, -1.02509513161107724954e03, -6.37566443368389627722e02),
    (-1.60636384855821916062e02, -1.77579549177547519889e01, -7.99283237680523006574e-01),
    (-9.86494292470009928597e-03,),
)
_SB = _coefficients(
    (-2.24409524465858183362e01, 4.74528541206955367215e02, 2.55305040643316442583e03),
    (3.19985821950859553908e03, 1.53672958608443695994e03, 3.25792512996573918826e02),
    (3.03380607434824582924e01, 1.0),
)
_ERROR_AT_ONE = 8.45062911510467529297e-01
_HIGH_WORD = np.int64(-(1 << 32))


@part
def erfc(x: float) -> float:
    """Return one less the error function, also where next to nothing is left of it."""
    size = abs(x)
    if size != size:
        return x
    if size < 0.84375:
        z = x * x
        y = _polynomial(z, _P) / _polynomial(z, _Q)
        return 1.0 - (x + x * y) if x < 0.25 else 0.5 - ((x - 0.5) + x * y)
    if size < 1.25:
        s = size - 1.0
        y = _polynomial(s, _PA) / _polynomial(s, _QA)
        return 1.0 - _ERROR_AT_ONE - y if x > 0 else 1.0 + _ERROR_AT_ONE + y
    if size >= 28.0:
        return 0.0 if x > 0 else 2.0
    if x < -6.0:
        return 2.0
    s = 1.0 / (size * size)
    y = (
        _polynomial(s, _RA) / _polynomial(s, _SA)
        if size < 1.0 / 0.35
        else _polynomial(s, _RB) / _polynomial(s, _SB)
    )
    rough = _as_double(_as_bits(size) & _HIGH_WORD)  # whose square has no rounding
    beyond = exp(-rough * rough - 0.5625) * exp((rough - size) * (rough + size) + y) / size
    return beyond if x > 0 else 2.0 - beyond


@part
def share_below(value: float) -> float:
    """Return the share of standard normal numbers below a value."""
    return erfc(-value * _ROOT_HALF) / 2


# Numerators and denominators of quantiles: the middle, the tail, the farthest tail.
_P0 = _coefficients(
    (-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1),
    (1.39312609387279679503e1, -1.23916583867381258016e0),
)
_Q0 = _coefficients(
    (1.0, 1.95448858338141759834e0, 4.67627912898881538453e0),
    (8.63602421390890590575e1, -2.25462687854119370527e2, 2.00260212380060660359e2),
    (-8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0),
)
_P1 = _coefficients(
    (4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1),
    (4.40805073893200834700e1, 1.46849561928858024014e1, 2.18663306850790267539e0),
    (-1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4),
)
_Q1 = _coefficients(
    (1.0, 1.57799883256466749731e1, 4.53907635128879210584e1),
    (4.13172038254672030440e1, 1.50425385692907503408e1, 2.50464946208309415979e0),
    (-1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4),
)
_P2 = _coefficients(
    (3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0),
    (1.33303460815807542389e0, 2.01485389549179081538e-1, 1.23716634817820021358e-2),
    (3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9),
)
_Q2 = _coefficients(
    (1.0, 6.02427039364742014255e0, 3.67983563856160859403e0),
    (1.37702099489081330271e0, 2.16236993594496635890e-1, 1.34204006088543189037e-2),
    (3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9),
)


@part
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
    root = math.sqrt(-2 * log(tail))
    inverse = 1 / root
    if root < 8:
        correction = inverse * _polynomial(inverse, _P1) / _polynomial(inverse, _Q1)
    else:
        correction = inverse * _polynomial(inverse, _P2) / _polynomial(inverse, _Q2)
    value = root - log(root) / root - correction
    return -value if is_lower else value


# Angles: 1/2, 1, 3/2 and infinity, and what their doubles leave out; then the powers 3, 5 … 23.
_ANGLES = _coefficients(
    (4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01),
    (1.57079632679489655800,),
)
_ANGLES_LOW = _coefficients(
    (2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17),
    (6.12323399573676603587e-17,),
)
_ANGLE = _coefficients(
    (1.62858201153657823623e-02, -3.65315727442169155270e-02, 4.97687799461593236017e-02),
    (-5.83357013379057348645e-02, 6.66107313738753120669e-02, -7.69187620504482999495e-02),
    (9.09088713343650656196e-02, -1.11111104054623557880e-01, 1.42857142725034663711e-01),
    (-1.99999999998764832476e-01, 3.33333333333329318027e-01),
)


@part
def angle(slope: float) -> float:
    """Return the angle, in radians, of a slope."""
    x = abs(slope)
    at = -1
    if x >= 0.4375:
        if x < 0.6875:
            at, x = 0, (2.0 * x - 1.0) / (2.0 + x)
        elif x < 1.1875:
            at, x = 1, (x - 1.0) / (x + 1.0)
        elif x < 2.4375:
            at, x = 2, (x - 1.5) / (1.0 + 1.5 * x)
        else:
            at, x = 3, -1.0 / x
    bend = x * (x * x * _polynomial(x * x, _ANGLE))
    found = x - bend if at < 0 else _ANGLES[at] - ((bend - _ANGLES_LOW[at]) - x)
    return -found if slope < 0 else found


@part
def student_share_below(value: float, freedom: int) -> float:
    """Return the share of numbers below a value by Student's distribution.

    With whole degrees of freedom it is a sum of as many terms as half of them: in powers of the
    cosine of the angle whose slope is the value over their root.
    """
    slope = value / math.sqrt(freedom)
    if abs(slope) > 1e150:  # whose square has no double
        return 0.0 if slope < 0 else 1.0
    square = 1.0 / (1.0 + slope * slope)  # of the cosine
    sine = slope * math.sqrt(square)
    is_odd = freedom % 2
    term = total = 1.0
    for n in range(2 + is_odd, freedom, 2):
        term *= square * (n - 1) / n
        total += term
    if is_odd:
        beyond = sine * math.sqrt(square) * total if freedom > 1 else 0.0
        share = 0.5 + (angle(slope) + beyond) / math.pi
    else:
        share = 0.5 + 0.5 * sine * total
    return min(max(share, 0.0), 1.0)


EXP, LOG, SHARE_BELOW, VALUE_ABOVE = range(4)


@kernel
def write_values(function: int, numbers: Floats, values: Floats) -> None:
    """Write one of the functions above of numbers ``(n,)``."""
    for n in range(len(numbers)):
        if function == EXP:
            values[n] = exp(numbers[n])
        elif function == LOG:
            values[n] = log(numbers[n])
        elif function == SHARE_BELOW:
            values[n] = share_below(numbers[n])
        else:
            values[n] = value_above(numbers[n])


@kernel
def write_powers(bases: Floats, exponents: Floats, powers: Floats) -> None:
    """Write powers of numbers ``(n,)``."""
    for n in range(len(bases)):
        powers[n] = power(bases[n], exponents[n])


def exponentials(numbers: Array) -> Floats:
    """Return e to the power of each number."""
    return _of_each(EXP, numbers)


def logarithms(numbers: Array) -> Floats:
    """Return the natural logarithm of each number."""
    return _of_each(LOG, numbers)


def shares_below(values: Array) -> Floats:
    """Return the share of standard normal numbers below each value."""
    return _of_each(SHARE_BELOW, values)


def quantiles(shares: Array) -> Floats:
    """Return the values below which shares of standard normal numbers lie."""
    return _of_each(VALUE_ABOVE, shares)


def powers(bases: Array, exponents: Array) -> Floats:
    """Return numbers that are not negative to powers, broadcast to each other."""
    base, exponent = np.broadcast_arrays(bases, exponents)
    found = np.empty(base.shape)
    write_powers(_flat(base), _flat(exponent), found.reshape(-1))
    return found


def softmaxes(logits: Array) -> Floats:
    """Return the softmax of logits ``(…, k)`` along the last axis."""
    found = np.empty(logits.shape)
    size = logits.shape[-1]
    write_probabilities(_flat(logits).reshape(-1, size), found.reshape(-1, size))
    return found


def logistics(numbers: Array) -> Floats:
    """Return ``1 / (1 + exp(-x))`` of each number."""
    found = np.empty((*np.shape(numbers), 2))
    write_probabilities(_flat(numbers)[:, None], found.reshape(-1, 2))
    return found[..., 1]


def _of_each(function: int, numbers: Array) -> Floats:
    found = np.empty(np.shape(numbers))
    write_values(function, _flat(numbers), found.reshape(-1))
    return found


def _flat(numbers: Array) -> Floats:
    return np.ascontiguousarray(numbers, np.float64).reshape(-1)
