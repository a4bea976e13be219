"""Ops that read, write and choose elements by their index or value."""
