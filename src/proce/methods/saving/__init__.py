"""Fitted explainers in folders, without pickle."""
