"""Explanations that can be checked later: ``receipt`` the text, ``verdict`` on the model."""
