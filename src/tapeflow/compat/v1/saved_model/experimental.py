"""tf.compat.v1.saved_model.experimental."""

from tapeflow.saved_model.options import VariablePolicy
from tapeflow.saved_model.resources import TrackableResource
from tapeflow.saved_model.saving import save

__all__ = ["TrackableResource", "VariablePolicy", "save"]
