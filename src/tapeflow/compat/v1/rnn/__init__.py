"""Recurrent networks of 1.x: cells, wrappers of cells, and the functions that run them over time."""
