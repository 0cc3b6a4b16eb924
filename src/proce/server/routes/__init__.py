"""The routes: what each request is turned into, and how errors are answered."""
