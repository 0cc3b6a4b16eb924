"""Explanations as JSON, and back.

``explanations_json`` has the two functions; ``wire`` says what a text may hold.
"""
