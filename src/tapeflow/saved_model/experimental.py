"""`tf.saved_model.experimental`."""

from tapeflow.saved_model.fingerprint import Fingerprint, read_fingerprint
from tapeflow.saved_model.options import VariablePolicy
from tapeflow.saved_model.resources import TrackableResource

__all__ = ["Fingerprint", "TrackableResource", "VariablePolicy", "read_fingerprint"]
