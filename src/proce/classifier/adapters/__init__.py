"""One adapter for each kind of model."""
