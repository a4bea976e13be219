"""Meshes of devices, layouts of tensors on them, and the tensors that have one. No operations, and no jax."""
