"""What is asked of an explainer: read, checked, and answered by the explainer."""
