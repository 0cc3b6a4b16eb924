"""Everything that is asked of one loaded explainer: plain values in, plain values out; no HTTP.

``ExplainerApi`` has a method for each question; handlers answer it, presenters tell the result.
"""
