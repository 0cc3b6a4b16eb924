"""What a model has answered already: the same row of the same person is not asked about again.

A search comes by the same candidates again and again, the more so as it converges, and an
answer of a model costs more than all else. The cache is exact: a row is known only if each of its
cells is the same, bit by bit. It holds a bounded number of rows and forgets some of them then.
Answers are kept by person, so that what one person is told does not depend on who else is asked
about, even for a model whose answers depend on the batch.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from proce.arrays import Array, Floats, Ints, Words
from proce.compiled.kernel import kernel

# What a place of the table holds; from 0 on, the number of a question that is open.
EMPTY = -2
ANSWERED = -1


class Places(NamedTuple):
    """The places of a table of answers."""

    bits: Words  # ``(s, f)`` and ``(s,)``, the row in each place bit by bit, and whose it is
    keys: Ints
    answers: Floats  # ``(s, k)`` and ``(s,)``, what is known of it, and whether it is
    states: Ints


class Questions(NamedTuple):
    """What is asked about some rows."""

    source: Ints  # ``(n,)``, the question that answers each row, or -1 where the answer is known
    asked: Ints  # ``(n,)``, the row of each question, and its place in the table
    places: Ints


# Of a hash with which a look-up takes two thirds as long as with `hash_row`; rows are compared bit
# by bit afterwards, so that any serves.
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(32)
_N_PLACES = 4  # in which a row may stand


@kernel
def look_up(bits: Words, keys: Ints, table: Places, questions: Questions, answers: Floats) -> int:
    """Write the answers ``(n, k)`` to rows that are known; return how many questions are left."""
    # The rows are given bit by bit ``(n, f)``, and whose they are ``(n,)``. Questions are written,
    # and find their place in the table.
    source, asked, places = questions
    n_rows, n_features = bits.shape
    n_classes, size, count = answers.shape[1], len(table.states), 0
    for row in range(n_rows):
        word = np.uint64(keys[row]) * _FIRST_FACTOR
        for feature in range(n_features):
            word = (word ^ bits[row, feature]) * _SECOND_FACTOR
            word ^= word >> _SHIFT
        word *= _FIRST_FACTOR  # plain numbers differ in their upper bits, and places in the lower
        word ^= word >> _SHIFT
        first = np.int64(word & np.uint64(size - 1))
        chosen, is_known = np.int64(-1), False
        for step in range(_N_PLACES):
            place = (first + step) & (size - 1)
            if table.states[place] == EMPTY:
                if chosen < 0:
                    chosen = place
                continue
            is_known = table.keys[place] == keys[row]
            feature = 0
            while is_known and feature < n_features:
                is_known = table.bits[place, feature] == bits[row, feature]
                feature += 1
            if is_known:
                chosen = place
                break
        if is_known and table.states[chosen] == ANSWERED:
            for label in range(n_classes):
                answers[row, label] = table.answers[chosen, label]
            source[row] = -1
        elif is_known:
            source[row] = table.states[chosen]
        else:
            if chosen < 0:  # the place of another row, which is forgotten
                chosen = (first + count % _N_PLACES) & (size - 1)
            table.keys[chosen], table.states[chosen] = keys[row], count
            for feature in range(n_features):
                table.bits[chosen, feature] = bits[row, feature]
            source[row], asked[count], places[count] = count, row, chosen
            count += 1
    return count


@kernel
def keep(given: Floats, table: Places, questions: Questions, answers: Floats) -> None:
    """Write the answers ``(q, k)`` that were given into the table, and to the rows that asked."""
    # The others are as :func:`look_up` left them.
    n_questions, n_classes = given.shape
    for question in range(n_questions):
        place = questions.places[question]
        if table.states[place] == question:  # and not another one since
            table.states[place] = ANSWERED
            for label in range(n_classes):
                table.answers[place, label] = given[question, label]
    for row in range(len(questions.source)):
        question = questions.source[row]
        if question >= 0:
            for label in range(n_classes):
                answers[row, label] = given[question, label]


MAX_BYTES = 32 * 2**20  # of a table; three times as much saves two questions of a hundred more
_FIRST_SIZE = 4096  # rows
_MAX_FILLED = 0.5  # of a table, before it grows


class PredictionCache:
    """The answers of one model, kept for as long as the table lives, which is one call."""

    def __init__(self, n_features: int, n_classes: int, max_bytes: int = MAX_BYTES) -> None:
        self._shape = n_features, n_classes
        most = max(_FIRST_SIZE, max_bytes // (8 * (n_features + n_classes + 2)))
        self._max_size = 1 << (most.bit_length() - 1)
        self._empty(0)

    def ask(self, values: Array, keys: Array, ask: Callable[[Array], Array]) -> Array:
        """Return the class probabilities ``(n, k)`` of rows; the model is asked about new ones."""
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
        questions = Questions(*(np.empty(len(bits), np.int64) for _ in range(3)))
        n_asked = look_up(bits, keys, self._places, questions, answers)
        self._n_filled += n_asked
        return questions, n_asked

    def _keep(self, given: Floats, questions: Questions, answers: Floats) -> None:
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
