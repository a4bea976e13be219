"""Special functions: error, gamma, beta and Bessel functions."""
