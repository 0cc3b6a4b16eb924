"""Chunks of a call side by side: while a device searches one, the host finishes another."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from torch import Tensor


def for_each_chunk(
    chunks: Sequence[Tensor],
    work: Callable[[Tensor], None],
    n_at_once: int,
    stop: Callable[[], None],
) -> None:
    """Work on every chunk; what one of them raises ends the others and is raised.

    Parameters
    ----------
    chunks
        The rows of each chunk, given by position.
    work
        What is done with a chunk. With several at once it runs in other threads.
    n_at_once
        How many chunks are worked on at once.
    stop
        Called where something was raised: the others should end soon.
    """
    if n_at_once == 1 or len(chunks) < 2:
        for chunk in chunks:
            work(chunk)
        return
    with ThreadPoolExecutor(n_at_once) as pool:
        working = [pool.submit(work, chunk) for chunk in chunks]
        try:
            for each in working:
                each.result()
        except BaseException:
            stop()
            for each in working:
                each.cancel()
            raise
