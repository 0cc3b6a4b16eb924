"""The table of :mod:`proce.classifier.answer_table`, for numba: hashes with a few places each."""

import numpy as np

from proce.arrays import Floats, Ints
from proce.classifier.answer_places import ANSWERED, EMPTY
from proce.compiled.kernel import kernel

_N_PLACES = 4  # in which a row may stand
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(32)


@kernel
def look_up(
    bits: Ints,
    keys: Ints,
    kept_bits: Ints,
    kept_keys: Ints,
    kept_answers: Floats,
    states: Ints,
    answers: Floats,
    source: Ints,
    asked: Ints,
    places: Ints,
) -> int:
    """Write the answers to rows that are known; return how many questions are left.

    Parameters
    ----------
    bits, keys
        ``(n, f)`` and ``(n,)``, the rows bit by bit, and whose they are.
    kept_bits, kept_keys, kept_answers, states
        The table: ``(s, f)``, ``(s,)``, ``(s, k)`` and ``(s,)``. Questions find their place in it.
    answers
        ``(n, k)``, written where the answer is known.
    source
        ``(n,)``, written: the question that answers the row, or -1.
    asked, places
        ``(n,)``, written: the row of each question, and its place in the table.
    """
    n_rows, n_features = bits.shape
    n_classes, size, count = answers.shape[1], len(states), 0
    for row in range(n_rows):
        word = np.uint64(keys[row]) * _FIRST_FACTOR
        for feature in range(n_features):
            word = (word ^ np.uint64(bits[row, feature])) * _SECOND_FACTOR
            word ^= word >> _SHIFT
        word *= _FIRST_FACTOR  # plain numbers differ in their upper bits, and places in the lower
        word ^= word >> _SHIFT
        first = np.int64(word & np.uint64(size - 1))
        chosen, is_known = np.int64(-1), False
        for step in range(_N_PLACES):
            place = (first + step) & (size - 1)
            if states[place] == EMPTY:
                if chosen < 0:
                    chosen = place
                continue
            is_known = kept_keys[place] == keys[row]
            feature = 0
            while is_known and feature < n_features:
                is_known = kept_bits[place, feature] == bits[row, feature]
                feature += 1
            if is_known:
                chosen = place
                break
        if is_known and states[chosen] == ANSWERED:
            for label in range(n_classes):
                answers[row, label] = kept_answers[chosen, label]
            source[row] = -1
        elif is_known:
            source[row] = states[chosen]
        else:
            if chosen < 0:  # the place of another row, which is forgotten
                chosen = (first + count % _N_PLACES) & (size - 1)
            kept_keys[chosen], states[chosen] = keys[row], count
            for feature in range(n_features):
                kept_bits[chosen, feature] = bits[row, feature]
            source[row], asked[count], places[count] = count, row, chosen
            count += 1
    return count


@kernel
def keep(
    given: Floats,
    places: Ints,
    source: Ints,
    states: Ints,
    kept_answers: Floats,
    answers: Floats,
) -> None:
    """Write what was answered into the table, and to the rows that asked.

    Parameters
    ----------
    given
        ``(q, k)``, the answers to the open questions.
    places, source, states, kept_answers, answers
        As :func:`look_up` left them.
    """
    n_questions, n_classes = given.shape
    for question in range(n_questions):
        place = places[question]
        if states[place] == question:  # and not another one since
            states[place] = ANSWERED
            for label in range(n_classes):
                kept_answers[place, label] = given[question, label]
    for row in range(len(source)):
        if source[row] >= 0:
            for label in range(n_classes):
                answers[row, label] = given[source[row], label]
