"""Transformations of datasets."""
