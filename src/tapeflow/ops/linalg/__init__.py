"""Products of matrices, decompositions, solvers and functions of matrices."""
