"""`tf.summary.experimental`."""

from tapeflow.summary.writing import get_step, set_step, summary_scope, write_raw_pb

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]
