"""The possible worlds in which advice must work, and how likely it does."""
