"""Results that grow part by part in a place of their own, and are put together at the end."""
