"""One small script for each package, run in its own environment."""
