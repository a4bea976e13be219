"""`tf.compat`: the names of TensorFlow 1.x, and text for both Pythons."""

from tapeflow.compat import v1
from tapeflow.compat.text import as_bytes, as_str, as_str_any, as_text, path_to_str

__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str", "v1"]
