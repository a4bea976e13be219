"""`tf.compat`: the names of TensorFlow 1.x, and text and numbers of Python's and NumPy's own types."""

import numbers

import numpy as np

from tapeflow.compat import v1, v2
from tapeflow.compat.horizon import forward_compatibility_horizon, forward_compatible
from tapeflow.compat.text import as_bytes, as_str, as_str_any, as_text, path_to_str
from tapeflow.core.tensor_shape import dimension_at_index, dimension_value

bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
    "v2",
]
