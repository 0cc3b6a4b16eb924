"""Rules that a person can write, from text to tensors."""
