"""Counts of values: histograms, confusion matrices, percentiles."""
