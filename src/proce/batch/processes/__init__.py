"""A supervised pool of worker processes; it knows pieces of rows, and nothing of explanations."""
