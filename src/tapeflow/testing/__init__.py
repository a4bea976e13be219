"""What `tf.test` is made of."""
