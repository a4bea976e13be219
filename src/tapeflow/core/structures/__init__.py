"""Nested structures, and containers compared by identity or followed by checkpoints."""
