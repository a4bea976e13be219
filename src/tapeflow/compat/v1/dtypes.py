"""tf.compat.v1.dtypes: as `tf.dtypes`, and the conversion to text."""

from tapeflow.dtypes import *  # noqa: F403
from tapeflow.dtypes import __all__ as _names
from tapeflow.ops.string.numbers import as_string

__all__ = [*_names, "as_string"]
