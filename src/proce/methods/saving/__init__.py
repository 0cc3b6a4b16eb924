"""Fitted explainers in folders, without pickle.

``explainer`` writes and loads a folder, ``folder`` names files by their hash and refuses others,
``manifest`` checks every field, and ``parts`` checks the arrays against each other.
"""
