"""A pool of worker processes that die, hang and are stopped, and cost a retry."""
