"""exp, log, powers and distributions are right, and the same to the last bit."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import special

from proce.arrays import Array
from proce.compiled import elementary
from proce.compiled.elementary import (
    exponentials,
    logarithms,
    logistics,
    powers,
    quantiles,
    shares_below,
    softmaxes,
)
from proce.compiled.streams import row_keys

from .parts import whole

SMALLEST = 5e-324  # above zero
HIGHEST = 1.7976931348623157e308
power, erfc = whole(elementary.power), whole(elementary.erfc)
logistic = whole(elementary.logistic)
angle, student_share_below = whole(elementary.angle), whole(elementary.student_share_below)


def drawn(low: float, high: float, shape: int | tuple[int, ...] = 500, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape)


def units_off(found: Array, exact: list[Decimal]) -> float:
    """Return by how many units in the last place numbers miss what they should be, at most."""
    return max(
        float(abs(Decimal(number) - right)) / math.ulp(float(right))
        for number, right in zip(found.tolist(), exact, strict=True)
    )


def exactly(function: str, numbers: Array) -> list[Decimal]:
    """Return a function of numbers, with 40 digits."""
    with localcontext(prec=40):
        return [getattr(Decimal(number), function)() for number in numbers.tolist()]


@pytest.mark.parametrize(("low", "high"), [(-708, 709.7), (-1, 1), (-1e-8, 1e-8), (-745, -708)])
def test_exponentials_are_within_a_unit(low, high):
    numbers = drawn(low, high)
    assert units_off(exponentials(numbers), exactly("exp", numbers)) <= 1.0


@pytest.mark.parametrize(("low", "high"), [(-744, 709.7), (-0.7, 0.7), (-1e-8, 1e-8)])
def test_logarithms_are_within_a_unit(low, high):
    numbers = np.exp(drawn(low, high))
    assert units_off(logarithms(numbers), exactly("ln", numbers)) <= 1.0


def test_ends_of_exponentials_and_logarithms():
    ends = np.array([0.0, -0.0, math.inf, -math.inf, 709.78, 709.79, -745.13, -745.14, -1e300])
    expected = [1.0, 1.0, math.inf, 0.0, math.exp(709.78), math.inf, SMALLEST, 0.0, 0.0]
    assert exponentials(ends).tolist() == expected
    ends = np.array([1.0, 0.0, -0.0, math.inf, SMALLEST, HIGHEST])
    expected = [0.0, -math.inf, -math.inf, math.inf, math.log(SMALLEST), math.log(HIGHEST)]
    assert logarithms(ends).tolist() == expected
    assert np.isnan(exponentials(np.array([math.nan]))).all()
    assert np.isnan(logarithms(np.array([math.nan, -1.0, -math.inf, -SMALLEST]))).all()


def test_powers_of_numbers_from_zero_on():
    bases, exponents = drawn(0.2, 5), drawn(-20, 20, seed=1)
    np.testing.assert_allclose(powers(bases, exponents), bases**exponents, rtol=1e-14)
    bases, exponents = np.exp(drawn(-300, 300)), drawn(-2, 2, seed=1)
    np.testing.assert_allclose(powers(bases, exponents), bases**exponents, rtol=2e-13)


@pytest.mark.parametrize("base", [0.0, 0.5, 1.0, 2.0, math.inf, math.nan])
@pytest.mark.parametrize("exponent", [-math.inf, -2.0, 0.0, 2.0, math.inf, math.nan])
def test_ends_of_powers_are_those_of_numpy(base, exponent):
    with np.errstate(divide="ignore"):
        expected = np.power(base, exponent)
    assert power(base, exponent) == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_a_negative_number_has_no_power():
    assert math.isnan(power(-2.0, 2.0))


@pytest.mark.parametrize(("low", "high"), [(-7, 26.5), (-1.3, 1.3), (-1e-9, 1e-9), (26.5, 28.5)])
def test_what_the_error_function_leaves(low, high):
    """The C library itself is a unit or two off."""
    for number in drawn(low, high).tolist():
        expected = math.erfc(number)
        assert abs(erfc(number) - expected) <= 4 * math.ulp(expected)


def test_ends_of_the_error_function():
    numbers = [math.inf, -math.inf, 0.0, 1e300, -1e300, -6.5, 0.84375, 1.25, 1 / 0.35, 28.0]
    expected = [math.erfc(number) for number in numbers]
    assert [erfc(number) for number in numbers] == pytest.approx(expected, rel=1e-15)
    assert math.isnan(erfc(math.nan))


def test_shares_of_normal_numbers_below_a_value():
    values = drawn(-8, 8)
    np.testing.assert_allclose(shares_below(values), special.ndtr(values), rtol=2e-14)
    far = drawn(-37, -8)
    np.testing.assert_allclose(shares_below(far), np.exp(special.log_ndtr(far)), rtol=1e-12)
    ends = np.array([-math.inf, -40.0, 0.0, 10.0, math.inf])
    assert shares_below(ends).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert np.isnan(shares_below(np.array([math.nan]))).all()


def test_quantiles_of_the_normal_distribution():
    middle, far, close_to_one = drawn(0, 1), 10 ** drawn(-307, -1), 1 - 10 ** drawn(-15, -1)
    for shares in (middle, far, close_to_one):
        np.testing.assert_allclose(quantiles(shares), special.ndtri(shares), rtol=2e-15, atol=1e-16)
    assert quantiles(np.array([0.0, 0.5, 1.0])).tolist() == [-math.inf, 0.0, math.inf]
    assert quantiles(np.array([SMALLEST])).tolist() == pytest.approx([special.ndtri(SMALLEST)])
    assert np.isnan(quantiles(np.array([-0.1, 1.1, math.inf, math.nan]))).all()


def test_a_quantile_is_where_its_share_lies_below():
    shares = np.concatenate([10 ** drawn(-300, -1), drawn(0, 1)])
    np.testing.assert_allclose(shares_below(quantiles(shares)), shares, rtol=1e-12)


def test_angles_of_slopes():
    slopes = np.concatenate([drawn(-3, 3), 10 ** drawn(-300, 300), -(10 ** drawn(-3, 3))]).tolist()
    for slope in (*slopes, 0.0, 0.4375, 0.6875, 1.1875, 2.4375, math.inf, -math.inf):
        assert abs(angle(slope) - math.atan(slope)) <= math.ulp(math.atan(slope))


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 8, 19, 20, 99, 1000])
def test_shares_of_student_below_a_value(freedom):
    values = np.concatenate([drawn(-6, 6), drawn(-300, 300, 50)])
    found = [student_share_below(value, freedom) for value in values.tolist()]
    np.testing.assert_allclose(found, special.stdtr(freedom, values), rtol=0, atol=5e-14)
    ends = [student_share_below(end, freedom) for end in (-math.inf, -1e300, 0.0, 1e300, math.inf)]
    assert ends == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_shares_of_student_by_hand():
    """1/2 + atan(1)/pi, and 1/2 + 1/sqrt(12) for the slope 1/sqrt(2), whose sine is 1/sqrt(3)."""
    assert student_share_below(1.0, 1) == pytest.approx(0.75, rel=1e-15)
    assert student_share_below(1.0, 2) == pytest.approx(0.5 + 1 / math.sqrt(12), rel=1e-15)


def test_softmaxes_sum_to_one_whatever_is_added():
    logits = drawn(-50, 50, (50, 7))
    found = softmaxes(logits)
    np.testing.assert_allclose(found, special.softmax(logits, -1), rtol=1e-13, atol=1e-300)
    assert found.sum(-1) == pytest.approx(1.0)
    assert softmaxes(np.array([[1e308, 1e308], [-math.inf, 0.0]])).tolist() == [[0.5, 0.5], [0, 1]]
    assert softmaxes(np.array([[3.0], [-900.0]])).tolist() == [[1.0], [1.0]]  # a single class
    for odd in ([math.nan, 1.0], [1.0, math.nan], [math.inf, 1.0], [-math.inf, -math.inf]):
        assert np.isnan(softmaxes(np.array(odd))).all()


def test_the_logistic_function_keeps_its_digits_on_either_side():
    for number in (-700.0, -40.0, -1.0, 0.0, 1.0, 40.0):
        expected = 1 / (1 + math.exp(-number))
        assert logistic(number)[1] == pytest.approx(expected, rel=1e-15)
        assert logistic(-number)[0] == pytest.approx(expected, rel=1e-15)
    ends = [logistic(number)[1] for number in (-math.inf, -1e300, 1e300, math.inf)]
    assert ends == [0.0, 0.0, 1.0, 1.0]
    assert np.isnan(logistic(math.nan)).all()


def test_one_logit_is_that_of_the_second_class():
    logits = np.array([[-40.0], [0.0], [3.0]])
    found = np.empty((3, 2))
    elementary.write_probabilities(logits, found)
    assert [tuple(row) for row in found] == [logistic(x) for x in (-40.0, 0.0, 3.0)]
    assert logistics(logits).tolist() == found[:, 1:].tolist()
    logits = drawn(-5, 5, (5, 4))
    found = np.empty((5, 4))
    elementary.write_probabilities(logits, found)
    assert np.array_equal(found, softmaxes(logits))


@pytest.mark.parametrize("function", [exponentials, logarithms, logistics, shares_below, quantiles])
def test_arrays_of_any_shape_go_through(function):
    numbers = drawn(0, 1, (4, 5, 6))
    expected = function(numbers.ravel())
    assert np.array_equal(function(numbers), expected.reshape(4, 5, 6))
    assert np.array_equal(function(numbers.T), expected.reshape(4, 5, 6).T)
    assert np.array_equal(function(numbers[::2, 1, ::-3]), function(numbers)[::2, 1, ::-3])
    assert np.array_equal(function(np.array(0.25)), function(np.array([0.25]))[0])
    assert function(np.empty((3, 0))).shape == (3, 0)
    single = numbers.astype(np.float32)
    assert np.array_equal(function(single), function(single.astype(np.float64)))
    assert function(np.ones(2, np.int64)).dtype == np.float64


def test_powers_and_softmaxes_of_any_shape_go_through():
    bases, exponents = drawn(0, 1, (3, 1, 4)), drawn(-2, 2, (5, 1))
    one_by_one = [
        [[power(bases[i, 0, k], exponents[j, 0]) for k in range(4)] for j in range(5)]
        for i in range(3)
    ]
    assert powers(bases, exponents).tolist() == one_by_one
    assert powers(np.array(4.0), np.array(0.5)).shape == ()
    assert powers(np.empty((0, 2)), np.ones(2)).shape == (0, 2)
    logits = drawn(0, 1, (3, 4, 5))
    by_row = [[softmaxes(row).tolist() for row in part] for part in logits]
    assert softmaxes(logits).tolist() == by_row
    assert np.array_equal(softmaxes(logits.T), softmaxes(np.ascontiguousarray(logits.T)))
    assert softmaxes(np.empty((0, 3))).shape == (0, 3)


def test_what_is_given_is_not_written_to():
    numbers = drawn(0, 1, (3, 4))
    before = numbers.copy()
    for function in (exponentials, logarithms, logistics, shares_below, quantiles, softmaxes):
        function(numbers)
    powers(numbers, numbers)
    assert np.array_equal(numbers, before)


def test_every_processor_gives_these_bits():
    """Whatever changes a bit of them changes answers that were given before."""
    steps = np.arange(1, 4096) / 4096
    found = {
        "exp": exponentials(1400 * steps - 700),
        "log": logarithms(steps),
        "power": powers(steps, 8 * steps[::-1]),
        "share": shares_below(40 * steps - 30),
        "quantile": quantiles(steps),
        "softmax": softmaxes(20 * steps.reshape(-1, 5)).ravel(),
        "student": np.array([student_share_below(x, 19) for x in (9 * steps - 3).tolist()]),
    }
    assert {name: int(row_keys(values)) for name, values in found.items()} == {
        "exp": 0x6F939BE6507E3EB6,
        "log": 0x7ADB4352DC947301,
        "power": 0x1AF1B56B00E4A979,
        "share": -0x8DB66C0DFA6E8E3,
        "quantile": 0x715AF215BCDFD657,
        "softmax": 0x70CAF8A53E6E4B22,
        "student": -0xFE8CF651C01432A,
    }
