"""The table of :mod:`proce.classifier.answer_table`, for numba: hashes with a few places each."""

import numpy as np

from proce.arrays import Floats, Ints, Words
from proce.classifier.answer_places import ANSWERED, EMPTY, Places, Questions
from proce.compiled.kernel import kernel

# Of a hash with which a look-up takes two thirds as long as with `hash_row`; rows are compared bit
# by bit afterwards, so that any serves.
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(32)
_N_PLACES = 4  # in which a row may stand


@kernel
def look_up(bits: Words, keys: Ints, table: Places, questions: Questions, answers: Floats) -> int:
    """Write the answers ``(n, k)`` to rows that are known; return how many questions are left.

    The rows are given bit by bit ``(n, f)``, and whose they are ``(n,)``. Questions are written,
    and find their place in the table.
    """
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
    """Write the answers ``(q, k)`` that were given into the table, and to the rows that asked.

    The others are as :func:`look_up` left them.
    """
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
