"""tf.compat.v1.saved_model.builder."""

from tapeflow.saved_model.builder import SavedModelBuilder

__all__ = ["SavedModelBuilder"]
