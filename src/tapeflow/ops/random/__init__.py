"""Random numbers: Philox, stateful and stateless distributions, seeds and `tf.random.Generator`."""
