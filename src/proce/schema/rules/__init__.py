"""Rules that a person can write, from text to arrays.

``rule`` is what others use; ``tokens`` and ``syntax`` read the text, ``types`` checks it, ``tree``
evaluates it, and ``conflict`` finds rules that contradict each other.
"""
