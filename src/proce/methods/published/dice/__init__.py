"""DiCE, in a process of its own."""
