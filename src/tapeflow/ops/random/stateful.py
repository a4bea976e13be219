"""The ops by which TensorFlow 2.0 drew numbers from the state of a generator, in a variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import NotFoundError
from tapeflow.ops import shapes
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import FLOATS, integer_limits, sizes_of_shape
from tapeflow.ops.random.stateless import Algorithm
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import INDEX, op
from tapeflow.ops.validate import invalid, shape_text

_MASK64 = (1 << 64) - 1
_SHAPES = {"shape_dtype": Preferring(INDEX[::-1])}


def advance(resource, algorithm, count: int) -> philox.Philox:
    """The generator in its present state, which moves on by as much as `count` numbers take.

    For kernels of rows, during which the variable `resource` is locked.
    """
    if np.ndim(algorithm):
        raise invalid(f"algorithm must be of shape [], not {shape_text(np.shape(algorithm))}")
    if int(algorithm) not in (Algorithm.PHILOX.value, Algorithm.AUTO_SELECT.value):
        raise invalid(f"Unsupported algorithm id: {int(algorithm)}")
    if not hasattr(resource, "assign"):
        raise NotFoundError(None, None, "The variable with the state of the generator does not exist.")
    state = np.asarray(resource.numpy())
    if state.dtype != np.int64:
        raise invalid(f"dtype of RNG state variable must be int64, not {state.dtype}")
    if state.ndim != 1:
        raise invalid(f"RNG state must have one and only one dimension, not {state.ndim}")
    if state.size < 3:
        raise invalid(
            f"For the Philox algorithm, the size of state must be at least 3; got {state.size}"
        )
    low, high, key = (int(x) & _MASK64 for x in state[:3])
    g = philox.Philox(key, low, high)
    moved = g.skip(count * 256)
    after = np.array([moved.low, moved.high, key], np.uint64).view(np.int64)
    resource.assign(np.concatenate([after, state[3:]]))
    return g


@op(
    "RngSkip",
    "resource: resource, algorithm: int64, delta: int64 -> ",
    shape=lambda call: [],
)
def RngSkip(xp: ModuleType, resource: Array, algorithm: Array, delta: Array):
    if np.ndim(delta):
        raise invalid(f"delta must be of shape [], not {shape_text(np.shape(delta))}")
    advance(resource, algorithm, int(delta))
    return ()


def _row(name: str, kinds: Sequence[DType], default: DType, fill: Callable[..., Any]):
    @op(
        name,
        "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
        types=_SHAPES,
        attrs={"dtype": dtype(default)},
        shape=shapes.given(2),
    )
    def row(xp: ModuleType, resource: Array, algorithm: Array, shape: Array, dtype: DType):
        if dtype not in kinds:
            raise invalid(f"{name} has no numbers of dtype {dtype.name}")
        sizes = sizes_of_shape(shape)
        count = math.prod(sizes)
        g = advance(resource, algorithm, count)
        return fill(g, count, np.dtype(dtype.as_numpy_dtype)).reshape(sizes)

    row.gradient(None)
    row.compiled(never="its state is read and written while it runs")
    return row


_WHOLE = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)
StatefulStandardNormalV2 = _row("StatefulStandardNormalV2", FLOATS, dtypes.float32, philox.normal)
StatefulTruncatedNormal = _row("StatefulTruncatedNormal", FLOATS, dtypes.float32, philox.truncated_normal)
StatefulUniform = _row("StatefulUniform", FLOATS, dtypes.float32, philox.uniform)
StatefulUniformFullInt = _row("StatefulUniformFullInt", _WHOLE, dtypes.uint64, philox.integers)


@op(
    "StatefulUniformInt",
    "resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype",
    types={**_SHAPES, "dtype": Preferring((dtypes.int64, dtypes.int32, dtypes.uint32, dtypes.uint64))},
    shape=shapes.given(2),
)
def StatefulUniformInt(
    xp: ModuleType, resource: Array, algorithm: Array, shape: Array, minval: Array, maxval: Array
):
    sizes = sizes_of_shape(shape)
    count = math.prod(sizes)
    low, span = integer_limits(minval, maxval, count)
    if not count:
        return np.zeros(sizes, minval.dtype)
    g = advance(resource, algorithm, count)
    return philox.integers(g, count, minval.dtype, low, span).reshape(sizes)


StatefulUniformInt.gradient(None)
StatefulUniformInt.compiled(never="its state is read and written while it runs")
