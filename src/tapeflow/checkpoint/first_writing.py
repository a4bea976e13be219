"""Checkpoints of version 1, written: one file, a sorted table of messages that hold the values."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.slices import Part
from tapeflow.checkpoint.table import write_table
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.errors import InternalError, InvalidArgumentError, UnimplementedError
from tapeflow.core.files import tensor_proto
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file

_VERSION = 1
_MOST_BYTES = (1 << 31) - 1  # of a message
# The format has a place for their values, but TensorFlow's reader does not know it.
_NOT_SAVED = (dtypes.bfloat16, dtypes.uint32, dtypes.uint64)


def write_first(path: str, tensors: Sequence[tuple[str, Any]]) -> None:
    """Write a checkpoint of version 1.

    Args:
      path: the file, which is replaced as a whole.
      tensors: names with arrays, or with a `Part` of one; a name may have several parts.

    Raises UnimplementedError for dtypes that the format does not have, InternalError for parts of one tensor that
    differ in its shape or dtype, InvalidArgumentError for values that are too large.
    """
    header = protos.SavedTensorSlices()
    header.meta.versions.producer = _VERSION
    known: dict[str, Any] = {}
    entries: dict[bytes, bytes] = {}
    for name, given in sorted(tensors, key=lambda pair: pair[0].encode()):
        part = given if isinstance(given, Part) else Part(given, np.shape(given), (None,) * np.ndim(given))
        array, dtype = _array(name, part.value)
        shape, extents = part.shape, part.extents
        if name not in known:
            known[name] = header.meta.tensor.add(name=name, type=dtype.as_datatype_enum)
            known[name].shape.SetInParent()
            for size in shape:
                known[name].shape.dim.add(size=size)
        _check(known[name], shape, dtype)
        known[name].slice.append(slices.message(extents))
        entries[slices.key(name, extents)] = _entry(name, extents, dtype, array)
    head = header.SerializeToString(deterministic=True)
    path = local_path(path)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    replace_file(path, write_table([(b"", head), *sorted(entries.items())]), synced=True)


def _array(name: str, value: Any) -> tuple[np.ndarray, DType]:
    array = slices.as_array(value)
    dtype = dtypes.string if array.dtype.kind in "OSU" else as_dtype(array.dtype)
    if dtype in _NOT_SAVED or dtype not in tensor_proto.FIELD or tensor_proto.FIELD[dtype] == "float8_val":
        raise UnimplementedError(None, None, f"Saving data type {dtype.name} not yet supported")
    if dtype == dtypes.string:
        items = [item.encode() if isinstance(item, str) else item for item in array.ravel().tolist()]
        if not all(isinstance(item, bytes) for item in items):
            raise InvalidArgumentError(None, None, f"A checkpoint holds numbers and strings, and {name!r} has others")
        array = np.array([*items, None], object)[:-1].reshape(array.shape)
    return array, dtype


def _check(known: Any, shape: Sequence[int], dtype: DType) -> None:
    """Raise InternalError where a part is of a tensor of another shape or dtype than those before."""
    sizes = [dim.size for dim in known.shape.dim]
    if sizes != list(shape):
        raise InternalError(
            None, None,
            f"Mismatching shapes: existing tensor = {sizes}, trying to add name {known.name}, shape = {list(shape)}",
        )  # fmt: skip
    if known.type != dtype.as_datatype_enum:
        raise InternalError(
            None, None,
            f"Mismatching types: existing type = {as_dtype(known.type).name}, trying to add name {known.name}, type = "
            f"{dtype.name}",
        )  # fmt: skip


def _entry(name: str, extents: Sequence[tuple[int, int] | None], dtype: DType, array: np.ndarray) -> bytes:
    made = protos.SavedTensorSlices()
    made.data.name = name
    made.data.slice.CopyFrom(slices.message(extents))
    made.data.data.SetInParent()
    if array.nbytes <= _MOST_BYTES:  # else it is not worth the time
        tensor_proto.put_elements(made.data.data, dtype, array)
    if array.nbytes > _MOST_BYTES or made.ByteSize() > _MOST_BYTES:
        raise InvalidArgumentError(
            None, None, f"Tensor slice is too large to serialize: {name!r} has {array.nbytes} bytes"
        )
    return made.SerializeToString(deterministic=True)
