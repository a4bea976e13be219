"""Numerical algorithms in plain NumPy that rows are computed with: special functions and matrix factorizations.

Nothing here knows of tensors or rows. Special functions take and return arrays of float64 and give NaN or an infinity
where there is no number; invalid floating-point operations on the way are the caller's to silence.
"""
