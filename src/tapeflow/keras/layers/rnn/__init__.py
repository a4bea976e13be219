"""Recurrent layers, their cells, and the loops that run them."""
