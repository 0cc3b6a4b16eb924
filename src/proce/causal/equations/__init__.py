"""Equations of effects: their forms, how they are fitted and compared, and their noise."""
