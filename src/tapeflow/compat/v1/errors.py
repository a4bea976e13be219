"""tf.compat.v1.errors: `tf.errors`, and the functions between codes and classes."""

from tapeflow.core.errors import (
    error_code_from_exception_type,
    exception_type_from_error_code,
)
from tapeflow.errors import *  # noqa: F403
from tapeflow.errors import __all__ as _names

__all__ = [*_names, "error_code_from_exception_type", "exception_type_from_error_code"]
