"""Chunks side by side: all are worked on, and what one raises ends the others."""

import threading

import pytest
import torch

from proce.methods.explaining.overlap import for_each_chunk

CHUNKS = torch.split(torch.arange(10), 3)


@pytest.mark.parametrize("n_at_once", [1, 2])
def test_every_chunk_is_worked_on(n_at_once):
    seen = []
    for_each_chunk(CHUNKS, lambda chunk: seen.extend(chunk.tolist()), n_at_once, pytest.fail)
    assert sorted(seen) == list(range(10))


def test_two_chunks_are_worked_on_at_once():
    both = threading.Barrier(2, timeout=10)  # breaks where nobody comes
    for_each_chunk(CHUNKS, lambda chunk: both.wait(), 2, pytest.fail)


def test_what_is_raised_ends_the_others():
    stopped = threading.Event()
    begun = []

    def work(chunk):
        begun.append(int(chunk[0]))
        if chunk[0] == 0:
            raise ValueError("no model")
        assert stopped.wait(10)

    with pytest.raises(ValueError, match="no model"):
        for_each_chunk(CHUNKS, work, 2, stopped.set)
    assert stopped.is_set()
    assert 9 not in begun
