"""Tables and figures of a recorded run, from its summary alone."""
