"""What a call of any method shares."""
