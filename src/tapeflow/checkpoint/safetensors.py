"""Tensors in the files of the safetensors library, and the variables of objects in them.

A file is the length of its header (8 bytes), the header as JSON, and the bytes of all tensors one behind the other:
https://github.com/huggingface/safetensors#format. Nothing in a file is ever run.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow.checkpoint.object_graph import Walk
from tapeflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replacing
from tapeflow.core.public import public
from tapeflow.ops.state.variable import Variable

_LARGEST_HEADER = 100_000_000  # as the library has it
_DTYPES: dict[str, Any] = {
    "BOOL": np.bool_, "U8": np.uint8, "I8": np.int8, "U16": np.uint16, "I16": np.int16, "U32": np.uint32,
    "I32": np.int32, "U64": np.uint64, "I64": np.int64, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
    "F32": np.float32, "F64": np.float64, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
    "C64": np.complex64,
}  # fmt: skip
_NAMES = {np.dtype(kind): name for name, kind in _DTYPES.items()}
_METADATA = "__metadata__"


@public
def save_file(tensors: dict[str, Any], filename, metadata: dict[str, Any] | None = None):
    """Writes tensors or arrays by name to a file, which is there whole or not at all.

    Args:
      metadata: strings by name.

    Raises InvalidArgumentError for a tensor of strings or another dtype that the format does not have, TypeError for
    metadata that are no strings.
    """
    header: dict[str, Any] = {}
    if metadata is not None:
        if not all(isinstance(x, str) for pair in metadata.items() for x in pair):
            raise TypeError(f"The metadata of a safetensors file are strings, not {metadata}")
        header[_METADATA] = dict(metadata)
    arrays = {name: _array(name, value) for name, value in tensors.items()}
    # The library wants the largest elements first, so that all are aligned.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    offset = 0
    for name in order:
        array = arrays[name]
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = local_path(filename)
    with replacing(path, synced=True) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in order:
            if arrays[name].size:
                file.write(arrays[name].reshape(-1).view(np.uint8).data)


def _array(name: str, value: Any) -> np.ndarray:
    if not isinstance(name, str) or name == _METADATA:
        raise InvalidArgumentError(None, None, f"A tensor of a safetensors file cannot be called {name!r}")
    array = np.ascontiguousarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype not in _NAMES:
        raise InvalidArgumentError(
            None, None, f"Tensor {name!r} has dtype {array.dtype}, which safetensors files cannot hold"
        )
    # NumPy makes a vector of what is contiguous and has no axes.
    return array.reshape(np.shape(value.numpy() if hasattr(value, "numpy") else value))


@public
def load_file(filename):
    """The tensors of a file as arrays, by name.

    Raises NotFoundError for no file, DataLossError for one that is damaged or cut off.
    """
    return read(filename)[0]


def read(filename: Any) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors and the metadata of a file; errors as `load_file`."""
    path = local_path(filename)
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = (
                memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
                if size
                else memoryview(b"")
            )
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{path}; No such file or directory") from None
    try:
        return _parsed(data)
    except (ValueError, RecursionError, UnicodeDecodeError) as error:
        raise DataLossError(None, None, f"{path} is no sound safetensors file: {error}") from None


def _parsed(data: memoryview) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    if len(data) < 8:
        raise ValueError("it has no header")
    length = int.from_bytes(data[:8], "little")
    if length > _LARGEST_HEADER or length > len(data) - 8:
        raise ValueError(f"its header is said to have {length} bytes")
    header = json.loads(bytes(data[8 : 8 + length]).decode(), object_pairs_hook=_once)
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    body = data[8 + length :]
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError("its metadata are no strings")
    found, used = {}, []
    for name, entry in header.items():
        start, end, kind, shape = _entry(name, entry, len(body))
        used.append((start, end))
        found[name] = np.frombuffer(bytearray(body[start:end]), kind).reshape(shape)
    at = 0
    for start, end in sorted(used):
        if start != at:
            raise ValueError(f"its tensors overlap or leave a gap at {min(start, at)}")
        at = end
    if at != len(body):
        raise ValueError(f"its tensors take {at} bytes, and it has {len(body)}")
    return found, metadata


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("its header has a name twice")
    return found


def _entry(name: str, entry: Any, size: int) -> tuple[int, int, Any, tuple[int, ...]]:
    """Where a tensor is, its dtype and shape."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"tensor {name!r} is described as {entry}")
    kind, shape, offsets = _DTYPES.get(str(entry["dtype"])), entry["shape"], entry["data_offsets"]
    if kind is None:
        raise ValueError(f"tensor {name!r} has dtype {entry['dtype']}")
    if not _are_sizes(shape) or len(shape) > 64:
        raise ValueError(f"tensor {name!r} has shape {shape}")
    if not _are_sizes(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= size:
        raise ValueError(f"tensor {name!r} is at {offsets} of {size} bytes")
    count = np.dtype(kind).itemsize
    for n in shape:
        count *= n
    if count != offsets[1] - offsets[0]:
        raise ValueError(f"tensor {name!r} of shape {shape} has {offsets[1] - offsets[0]} bytes")
    return offsets[0], offsets[1], kind, tuple(shape)


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 62 for n in value
    )


# Objects.


@public
def save_model(obj, filename, metadata=None):
    """Write the variables that a model, a module or another object holds, named by the attributes that lead to them.

    Variables that are held twice are written once.

    Args:
      obj: the object.
      filename: the path of the file.
      metadata: a dict of strings that is kept in the file.
    """
    save_file(_variables(obj), filename, metadata)


@public
def load_model(obj, filename, strict: bool = True):
    """Set the variables of an object from a file; the names that only one of both has: (missing, unexpected).

    Raises ValueError for a variable of another shape, and with `strict` if there are such names; nothing is set then.

    Args:
      obj: the object.
      filename: the path of the file.
      strict: whether names that only one of both has are an error.
    """
    tensors = load_file(filename)
    variables = _variables(obj)
    missing = sorted(variables.keys() - tensors.keys())
    unexpected = sorted(tensors.keys() - variables.keys())
    if strict and (missing or unexpected):
        raise ValueError(f"The file has no {missing}, and the object no {unexpected}: {filename}")
    for name, variable in variables.items():
        if name in tensors and not variable.shape.is_compatible_with(tensors[name].shape):
            raise ValueError(
                f"Variable {name!r} has shape {variable.shape}, and in the file {tensors[name].shape}"
            )
    for name, variable in variables.items():
        if name in tensors:
            variable.assign(tensors[name].astype(variable.dtype.as_numpy_dtype, copy=False))
    return missing, unexpected


def _variables(obj: Any) -> Mapping[str, Variable]:
    """The variables of an object by name, "layer.kernel"."""
    walk = Walk(obj, with_slots=False)
    names = {0: ""}
    todo = [0]
    for number in todo:
        for name, child in walk.children[number]:
            if child not in names:
                names[child] = f"{names[number]}.{name}" if names[number] else name
                todo.append(child)
    return {
        names[n]: value for n, value in enumerate(walk.objects) if isinstance(value, Variable)
    }
