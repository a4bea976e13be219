"""Categories by hash: of one feature, and of several together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.layers.preprocessing.base import (
    PreprocessingLayer,
    as_tensor,
    encode,
    encoded_shape,
)
from tapeflow.keras.layers.preprocessing.encoding import check_output_mode
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.ragged.cross import sparse_cross_hashed
from tapeflow.ops.string.hashing import to_hash_bucket_fast
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_strong
from tapeflow.ops.string.numbers import as_string


class Hashing(PreprocessingLayer):
    """Maps each value to one of `num_bins` categories, by its hash.

    Input shape: integers or strings of any shape, dense, sparse or ragged.
    Output shape: that of the inputs for "int"; vectors of `num_bins` numbers otherwise.

    Args:
      num_bins: the number of categories, above 0.
      mask_value: a value that always gets category 0; None for none.
      salt: one or two integers that change the hash, to SipHash instead of FarmHash.
      output_mode: "int" for the categories; "one_hot", "multi_hot" or "count" for vectors.
      sparse: whether vectors are given as a `SparseTensor`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for `num_bins` below 1, an unknown mode, `sparse` with "int", and other salts.
    """

    supports_jit = False

    def __init__(
        self, num_bins: int, mask_value: str | None = None, salt: Sequence[int] | None = None,
        output_mode: str = "int", sparse: bool = False, **kwargs,
    ):
        if kwargs.get("dtype") is None:
            kwargs["dtype"] = "int64" if output_mode == "int" else settings.floatx()
        super().__init__(**kwargs)
        if num_bins is None or num_bins <= 0:
            raise ValueError(
                "The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: "
                f"num_bins={num_bins}."
            )
        if output_mode == "int" and self.dtype not in ("int32", "int64"):
            raise ValueError(
                "When `output_mode=\"int\"`, `dtype` should be an integer type, 'int32' or 'in64'. "
                f"Received: dtype={self.dtype}"
            )
        check_output_mode(type(self).__name__, output_mode, sparse)
        self.num_bins, self.mask_value = num_bins, mask_value
        self.output_mode, self.sparse = output_mode, sparse
        self.strong_hash = salt is not None
        if isinstance(salt, int):
            salt = [salt, salt]
        elif salt is not None and (not isinstance(salt, (tuple, list)) or len(salt) != 2):
            raise ValueError(
                "The `salt` argument for `Hashing` can only be a tuple of size 2 integers, or a single "
                f"integer. Received: salt={salt}."
            )
        self.salt = None if salt is None else list(salt)

    def call(self, inputs):
        inputs = as_tensor(inputs)
        if isinstance(inputs, SparseTensor):
            bins = inputs.with_values(self._bins(inputs.values))
        elif hasattr(inputs, "flat_values"):
            bins = inputs.with_flat_values(self._bins(inputs.flat_values))
        else:
            bins = self._bins(inputs)
        return encode(
            bins, self.output_mode, self.num_bins, self._compute_dtype_object, self.sparse
        )

    def _bins(self, values):
        bins = self.num_bins
        masked = None
        if self.mask_value is not None and bins > 1:
            bins -= 1
            masked = equal(values, as_tensor(self.mask_value, values.dtype))
        if values.dtype.is_floating:
            values = cast(values, "int64")
        if values.dtype != "string":
            values = as_string(values)
        if self.strong_hash:
            hashed = to_hash_bucket_strong(values, bins, key=self.salt)
        else:
            hashed = to_hash_bucket_fast(values, bins)
        return hashed if masked is None else where(masked, zeros_like(hashed), hashed + 1)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape(encoded_shape(sizes, self.output_mode, self.num_bins))

    def get_config(self):
        return {
            **super().get_config(),
            "num_bins": self.num_bins,
            "salt": self.salt,
            "mask_value": self.mask_value,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
        }


class HashedCrossing(PreprocessingLayer):
    """Maps the values of several features together to one of `num_bins` categories, by their hash.

    Input shape: a list of two or more tensors of integers or strings, each `()`, `(batch,)` or `(batch, 1)`.
    Output shape: that of one of them for "int"; `(batch, num_bins)` for "one_hot".

    Args:
      num_bins: the number of categories.
      output_mode: "int" or "one_hot".
      sparse: whether vectors are given as a `SparseTensor`.
      name: the name of the layer.
      dtype: of the outputs; None for int64, or `keras.config.floatx()` for "one_hot".
      **kwargs: other arguments of `Layer`.

    Raises:
      ValueError: for an unknown mode, `sparse` with "int", and at the call for inputs of another kind.
    """

    supports_jit = False

    def __init__(
        self, num_bins: int, output_mode: str = "int", sparse: bool = False, name: str | None = None,
        dtype: DTypeLike | None = None, **kwargs,
    ):
        if dtype is None:
            dtype = "int64" if output_mode == "int" else settings.floatx()
        super().__init__(name=name, dtype=dtype, **kwargs)
        if output_mode not in ("int", "one_hot"):
            raise ValueError(
                "Unknown value for `output_mode` argument of layer HashedCrossing. Expected one of "
                f"('int', 'one_hot'). Received: output_mode={output_mode}"
            )
        check_output_mode(type(self).__name__, output_mode, sparse)
        self.num_bins, self.output_mode, self.sparse = num_bins, output_mode, sparse

    def call(self, inputs: Sequence[Tensor]):
        if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
            raise ValueError(
                "`HashedCrossing` should be called on at least two inputs, in a list or tuple. "
                f"Received: inputs={inputs}"
            )
        inputs = [as_tensor(x) for x in inputs]
        rank = inputs[0].shape.rank
        for x in inputs:
            if x.shape.rank is not None and (x.shape.rank > 2 or x.shape.rank != rank or (
                rank == 2 and x.shape.as_list()[-1] != 1)):  # fmt: skip
                raise ValueError(
                    "All `HashedCrossing` inputs should be dense tensors of shape `()`, `(batch_size,)` or "
                    f"`(batch_size, 1)`, and have one shape. Received: inputs={inputs}"
                )
            if x.dtype != "string" and not x.dtype.is_integer:
                raise ValueError(
                    "All `HashedCrossing` inputs should have an integer or string dtype. "
                    f"Received: inputs={inputs}"
                )
        crossed = reshape(
            sparse_cross_hashed([reshape(x, [-1, 1]) for x in inputs], self.num_bins).values, shape_of(inputs[0])
        )
        crossed.set_shape(inputs[0].shape)
        return encode(
            crossed, self.output_mode, self.num_bins, self._compute_dtype_object, self.sparse
        )

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape[0]).as_list()
        return TensorShape(encoded_shape(sizes, self.output_mode, self.num_bins))

    def get_config(self):
        return {
            "num_bins": self.num_bins,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "name": self.name,
            "dtype": self.dtype,
        }
