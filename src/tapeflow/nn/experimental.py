"""tf.nn.experimental: dropout by other random numbers."""

from tapeflow.ops.nn.dropout import general_dropout, stateless_dropout

__all__ = ["general_dropout", "stateless_dropout"]
