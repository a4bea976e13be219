"""Files, serialized tensors and messages, `tf.io.parse_example`, CSV, and summaries."""
