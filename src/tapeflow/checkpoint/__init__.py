"""Checkpoints: TensorFlow's file formats, the objects that they follow, savers and restoration."""
