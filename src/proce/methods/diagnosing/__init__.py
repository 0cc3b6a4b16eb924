"""Why a row has no counterfactual: each limit lifted alone, in one search."""
