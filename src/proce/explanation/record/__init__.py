"""What is known of explained rows, as plain data."""
