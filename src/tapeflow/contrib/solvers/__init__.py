"""`tf.contrib.solvers`: iterative methods for linear equations, least squares and bidiagonalization."""

from tapeflow.contrib.solvers import lanczos, least_squares, linear_equations, util

__all__ = ["lanczos", "least_squares", "linear_equations", "util"]
