"""ProCE's own call: search, shortlist, last check, diagnosis."""
