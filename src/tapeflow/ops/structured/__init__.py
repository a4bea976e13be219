"""Tensors of structures. Ragged and dense tensors, of which they are made, are in `ops.ragged` and `ops.array`."""
