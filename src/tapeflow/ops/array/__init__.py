"""Making, joining, slicing, gathering, padding and reordering tensors."""
