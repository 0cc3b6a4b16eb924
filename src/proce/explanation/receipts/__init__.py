"""Explanations that can be checked on the model later."""
