"""`tf.Module`, and objects whose parts checkpoints follow."""
