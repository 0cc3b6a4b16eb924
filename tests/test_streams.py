"""A row's random numbers depend on its seed, key, generation and purpose, and on nothing else."""

import numpy as np
import pytest
from scipy import stats

from proce.compiled import streams as kernels
from proce.compiled import streams as stream
from proce.search import Purpose, RowStreams

from .compiled.parts import whole


def split_mix(state: int) -> int:
    """Return the first output of SplitMix64, with Python's whole numbers."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return state ^ (state >> 31)


def drawn_slowly(seed: int, key: int, generation: int, purpose: int, position: int) -> int:
    """Return the bits of a row's stream at a position."""
    golden = 0x9E3779B97F4A7C15
    first, second = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
    state = mixed(mixed(seed + golden) + key * golden)
    state = mixed(mixed(state + generation * first) + purpose * second)
    return mixed(state + (position + 1) * golden)


def mixed(state: int) -> int:
    return split_mix((state - 0x9E3779B97F4A7C15) % 2**64)


def test_the_published_first_number():
    """SplitMix64 seeded with 1234567 starts with 6457827717110365317."""
    assert split_mix(1234567) == 6457827717110365317
    assert int(whole(kernels.mix)(np.uint64(1234567 + 0x9E3779B97F4A7C15))) == 6457827717110365317


def test_a_stream_is_the_hash_of_what_it_depends_on():
    keys, seeds = (0, 3, -7, 2**62), (0, 5, 2**63 + 1)
    streams = RowStreams.of_each(seeds, np.array(keys))
    bits = streams.bits(17, Purpose.START, 50)
    expected = [
        [drawn_slowly(seed, key, 17, Purpose.START, position) for position in range(50)]
        for seed in seeds
        for key in keys
    ]
    assert bits.tolist() == expected
    assert streams.uniforms(17, Purpose.START, 50).tolist() == [
        [((word >> 12) + 0.5) * 2.0**-52 for word in row] for row in expected
    ]
    one_by_one = [RowStreams.of(seed, np.array(keys)).states for seed in seeds]
    assert np.array_equal(streams.states, np.concatenate(one_by_one))


def test_how_bits_are_cut():
    upper_whole, lower_whole = whole(kernels.upper_whole), whole(kernels.lower_whole)
    upper_half, lower_half = whole(kernels.upper_half), whole(kernels.lower_half)
    for word in RowStreams.of(1, np.arange(3)).bits(1, Purpose.CHANGE, 50).ravel():
        upper, lower = int(word) >> 32, int(word) & (2**32 - 1)
        assert upper_whole(word, 7) == upper * 7 >> 32
        assert lower_whole(word, 7) == lower * 7 >> 32
        assert upper_half(word) == upper / 2**32
        assert lower_half(word) == lower / 2**32


def test_a_row_draws_the_same_alone_and_among_others():
    keys = np.array([4, 9, 2])
    together = RowStreams.of(8, keys).uniforms(3, Purpose.START, 40)
    for row, key in enumerate(keys):
        alone = RowStreams.of(8, key[None]).uniforms(3, Purpose.START, 40)
        assert np.array_equal(alone[0], together[row])
    longer = RowStreams.of(8, keys).uniforms(3, Purpose.START, 99)
    assert np.array_equal(longer[:, :40], together)


def test_seed_key_generation_and_purpose_each_give_another_stream():
    drawn = [
        RowStreams.of(seed, np.array([key])).bits(generation, purpose, 64)
        for seed in (0, 1, 2**63, -1)
        for key in (0, 1)
        for generation in (0, 1)
        for purpose in (Purpose.MATING, Purpose.CROSSING)
    ]
    assert len(np.unique(np.concatenate(drawn))) == 4 * 2 * 2 * 2 * 64


@pytest.mark.parametrize("along", ["positions", "keys", "generations", "purposes", "seeds"])
def test_uniform_and_uncorrelated_in_every_direction(along):
    """20 bins of 200,000 numbers, pairs of neighbours on a grid, each with a chi-squared test."""
    n = 200_000
    one = np.array([11])
    drawn = {
        "positions": lambda: RowStreams.of(1, one).uniforms(1, Purpose.CHANGE, n)[0],
        "keys": lambda: RowStreams.of(1, np.arange(n)).uniforms(1, Purpose.CHANGE, 1)[:, 0],
        "generations": lambda: np.concatenate(
            [RowStreams.of(1, np.arange(1000)).uniforms(g, Purpose.CHANGE, 1) for g in range(200)]
        )[:, 0],
        "purposes": lambda: np.stack(
            [RowStreams.of(1, one).uniforms(1, p, n // 5)[0] for p in list(Purpose)[:5]], axis=1
        ).ravel(),
        "seeds": lambda: np.concatenate(
            [RowStreams.of(s, np.arange(1000)).uniforms(1, Purpose.CHANGE, 1) for s in range(200)]
        )[:, 0],
    }[along]()
    assert 0 < drawn.min() < drawn.max() < 1
    counts = np.histogram(drawn, 20, (0, 1))[0]
    assert stats.chisquare(counts).pvalue > 1e-4
    pairs = np.histogram2d(drawn[:-1:2], drawn[1::2], 20, [[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-4
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / np.sqrt(n)


def test_every_bit_is_on_half_the_time():
    bits = RowStreams.of(3, np.arange(200)).bits(2, Purpose.CROSSOVER, 500).ravel()
    shares = [float(((bits >> np.uint64(bit)) & np.uint64(1)).mean()) for bit in range(64)]
    assert max(abs(share - 0.5) for share in shares) < 5 * 0.5 / np.sqrt(len(bits))


def test_genes_in_another_order_have_another_hash():
    genes = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], dtype=np.float64)
    a, b, again = stream.row_keys(genes).tolist()
    assert a == again != b


def test_equal_rows_draw_the_same_numbers_whatever_the_sign_of_their_zeros():
    a, b = stream.row_keys(np.array([[0.0, 1.0], [-0.0, 1.0]])).tolist()
    assert a == b


def test_a_missing_number_draws_otherwise_than_any_number():
    rows = np.array([[np.nan, 1.0], [-np.nan, 1.0], [-9.0, 1.0]])
    missing, again, number = stream.row_keys(rows).tolist()
    assert missing == again != number
