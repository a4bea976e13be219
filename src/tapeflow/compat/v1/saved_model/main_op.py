"""tf.compat.v1.saved_model.main_op."""

from tapeflow.saved_model.loader import default_main_op as main_op
from tapeflow.saved_model.loader import main_op_with_restore

__all__ = ["main_op", "main_op_with_restore"]
