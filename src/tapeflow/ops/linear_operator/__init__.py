"""`tf.linalg.LinearOperator` and its kinds. They are composed of rows and have none."""
