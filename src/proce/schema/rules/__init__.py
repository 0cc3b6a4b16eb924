"""Rules that a person can write, from text to arrays.

``rule`` is what others use, and finds rules that contradict each other; ``syntax`` reads the text,
``resolver`` looks up names and checks types, ``tree`` says what a rule asks for, and ``program``
lets a kernel compute it.
"""
