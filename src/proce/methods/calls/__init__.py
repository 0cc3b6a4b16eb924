"""What the calls of all methods share."""
