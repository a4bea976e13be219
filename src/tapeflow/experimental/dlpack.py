"""tf.experimental.dlpack: tensors to and from other libraries."""

from typing import Any

import tapeflow._native as _native
from tapeflow.core.binding import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError


def to_dlpack(tf_tensor: Any) -> Any:
    """A DLPack capsule over the memory of a tensor.

    Raises InvalidArgumentError for what is no tensor, and for dtypes that DLPack does not have.
    """
    if not isinstance(tf_tensor, Tensor):
        raise InvalidArgumentError(
            None, None, "The argument to `to_dlpack` must be a TF tensor, not Python object"
        )
    exporting: Any = tf_tensor
    try:
        return exporting.__dlpack__()
    except BufferError:
        name = tf_tensor.dtype.name.upper()
        raise InvalidArgumentError(None, None, f"DT_{name} is not supported by dlpack") from None


def from_dlpack(dlcapsule: Any) -> Any:
    """The tensor of a DLPack capsule, or of an object that has one.

    Raises InvalidArgumentError for a capsule that was consumed before, or holds something else.
    """
    if hasattr(dlcapsule, "__dlpack__"):
        return convert_to_tensor(dlcapsule)
    try:
        return _native.from_dlpack(dlcapsule)
    except ValueError as error:
        raise InvalidArgumentError(None, None, str(error)) from None


__all__ = ["from_dlpack", "to_dlpack"]
