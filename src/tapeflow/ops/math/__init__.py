"""Elementwise functions, comparisons, reductions, and what counts, sorts or sums segments."""
