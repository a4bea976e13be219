"""`tf.contrib.nccl`: values of several devices combined, and one value given to all."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor

__all__ = ["all_max", "all_min", "all_prod", "all_sum", "broadcast", "reduce_sum"]


def _checked(tensors: Sequence[Tensor], what: str) -> list[Tensor]:
    if not tensors:
        raise ValueError(f"Must pass >0 tensors to {what} operations")
    for tensor in tensors:
        _device_of(tensor)
    return list(tensors)


def _device_of(tensor: Tensor) -> str:
    if not tensor.device:
        raise ValueError(f"Device assignment for tensor={tensor.name} required for nccl collective ops")
    return tensor.device


def _for_all(combine: Callable[..., Tensor], tensors: Sequence[Tensor]) -> list[Tensor]:
    """What a function makes of the tensors, on the device of each."""
    found = _checked(tensors, "all reduce")
    with v1.device(_device_of(found[0])):
        result = combine(found)
    outputs = []
    for tensor in found:
        with v1.device(_device_of(tensor)):
            outputs.append(v1.identity(result))
    return outputs


def _pairwise(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return functools.partial(functools.reduce, function)


def all_sum(tensors: Sequence[Tensor]):
    """The sum of tensors of equal shapes, once on the device of each. Raises ValueError for a tensor without one."""
    return _for_all(v1.add_n, tensors)


def all_prod(tensors: Sequence[Tensor]):
    """The product of tensors of equal shapes; see `all_sum`."""
    return _for_all(_pairwise(v1.multiply), tensors)


def all_min(tensors: Sequence[Tensor]):
    """The minimum of tensors of equal shapes; see `all_sum`."""
    return _for_all(_pairwise(v1.minimum), tensors)


def all_max(tensors: Sequence[Tensor]):
    """The maximum of tensors of equal shapes; see `all_sum`."""
    return _for_all(_pairwise(v1.maximum), tensors)


def reduce_sum(tensors: Sequence[Tensor]) -> Any:
    """The sum of tensors of equal shapes, on the device that is current. Raises ValueError for one without a device."""
    return v1.add_n(_checked(tensors, "reduce"))


def broadcast(tensor: Tensor):
    """The tensor, for operations on other devices to read. Raises ValueError where it has no device."""
    with v1.device(_device_of(tensor)):
        return v1.identity(tensor)
