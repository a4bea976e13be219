"""Branches, loops and calls as nodes."""
