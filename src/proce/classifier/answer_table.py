"""What a model has answered already: the same row of the same person is not asked about again.

A search comes by the same candidates again and again, the more so as it converges, and an
answer of a model costs more than all else. The table is exact: a row is known only if each of its
cells is the same, bit by bit. It holds a bounded number of rows and forgets some of them then.
Answers are kept by person, so that what one person is told does not depend on who else is asked
about, even for a model whose answers depend on the batch.
"""

from collections.abc import Callable

import numpy as np

from proce.arrays import Array, Floats, Ints, Words
from proce.classifier.answer_places import ANSWERED, EMPTY, Places, Questions

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
            ``(n, f)``, the rows as the model is given them.
        keys
            ``(n,)``, whole numbers that say whose candidates the rows are.
        ask
            Asks the model about some of the rows.
        """
        self._grow_for(len(values))
        bits = np.ascontiguousarray(values.astype(np.float64)).view(np.uint64)
        answers = np.empty((len(values), self._shape[1]))
        questions, n_asked = self._look_up(bits, np.ascontiguousarray(keys), answers)
        if n_asked:
            try:
                given = ask(values[questions.asked[:n_asked]])
            except BaseException:
                states = self._places.states
                states[states >= 0] = EMPTY  # what was never answered is not known
                raise
            self._keep(np.ascontiguousarray(given.astype(np.float64)), questions, answers)
        return answers

    def _look_up(self, bits: Words, keys: Ints, answers: Floats) -> tuple[Questions, int]:
        """Write the known answers; return the questions that are left, and how many they are."""
        from proce.classifier.answer_kernels import look_up

        questions = Questions(*(np.empty(len(bits), np.int64) for _ in range(3)))
        n_asked = look_up(bits, keys, self._places, questions, answers)
        self._n_filled += n_asked
        return questions, n_asked

    def _keep(self, given: Floats, questions: Questions, answers: Floats) -> None:
        from proce.classifier.answer_kernels import keep

        keep(given, self._places, questions, answers)

    def _grow_for(self, n_rows: int) -> None:
        """Make the table larger where it could not hold so many more rows with ease."""
        size = max(_FIRST_SIZE, len(self._places.states))
        while size < self._max_size and self._n_filled + n_rows > _MAX_FILLED * size:
            size *= 2
        if size == len(self._places.states):
            return
        known = self._places.states == ANSWERED
        bits, keys, answers, _ = (values[known] for values in self._places)
        self._empty(size)
        again = np.empty_like(answers)
        questions, n_asked = self._look_up(bits, keys, again)
        self._keep(answers[questions.asked[:n_asked]], questions, again)

    def _empty(self, size: int) -> None:
        n_features, n_classes = self._shape
        self._n_filled = 0
        self._places = Places(
            np.zeros((size, n_features), np.uint64),
            np.zeros(size, np.int64),
            np.zeros((size, n_classes)),
            np.full(size, EMPTY, np.int64),
        )
