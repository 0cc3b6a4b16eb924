"""The service: one process that answers REST and shows one page."""
