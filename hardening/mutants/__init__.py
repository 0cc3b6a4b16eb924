"""Small changes of the source, and whether a test notices them; see docs/hardening.md."""
