"""A row's random numbers depend on its seed, key, generation and purpose, and on nothing else."""

import numpy as np
import pytest
import torch
from scipy import stats

from proce import streams as stream
from proce.search import Purpose, RowStreams
from proce.search.kernels import stream as stream_kernel


def split_mix(state: int) -> int:
    """Return the first output of SplitMix64, with Python's whole numbers."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
    return state ^ (state >> 31)


def test_the_published_first_number():
    """SplitMix64 seeded with 1234567 starts with 6457827717110365317."""
    golden = torch.tensor(0x9E3779B97F4A7C15 - 2**64)
    assert split_mix(1234567) == 6457827717110365317
    assert int(stream.mix(1234567 + golden)) % 2**64 == 6457827717110365317


def test_numpy_mixes_as_tensors_do():
    state = torch.randint(-(2**63), 2**63 - 1, (5, 7), generator=torch.Generator().manual_seed(0))
    expected = state.view(torch.uint64).numpy().tolist()
    expected = [[split_mix((word - stream.GOLDEN) % 2**64) for word in line] for line in expected]
    assert stream.mix(state).numpy().view(np.uint64).tolist() == expected
    assert torch.equal(stream._mix_tensor(state), stream.mix(state))


def test_numpy_draws_as_tensors_do():
    """Tensors draw on other devices than the CPU."""
    keys, seeds = torch.tensor([0, 3, -7, 2**62]), (0, 5, 2**63 + 1)
    streams = RowStreams.of_each(seeds, keys)
    assert torch.equal(streams.states, stream._states_by_tensors(seeds, keys))
    bits = stream._bits_by_tensors(streams.states, 17, Purpose.START, 50)
    assert torch.equal(streams.bits(17, Purpose.START, 50), bits)
    assert torch.equal(streams.uniforms(17, Purpose.START, 50), stream.uniform(bits))
    one_by_one = [RowStreams.of(seed, keys).states for seed in seeds]
    assert torch.equal(streams.states, torch.cat(one_by_one))


def test_both_implementations_draw_the_same_numbers():
    streams = RowStreams.of(5, torch.tensor([0, 3, -7, 2**62]))
    drawn = streams.uniforms(17, Purpose.MUTATION, 1000)
    for row, state in enumerate(streams.words):
        start = stream_kernel.stream_start(state, 17, int(Purpose.MUTATION))
        bits = [stream_kernel.draw_bits(np.uint64(start), position) for position in range(1000)]
        expected = [stream_kernel.uniform(np.uint64(word)) for word in bits]
        assert drawn[row].tolist() == expected


def test_both_implementations_cut_bits_alike():
    bits = RowStreams.of(1, torch.arange(3)).bits(1, Purpose.CHANGE, 50)
    words = bits.numpy().view(np.uint64)
    upper, lower = stream.whole_numbers(bits, 7)
    high, low = stream.halves(bits)
    for row in range(3):
        for at in range(50):
            word = words[row, at]
            assert stream_kernel.upper_whole(word, 7) == upper[row, at]
            assert stream_kernel.lower_whole(word, 7) == lower[row, at]
            assert stream_kernel.upper_half(word) == high[row, at]
            assert stream_kernel.lower_half(word) == low[row, at]


def test_a_row_draws_the_same_alone_and_among_others():
    keys = torch.tensor([4, 9, 2])
    together = RowStreams.of(8, keys).uniforms(3, Purpose.START, 40)
    for row, key in enumerate(keys):
        alone = RowStreams.of(8, key[None]).uniforms(3, Purpose.START, 40)
        assert torch.equal(alone[0], together[row])
    longer = RowStreams.of(8, keys).uniforms(3, Purpose.START, 99)
    assert torch.equal(longer[:, :40], together)


def test_seed_key_generation_and_purpose_each_give_another_stream():
    drawn = [
        RowStreams.of(seed, torch.tensor([key])).bits(generation, purpose, 64)
        for seed in (0, 1, 2**63, -1)
        for key in (0, 1)
        for generation in (0, 1)
        for purpose in (Purpose.MATING, Purpose.CROSSING)
    ]
    assert len(torch.cat(drawn).unique()) == 4 * 2 * 2 * 2 * 64


@pytest.mark.parametrize("along", ["positions", "keys", "generations", "purposes", "seeds"])
def test_uniform_and_uncorrelated_in_every_direction(along):
    """20 bins of 200,000 numbers, pairs of neighbours on a grid, each with a chi-squared test."""
    n = 200_000
    one = torch.tensor([11])
    drawn = {
        "positions": lambda: RowStreams.of(1, one).uniforms(1, Purpose.CHANGE, n)[0],
        "keys": lambda: RowStreams.of(1, torch.arange(n)).uniforms(1, Purpose.CHANGE, 1)[:, 0],
        "generations": lambda: torch.cat(
            [
                RowStreams.of(1, torch.arange(1000)).uniforms(g, Purpose.CHANGE, 1)
                for g in range(200)
            ]
        )[:, 0],
        "purposes": lambda: torch.stack(
            [RowStreams.of(1, one).uniforms(1, p, n // 5)[0] for p in list(Purpose)[:5]], dim=1
        ).flatten(),
        "seeds": lambda: torch.cat(
            [
                RowStreams.of(s, torch.arange(1000)).uniforms(1, Purpose.CHANGE, 1)
                for s in range(200)
            ]
        )[:, 0],
    }[along]().numpy()
    assert 0 < drawn.min() < drawn.max() < 1
    counts = np.histogram(drawn, 20, (0, 1))[0]
    assert stats.chisquare(counts).pvalue > 1e-4
    pairs = np.histogram2d(drawn[:-1:2], drawn[1::2], 20, [[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-4
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 4 / np.sqrt(n)


def test_every_bit_is_on_half_the_time():
    bits = RowStreams.of(3, torch.arange(200)).bits(2, Purpose.CROSSOVER, 500).numpy().ravel()
    shares = [float(((bits >> bit) & 1).mean()) for bit in range(64)]
    assert max(abs(share - 0.5) for share in shares) < 5 * 0.5 / np.sqrt(len(bits))


def test_genes_in_another_order_have_another_hash():
    genes = torch.tensor([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    a, b, again = stream.hash_values(genes).tolist()
    assert a == again != b
