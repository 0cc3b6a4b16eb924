"""How ProCE searches a chunk of rows, from the terms of a call to candidates that passed."""
