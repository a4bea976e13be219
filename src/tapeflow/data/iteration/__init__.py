"""Passes over datasets: iterators, their threads and their states."""
