"""Lists of tensors, `tf.TensorArray`, and maps of tensors."""
