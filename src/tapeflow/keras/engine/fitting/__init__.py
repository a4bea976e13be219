"""`compile`, `fit`, `evaluate` and `predict`."""
