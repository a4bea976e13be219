"""The profiler of 1.x: what the operations of a graph have and cost, by scopes of names and by types."""
