"""One call of a row under `jax.numpy`: what `jax.jit` traces, row by row.

An input is known (a NumPy array: its value is there while compiling) or traced. What a row's shape rule reads
the value of, and what the row declares as `static`, has to be known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, OpError, UnimplementedError
from tapeflow.ops import shape_inference
from tapeflow.xla.importing import jax, jnp


class Watched:
    """An input as shape rules see it, which remembers that its value was asked for."""

    __slots__ = ("array", "asked", "dtype", "shape_tuple")

    def __init__(self, array: Any, dtype: DType):
        self.array = array
        self.dtype = dtype
        self.shape_tuple = tuple(array.shape)
        self.asked = False

    def constant_value(self) -> np.ndarray | None:
        self.asked = True
        return self.array if isinstance(self.array, np.ndarray) else None

    @property
    def handle_shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)


def dtype_of(array: Any) -> DType:
    if isinstance(array, np.ndarray) and array.dtype.kind in "OSU":
        return dtypes.string
    return dtypes.as_dtype(array.dtype)


def cannot(row: Any, reason: str) -> UnimplementedError:
    return UnimplementedError(None, None, f"{row.name} cannot be compiled: {reason}")


def run(
    row: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], list_sizes: Sequence[int] = ()
) -> list[Any]:
    """The outputs of a call, flat.

    Args:
      inputs: flat; NumPy arrays (known), JAX's (traced), or what stands for a variable.

    Raises:
      UnimplementedError: the row cannot be compiled, or not without knowing an input that is traced.
    """
    if row.not_compiled:
        raise cannot(row, row.not_compiled)
    schema = row.schema
    attrs = schema.filled(attrs)
    kinds = [dtypes.resource if is_variable(x) else dtype_of(x) for x in inputs]
    if dtypes.string in kinds:
        raise cannot(row, "it takes strings")
    if any(kind.is_quantized for kind in kinds):
        raise cannot(row, "it takes quantized numbers")
    wanted = schema.output_dtypes(kinds, attrs, list_sizes)
    if dtypes.string in wanted:
        raise cannot(row, "it returns strings")
    if any(kind.is_quantized for kind in wanted):
        raise cannot(row, "it returns quantized numbers")
    watched = [Watched(x, kind) for x, kind in zip(inputs, kinds, strict=True)]
    shape_inference.infer(row, watched, attrs, list_sizes)
    labels = schema.flat_names(list_sizes)
    given = []
    for x, seen, name in zip(inputs, watched, labels, strict=True):
        static = seen.asked or name in row.static
        if is_variable(x):
            given.append(x)
        elif static and not isinstance(x, np.ndarray):
            raise cannot(row, f"the value of its input `{name}` has to be known when it is compiled")
        else:
            given.append(x if static else jnp.asarray(x))
    kernel = row.compiled_kernel or row.kernel
    try:
        result = kernel(jnp, *schema.grouped(given, list_sizes), **attrs)
    except OpError:
        raise
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
        raise cannot(row, f"its result depends on values ({type(error).__name__})") from error
    except TypeError as error:
        if "JAX arrays are immutable" not in str(error):
            raise
        raise cannot(row, "its kernel writes into arrays") from error
    outputs = flat(result)
    if len(outputs) != len(wanted):
        raise InvalidArgumentError(
            None, None, f"{row.name} has {len(wanted)} outputs, its kernel gave {len(outputs)}"
        )
    return [jnp.asarray(x, t.as_numpy_dtype) for x, t in zip(outputs, wanted, strict=True)]


def is_variable(x: TensorLike) -> bool:
    return hasattr(x, "assign")


def flat(result: Any) -> list[Any]:
    if result is None:
        return []
    if isinstance(result, (list, tuple)):
        return [leaf for element in result for leaf in flat(element)]
    return [result]
