"""What the queues of `tf.train.batch` and similar functions are fed by and hold."""
