"""Wachter's gradient descent."""
