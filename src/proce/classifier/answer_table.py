"""What a model has answered already: the same row of the same person is not asked about again.

A search comes by the same candidates again and again, the more so as it converges, and an
answer of a model costs more than all else. The table is exact: a row is known only if each of its
cells is the same, bit by bit. It holds a bounded number of rows and forgets some of them then.
Answers are kept by person, so that what one person is told does not depend on who else is asked
about, even for a model whose answers depend on the batch.
"""

from collections.abc import Callable

import numpy as np

from proce.arrays import Array, Floats, Ints
from proce.classifier.answer_places import ANSWERED, EMPTY

MAX_BYTES = 32 * 2**20  # of a table; three times as much saves two questions of a hundred more
_FIRST_SIZE = 4096  # rows
_MAX_FILLED = 0.5  # of a table, before it grows


class AnswerTable:
    """The answers of one model, kept for as long as the table lives, which is one call.

    Parameters
    ----------
    n_features, n_classes
        How long a row is, and an answer.
    max_bytes
        How much memory the table may take.
    """

    def __init__(self, n_features: int, n_classes: int, max_bytes: int = MAX_BYTES) -> None:
        self._shape = n_features, n_classes
        most = max(_FIRST_SIZE, max_bytes // (8 * (n_features + n_classes + 2)))
        self._max_size = 1 << (most.bit_length() - 1)
        self._empty(0)

    def ask(self, values: Array, keys: Array, ask: Callable[[Array], Array]) -> Array:
        """Return the class probabilities ``(n, k)`` of rows; the model is asked about new ones.

        Parameters
        ----------
        values
            ``(n, f)``, the rows as the model is given them, on the CPU.
        keys
            ``(n,)``, whole numbers that say whose candidates the rows are.
        ask
            Asks the model about some of the rows.
        """
        self._grow_for(len(values))
        bits = np.ascontiguousarray(values.astype(np.float64)).view(np.int64)
        answers = np.empty((len(values), self._shape[1]))
        asked, source, places = self._look_up(bits, np.ascontiguousarray(keys), answers)
        if len(asked):
            try:
                given = ask(values[asked])
            except BaseException:
                self._states[self._states >= 0] = EMPTY  # what was never answered is not known
                raise
            self._keep(np.ascontiguousarray(given.astype(np.float64)), places, source, answers)
        return answers

    def _look_up(self, bits: Ints, keys: Ints, answers: Floats) -> tuple[Ints, Ints, Ints]:
        """Write the known answers; return the rows to ask about, whom they serve, and places."""
        from proce.classifier.answer_kernels import look_up

        source, asked, places = (np.empty(len(bits), np.int64) for _ in range(3))
        table = self._bits, self._keys, self._answers, self._states
        n_asked = look_up(bits, keys, *table, answers, source, asked, places)
        self._n_filled += n_asked
        return asked[:n_asked], source, places

    def _keep(self, given: Floats, places: Ints, source: Ints, answers: Floats) -> None:
        from proce.classifier.answer_kernels import keep

        keep(given, places, source, self._states, self._answers, answers)

    def _grow_for(self, n_rows: int) -> None:
        """Make the table larger where it could not hold so many more rows with ease."""
        size = max(_FIRST_SIZE, len(self._states))
        while size < self._max_size and self._n_filled + n_rows > _MAX_FILLED * size:
            size *= 2
        if size == len(self._states):
            return
        known = self._states == ANSWERED
        bits, keys, answers = self._bits[known], self._keys[known], self._answers[known]
        self._empty(size)
        again = np.empty_like(answers)
        asked, source, places = self._look_up(bits, keys, again)
        self._keep(answers[asked], places, source, again)

    def _empty(self, size: int) -> None:
        n_features, n_classes = self._shape
        self._n_filled = 0
        self._bits = np.zeros((size, n_features), np.int64)
        self._keys = np.zeros(size, np.int64)
        self._answers = np.zeros((size, n_classes))
        self._states = np.full(size, EMPTY, np.int64)
