"""Datasets that come from values, arrays, files and databases, and datasets in files."""
