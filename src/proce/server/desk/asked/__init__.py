"""What is asked of a desk: read, checked, and answered by the explainer."""
