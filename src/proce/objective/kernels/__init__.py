"""The compiled twins of what is minimised and what must hold."""
