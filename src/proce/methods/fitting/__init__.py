"""What ProCE learns from the training rows."""
