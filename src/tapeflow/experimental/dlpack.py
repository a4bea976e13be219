"""tf.experimental.dlpack: tensors to and from other libraries."""

from typing import Any

from tapeflow.core.convert import convert_to_tensor


def to_dlpack(tf_tensor: Any) -> Any:
    """A DLPack capsule over the memory of a tensor."""
    return tf_tensor.__dlpack__()


class _Capsule:
    """What NumPy asks for in place of a bare capsule: an object on the host that gives it."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **_options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(dlcapsule: Any) -> Any:
    """The tensor of a DLPack capsule, or of an object that has one."""
    source = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    return convert_to_tensor(source)


__all__ = ["from_dlpack", "to_dlpack"]
