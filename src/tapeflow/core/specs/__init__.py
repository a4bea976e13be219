"""Descriptions of values: `tf.TensorSpec`, extension types, and the specs that traces depend on."""
