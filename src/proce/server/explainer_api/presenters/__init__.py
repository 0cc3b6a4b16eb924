"""What an explainer tells: the explainer and its results, as a page shows them."""
