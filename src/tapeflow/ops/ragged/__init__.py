"""`tf.RaggedTensor`: its rows, and the functions composed of them."""
