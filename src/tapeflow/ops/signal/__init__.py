"""Fourier and cosine transforms, windows, frames, and sound."""
