"""`tf.nn` with the names and signatures of 1.x."""

from tapeflow.api.namespaces import namespace as _namespace

__getattr__, __dir__, __all__ = _namespace(
    __name__, experimental="tapeflow.nn.experimental", rnn_cell="tapeflow.compat.v1.rnn_cell",
)  # fmt: skip
