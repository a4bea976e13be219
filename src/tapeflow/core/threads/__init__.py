"""Threads of the package, and waiting of one thread for another."""
