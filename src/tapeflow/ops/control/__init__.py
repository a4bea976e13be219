"""Branches, loops, `map_fn`, assertions and printing, eager and staged."""
