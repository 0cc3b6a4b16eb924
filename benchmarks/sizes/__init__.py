"""What `benchmarks/scaling.py` is made of: a point that is measured, laws, the page's parts."""
