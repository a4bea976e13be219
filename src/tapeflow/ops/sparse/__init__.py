"""Sparse tensors in coordinate and CSR form, and sets."""
