"""Convolution and pooling in one to three dimensions, their gradients, and morphology."""
