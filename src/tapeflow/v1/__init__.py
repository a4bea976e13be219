"""What `tf.compat.v1` is made of: variable scopes and stores, initializers, flags."""
