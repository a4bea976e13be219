"""tf.compat.v1.saved_model.loader."""

from tapeflow.saved_model.loader import load, maybe_saved_model_directory

__all__ = ["load", "maybe_saved_model_directory"]
