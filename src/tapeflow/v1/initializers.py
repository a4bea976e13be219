"""`tf.initializers` (1.x): first values of variables, drawn by operations with TensorFlow's seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.convert import convert_to_tensor, is_symbolic_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build.variable_initializers import (
    global_variables_initializer as global_variables,  # noqa: F401
)
from tapeflow.graph.build.variable_initializers import (
    local_variables_initializer as local_variables,  # noqa: F401
)
from tapeflow.graph.build.variable_initializers import variables_initializer as variables  # noqa: F401
from tapeflow.ops.array import construction
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.indexing.slicing import slice_
from tapeflow.ops.linalg.decomposition import qr
from tapeflow.ops.lookup.tables import tables_initializer  # noqa: F401
from tapeflow.ops.math.elementwise import sign
from tapeflow.ops.random import functions


def _sizes(shape: ShapeLike) -> Any:
    """The sizes as a list; a tensor where some are known when the graph runs."""
    parts = shape if isinstance(shape, (list, tuple)) else [shape]
    if any(is_symbolic_tensor(part) for part in parts):
        return convert_to_tensor(shape, dtypes.int32)
    return TensorShape(shape).as_list()


# The standard deviation of a standard normal cut off at two.
_TRUNCATED_STDDEV = 0.87962566103423978


class Initializer:
    """A function of shape and dtype; the dtype given to the constructor holds where none is."""

    dtype = dtypes.float32

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info=None):
        dtype = dtypes.as_dtype(self.dtype if dtype is None else dtype)
        sizes = _sizes(shape)
        return self._make_part(sizes, dtype, partition_info.full_shape if partition_info else sizes)

    def _make_part(self, sizes: Sequence[int], dtype: DType, whole: Sequence[int]):
        """A part of a variable of which the sizes are `whole`."""
        return self._make(sizes, dtype)

    def _make(self, sizes, dtype: DType):
        raise TypeError(f"{type(self).__name__} does not say how it makes values")

    def get_config(self):
        """The constructor's arguments."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """An initializer from the constructor's arguments."""
        return cls(**config)


@api(v1="zeros_initializer")
class zeros_initializer(Initializer):
    """All zeros."""

    def __init__(self, dtype: DTypeLike = dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def _make(self, sizes: Sequence[int], dtype: DType):
        return construction.zeros(sizes, dtype)


@api(v1="ones_initializer")
class ones_initializer(zeros_initializer):
    """All ones."""

    def _make(self, sizes: Sequence[int], dtype: DType):
        return construction.ones(sizes, dtype)


@api(v1="constant_initializer")
class constant_initializer(Initializer):
    """A number everywhere, or the given values in the given shape."""

    def __init__(self, value: float = 0, dtype: DTypeLike = dtypes.float32, verify_shape: bool = False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected Python scalar, list "
                "or tuple of values, or numpy.ndarray."
            )
        self.value, self.dtype, self._verify = value, dtypes.as_dtype(dtype), verify_shape

    def _make(self, sizes: Sequence[int], dtype: DType):
        value = np.asarray(self.value, dtype.as_numpy_dtype)
        if not value.ndim and not isinstance(sizes, list):
            return construction.fill(sizes, value)
        if self._verify and list(value.shape) != sizes:
            raise TypeError(f"Expected Tensor's shape: {tuple(sizes)}, got {value.shape}.")
        if value.ndim and value.size > math.prod(sizes):
            raise ValueError(
                f"Too many elements provided. Needed at most {math.prod(sizes)}, but received "
                f"{value.size}"
            )
        if value.ndim and value.size != math.prod(sizes):
            # As 1.x does, the last value fills what is left.
            fill = np.full(math.prod(sizes) - value.size, value.flat[-1], value.dtype)
            value = np.concatenate([value.ravel(), fill])
        value = value.reshape(sizes) if value.ndim else np.full(sizes, value)
        return convert_to_tensor(value, dtype)


@api(v1="random_uniform_initializer")
class random_uniform_initializer(Initializer):
    """Uniform on [minval, maxval)."""

    def __init__(
        self, minval: float = 0.0, maxval: float | None = None, seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.minval, self.maxval, self.seed = minval, maxval, seed
        self.dtype = dtypes.as_dtype(dtype)

    def _make(self, sizes: Sequence[int], dtype: DType):
        maxval = self.maxval
        if maxval is None and dtype.is_floating:
            maxval = 1.0
        return functions.uniform(sizes, self.minval, maxval, dtype, self.seed)


@api(v1="random_normal_initializer")
class random_normal_initializer(Initializer):
    """Normal."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ):
        self.mean, self.stddev, self.seed = mean, stddev, seed
        self.dtype = _floating(dtype)

    def _make(self, sizes: Sequence[int], dtype: DType):
        return functions.normal(sizes, self.mean, self.stddev, dtype, self.seed)


@api(v1="truncated_normal_initializer")
class truncated_normal_initializer(random_normal_initializer):
    """Normal; values more than two standard deviations from the mean are drawn again."""

    def _make(self, sizes: Sequence[int], dtype: DType):
        return functions.truncated_normal(sizes, self.mean, self.stddev, dtype, self.seed)


@api(v1="uniform_unit_scaling_initializer")
class uniform_unit_scaling_initializer(Initializer):
    """Uniform with variance factor^2 / (number of inputs)."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        self.factor, self.seed, self.dtype = factor, seed, _floating(dtype)

    def _make(self, sizes, dtype: DType):
        inputs = max(math.prod(sizes[:-1]), 1.0)
        limit = math.sqrt(3 / inputs) * self.factor
        return functions.uniform(sizes, -limit, limit, dtype, self.seed)


@api(v1="variance_scaling_initializer")
class variance_scaling_initializer(Initializer):
    """Random values whose variance is scale / (number of inputs, outputs, or their mean)."""

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, dtype: DTypeLike = dtypes.float32,
    ):
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(
                "Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: "
                f"{mode}"
            )
        distribution = distribution.lower()
        if distribution not in {"normal", "uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(
                "Argument `distribution` should be one of ('normal', uniform', 'truncated_normal', "
                f"'untruncated_normal'). Received: {distribution}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution
        self.seed, self.dtype = seed, _floating(dtype)

    def _make_part(self, sizes: Sequence[int], dtype: DType, whole: Sequence[int]):
        field = math.prod(whole[:-2])
        if len(whole) < 2:
            fan_in = fan_out = whole[0] if whole else 1
        else:
            fan_in, fan_out = whole[-2] * field, whole[-1] * field
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return functions.uniform(sizes, -limit, limit, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return functions.normal(sizes, 0.0, math.sqrt(variance), dtype, self.seed)
        stddev = math.sqrt(variance) / _TRUNCATED_STDDEV
        return functions.truncated_normal(sizes, 0.0, stddev, dtype, self.seed)


@api(v1="glorot_uniform_initializer")
class glorot_uniform_initializer(variance_scaling_initializer):
    """Uniform with variance 2 / (inputs + outputs)."""

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self):
        return {"seed": self.seed, "dtype": self.dtype.name}


@api(v1="glorot_normal_initializer")
class glorot_normal_initializer(glorot_uniform_initializer):
    """Truncated normal with variance 2 / (inputs + outputs)."""

    def __init__(self, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        super().__init__(seed, dtype)
        self.distribution = "truncated_normal"


@api(v1="orthogonal_initializer")
class orthogonal_initializer(Initializer):
    """A matrix with orthonormal rows or columns, times gain."""

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32):
        self.gain, self.seed, self.dtype = gain, seed, _floating(dtype)

    def _make(self, sizes, dtype: DType):
        if len(sizes) < 2:
            raise ValueError(
                f"The tensor to initialize, specified by argument `shape` must be at least "
                f"two-dimensional. Received shape={sizes}"
            )
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        q, r = qr(
            functions.normal([max(rows, columns), min(rows, columns)], dtype=dtype, seed=self.seed)
        )
        # The signs make the distribution uniform over orthogonal matrices (Mezzadri 2006).
        q = q * sign(diag_part(r))
        return self.gain * reshape(transpose(q) if rows < columns else q, sizes)


class identity(Initializer):
    """The identity matrix, times gain."""

    def __init__(self, gain: float = 1.0, dtype: DTypeLike = dtypes.float32):
        self.gain, self.dtype = gain, _floating(dtype)

    def __call__(self, shape: ShapeLike, dtype: DTypeLike | None = None, partition_info=None):
        matrix = super().__call__(shape, dtype, partition_info)
        if partition_info is None:
            return matrix
        return slice_(matrix, partition_info.var_offset, _sizes(shape))

    def _make_part(self, sizes, dtype, whole):
        if len(whole) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices. Received: "
                f"shape={whole}"
            )
        return self.gain * eye(*whole, dtype=dtype)


def _floating(dtype: DTypeLike):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
    return dtype


def he_normal(seed: int | None = None):
    """Truncated normal with variance 2 / inputs."""
    return variance_scaling_initializer(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None):
    """Uniform with variance 2 / inputs."""
    return variance_scaling_initializer(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None):
    """Truncated normal with variance 1 / inputs."""
    return variance_scaling_initializer(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None):
    """Uniform with variance 1 / inputs."""
    return variance_scaling_initializer(1.0, "fan_in", "uniform", seed)


constant = constant_initializer
ones = ones_initializer
zeros = zeros_initializer
truncated_normal = truncated_normal_initializer
random_uniform = random_uniform_initializer
random_normal = random_normal_initializer
uniform_unit_scaling = uniform_unit_scaling_initializer
variance_scaling = variance_scaling_initializer
glorot_uniform = glorot_uniform_initializer
glorot_normal = glorot_normal_initializer
orthogonal = orthogonal_initializer


boundaries(globals())
