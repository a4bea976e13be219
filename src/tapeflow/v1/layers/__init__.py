"""Layers of 1.x: the Keras layers under their older names, and functions that make and call one."""
