"""`tf.train.experimental`."""

from tapeflow.train.trackable import PythonState

__all__ = ["PythonState"]
