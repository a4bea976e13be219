"""Models made of symbolic tensors, and the symbolic tensors themselves."""
