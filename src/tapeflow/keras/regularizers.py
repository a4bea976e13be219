"""Penalties on weights and outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import Bounded, boundaries
from tapeflow.core.release import keras_2
from tapeflow.keras import settings
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.registry import resolve, to_config
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import square
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn.normalization import l2_normalize


class Regularizer(Bounded):
    """A function of a tensor that gives a scalar, and can be described by a config."""

    _keras_module = "keras.regularizers"
    _keras_module_itself = "keras"

    def __call__(self, x: Tensor):
        return 0.0

    def get_config(self):
        """The constructor's arguments."""
        raise TypeError(f"{self} does not implement get_config()")

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A regularizer from the constructor's arguments."""
        return cls(**config)


def _factor(value: float, name: str):
    value = 0.0 if value is None else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(
            f"Invalid value for argument `{name}`: expected a non-negative float. Received: {value}"
        )
    return float(value)


class L1L2(Regularizer):
    """A penalty of l1 * sum |x| + l2 * sum x^2.

    Args:
      l1: the factor of the absolute values, at least 0.
      l2: the factor of the squares, at least 0.

    Raises:
      ValueError: for what is not a finite number.

    >>> print(tf.keras.regularizers.L1L2(l1=1.0, l2=0.5)(tf.constant([1.0, -2.0])).numpy())
    5.5
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        self.l1 = _factor(l1, "l1")
        self.l2 = _factor(l2, "l2")

    def __call__(self, x: TensorLike):
        penalty = 0.0
        if self.l1:
            penalty += self.l1 * _floats(reduce_sum(abs_(x)))
        if self.l2:
            penalty += self.l2 * _floats(reduce_sum(square(x)))
        return penalty

    def get_config(self):
        return {"l1": self.l1, "l2": self.l2}


class L1(L1L2):
    """A penalty of l1 * sum |x|.

    Args:
      l1: the factor, at least 0.
      **kwargs: `l`, the old name of the factor.
    """

    def __init__(self, l1: float = 0.01, **kwargs):
        super().__init__(l1=_alias(l1, kwargs))

    def get_config(self):
        return {"l1": self.l1}


class L2(L1L2):
    """A penalty of l2 * sum x^2.

    Args:
      l2: the factor, at least 0.
      **kwargs: `l`, the old name of the factor.

    >>> print(tf.keras.regularizers.L2(0.5)(tf.constant([1.0, -2.0])).numpy())
    2.5
    """

    def __init__(self, l2: float = 0.01, **kwargs):
        super().__init__(l2=_alias(l2, kwargs))

    def get_config(self):
        return {"l2": self.l2}


class OrthogonalRegularizer(Regularizer):
    """A penalty on the cosines between the rows (or columns) of a matrix: the mean of |cos|, times factor.

    Args:
      factor: the factor, at least 0.
      mode: "rows" or "columns".

    Raises:
      ValueError: for another mode, and at the call for tensors that are not matrices.
    """

    def __init__(self, factor: float = 0.01, mode: str = "rows"):
        self.factor = _factor(factor, "factor")
        if mode not in ("rows", "columns"):
            raise ValueError(
                'Invalid value for argument `mode`. Expected one of {"rows", "columns"}. '
                f"Received: mode={mode}"
            )
        self.mode = mode

    def __call__(self, inputs: TensorLike):
        inputs = convert_to_tensor(inputs)
        if inputs.shape.rank != 2:
            raise ValueError(
                "Inputs to OrthogonalRegularizer must have rank 2. Received: "
                f"inputs.shape{' == ' if keras_2() else '='}{inputs.shape}"
            )
        by_rows = self.mode == "rows"
        vectors = l2_normalize(inputs, axis=1 if by_rows else 0)
        cosines = matmul(vectors, vectors, transpose_a=not by_rows, transpose_b=by_rows)
        count = inputs.shape[0 if by_rows else 1]
        others = cosines * (1.0 - eye(count, dtype=inputs.dtype))
        return self.factor * 0.5 * reduce_sum(abs_(others)) / (count * (count - 1.0) / 2.0)

    def get_config(self):
        return {"factor": self.factor, "mode": self.mode}


def _alias(value: float, kwargs: dict[str, Any]):
    """The argument under its old name `l`, when that was given."""
    value = kwargs.pop("l", value)
    if kwargs:
        raise TypeError(f"Argument(s) not recognized: {kwargs}")
    return 0.01 if value is None else value


def _floats(x: Tensor):
    """A number that a factor can be multiplied with: an integer as a float."""
    return cast(x, settings.floatx()) if x.dtype.is_integer and not keras_2() else x


def l1_l2(l1: float | None = None, l2: float | None = None):
    """Make a regularizer of both kinds.

    Args:
      l1: the factor of the absolute values, at least 0; None for 0, in Keras 2 0.01.
      l2: the factor of the squares, at least 0; None for 0, in Keras 2 0.01.

    Returns:
      An `L1L2`.
    """
    default = 0.01 if keras_2() else 0.0
    return L1L2(l1=default if l1 is None else l1, l2=default if l2 is None else l2)


l1 = L1
l2 = L2
orthogonal_regularizer = OrthogonalRegularizer
_NAMES: dict[str, Any] = {
    "L1L2": L1L2, "L1": L1, "L2": L2, "l1": L1, "l2": L2, "l1_l2": l1_l2, "l1l2": L1L2,
    "OrthogonalRegularizer": OrthogonalRegularizer, "orthogonal_regularizer": OrthogonalRegularizer,
}  # fmt: skip


def get(identifier: Configurable | None):
    """Find a regularizer.

    Args:
      identifier: the name of a regularizer, its config, a function, or None.

    Returns:
      The regularizer, or None.

    Raises:
      ValueError: for an unknown name.
    """
    if identifier == "l1_l2":
        return L1L2(0.01, 0.01)
    return resolve(identifier, _NAMES, "regularizer", instantiate=False)


@leaves_out("use_legacy_format")
def serialize(regularizer: Callable[..., Any] | None):
    """The config of a regularizer."""
    return to_config(regularizer)


@leaves_out("use_legacy_format")
def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make a regularizer of its config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The regularizer.
    """
    return resolve(config, _NAMES, "regularizer", custom_objects)

boundaries(globals())
