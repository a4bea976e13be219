"""Files that the loader in `native/deploy` runs: a StableHLO module, and what it takes and gives.

`native/deploy/program.c` says what is where in a file, and checks it.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.public import public
from tapeflow.export.names import result_names
from tapeflow.export.stablehlo import stablehlo

__all__ = ["save"]

MAGIC, VERSION = b"TAPEFLOW", 1


@public
def save(function, path, *args, **kwargs):
    """Write a function as a file for programs without Python, which run it through a PJRT plugin.

    The values that variables have now are constants of the model.

    Args:
      function: a `tf.function` or a concrete function. Every input has a known shape and is no string.
      path: the file to write.
      *args, **kwargs: what a `tf.function` is traced with: tensors or `tf.TensorSpec`s.

    Returns:
      The path, as a string.

    Raises:
      ValueError: an input has no known shape, or the function assigns a variable.
      UnimplementedError: jax is missing, or an operation cannot be compiled.
    """
    traced = hasattr(function, "get_concrete_function")
    concrete = function.get_concrete_function(*args, **kwargs) if traced else function
    exported = stablehlo(concrete)
    names = [x.op.name for x in concrete.inputs[: len(exported.in_avals)]]
    content = b"".join([
        struct.pack("<II", len(exported.in_avals), len(exported.out_avals)),
        *map(_spec, names, exported.in_avals),
        *map(_spec, result_names(concrete, len(exported.out_avals)), exported.out_avals),
        struct.pack("<Q", len(exported.mlir_module_serialized)), exported.mlir_module_serialized,
    ])  # fmt: skip
    target = Path(os.fspath(path))
    target.write_bytes(MAGIC + struct.pack("<II", VERSION, zlib.crc32(content)) + content)
    return str(target)


def _spec(name: str, aval: Any) -> bytes:
    """An input or output: dtype, shape and name."""
    text = name.encode()
    number = dtypes.as_dtype(aval.dtype).as_datatype_enum
    shape = struct.pack(f"<{len(aval.shape)}q", *aval.shape)
    return struct.pack("<II", number, len(aval.shape)) + shape + struct.pack("<I", len(text)) + text
