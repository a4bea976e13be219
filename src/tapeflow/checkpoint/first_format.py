"""Checkpoints of version 1, read: sorted tables that hold the values themselves, as messages, in files of any number.

The entry of the empty key says which tensors there are, and in which parts; the others hold a part each.
"""

from __future__ import annotations

import glob
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from tapeflow import protos
from tapeflow.checkpoint import slices
from tapeflow.checkpoint.bundle import BundleReader, index_path
from tapeflow.checkpoint.table import read_table
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tapeflow.core.files import tensor_proto
from tapeflow.core.files.paths import local_path
from tapeflow.core.tensor_shape import TensorShape

Extents = Sequence[tuple[int, int] | None]


Reader: TypeAlias = "BundleReader | FirstReader"


def files_of_version_1(prefix: str) -> list[str]:
    """The files of a checkpoint of version 1: one of this name, or those that a pattern with `?` or `*` names."""
    if os.path.isfile(prefix):
        return [prefix]
    return sorted(path for path in glob.glob(prefix) if os.path.isfile(path)) if {"?", "*"} & {*prefix} else []


def reader_of(prefix: Any) -> Reader:
    """What reads a checkpoint, whatever its version. Raises NotFoundError where there is none."""
    name = local_path(prefix)
    if not os.path.exists(index_path(name)):
        files = files_of_version_1(name)
        if files:
            return FirstReader(name, files)
    return BundleReader(name)


class FirstReader:
    """A checkpoint of version 1 that is read: names, shapes, dtypes and values.

    Args:
      prefix: its name.
      files: its files.

    Raises DataLossError where it is damaged, or something else.
    """

    def __init__(self, prefix: str, files: Sequence[str]):
        self.prefix = prefix
        self._parts: dict[bytes, bytes] = {}
        self._tensors: dict[str, tuple[DType, list[int], list[Extents]]] = {}
        for path in files:
            self._take(path)

    def _take(self, path: str) -> None:
        with open(path, "rb") as file:
            content = file.read()
        try:
            table = read_table(content, path)
        except DataLossError as error:
            raise DataLossError(
                None, None,
                f"{error.message}: perhaps your file is in a different file format and you need to use a different "
                "restore operator?",
            ) from None  # fmt: skip
        if b"" not in table:
            raise self._damaged("it has no header")
        header = self._message(table.pop(b""))
        if not header.HasField("meta"):  # as the index of a newer checkpoint, which is a table too
            raise self._damaged("its header does not list tensors")
        for found in header.meta.tensor:
            name, sizes = found.name, [dim.size for dim in found.shape.dim]
            try:
                dtype = as_dtype(found.type)
            except TypeError:
                raise self._damaged(f"tensor {name}: dtype {found.type} is unknown") from None
            if any(size < 0 for size in sizes) or len(sizes) > 254:
                raise self._damaged(f"tensor {name}: its shape is {sizes}")
            known = self._tensors.setdefault(name, (dtype, sizes, []))
            if known[:2] != (dtype, sizes):
                raise self._damaged(f"tensor {name}: its parts disagree about its dtype or shape")
            known[2].extend(map(slices.of_message, found.slice))
        self._parts |= table

    def _message(self, data: bytes) -> Any:
        from google.protobuf.message import DecodeError

        try:
            return protos.SavedTensorSlices.FromString(data)
        except DecodeError as error:
            raise self._damaged(str(error)) from None

    def _damaged(self, what: str) -> DataLossError:
        return DataLossError(None, None, f"The checkpoint {self.prefix} is damaged: {what}")

    def keys(self) -> list[str]:
        """The names of all tensors."""
        return sorted(self._tensors)

    def __contains__(self, key: str) -> bool:
        return key in self._tensors

    def _tensor(self, key: str) -> tuple[DType, list[int], list[Extents]]:
        if key not in self._tensors:
            raise NotFoundError(None, None, f"Key {key} not found in checkpoint {self.prefix}")
        return self._tensors[key]

    def dtype(self, key: str) -> DType:
        """The dtype of a tensor."""
        return self._tensor(key)[0]

    def shape(self, key: str) -> TensorShape:
        """The shape of a tensor."""
        return TensorShape(self._tensor(key)[1])

    def read_tensor(self, key: str) -> Any:
        """None: values are in messages, of which `read` makes arrays."""
        self._tensor(key)

    def read(self, key: str) -> np.ndarray:
        """The value of a tensor, as an array; strings as objects of bytes."""
        sizes = self._tensor(key)[1]
        return self.read_slice(key, sizes, [None] * len(sizes))

    def read_slice(self, key: str, shape: Sequence[int], extents: Extents) -> np.ndarray:
        """A slice of a tensor, put together of its parts.

        Raises InvalidArgumentError for a tensor of another shape, DataLossError where a part is missing.
        """
        dtype, sizes, parts = self._tensor(key)
        if list(shape) != sizes:
            raise InvalidArgumentError(
                None, None,
                f"Shape in shape_and_slice spec {list(shape)} does not match the shape stored in checkpoint: {sizes}",
            )  # fmt: skip
        arrays = list(self._arrays(key, dtype, sizes, parts))  # all of it is there before memory is taken
        if math.prod(sizes) > sum(array.size for _, array in arrays):
            raise self._damaged(f"tensor {key}: its parts do not make a tensor of shape {sizes}")
        kind = np.dtype(object if dtype == dtypes.string else dtype.as_numpy_dtype)
        try:
            return slices.joined(sizes, kind, arrays, slices.indices(extents))
        except ValueError as error:
            raise self._damaged(f"tensor {key}: {error}") from None

    def _arrays(
        self, key: str, dtype: DType, sizes: Sequence[int], parts: Sequence[Extents]
    ) -> Iterator[tuple[Extents, np.ndarray]]:
        for part in parts:
            raw = self._parts.get(slices.key(key, part))
            if raw is None or len(part) != len(sizes):
                raise self._damaged(f"tensor {key}: its part {part} is missing")
            yield part, self._array(key, dtype, slices.lengths(sizes, part), self._message(raw).data.data)

    def _array(self, key: str, dtype: DType, sizes: Sequence[int], data: Any) -> np.ndarray:
        """The array of a message, which says neither dtype nor shape, and has all values one by one."""
        count = max((len(value) for field, value in data.ListFields() if field.name.endswith("_val")), default=0)
        if min(sizes, default=0) < 0 or count != math.prod(sizes) * (2 if dtype.is_complex else 1):
            raise self._damaged(f"tensor {key}: {count} numbers are no {dtype.name} tensor of shape {list(sizes)}")
        data.dtype = dtype.as_datatype_enum
        data.ClearField("tensor_shape")
        data.tensor_shape.dim.add(size=math.prod(sizes))
        try:
            return np.asarray(tensor_proto.make_ndarray(data)).reshape(sizes)
        except (TypeError, ValueError) as error:
            raise self._damaged(f"tensor {key}: {error}") from None
