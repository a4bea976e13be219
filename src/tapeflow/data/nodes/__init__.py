"""Datasets in graphs: TensorFlow's dataset ops read, run and written."""
