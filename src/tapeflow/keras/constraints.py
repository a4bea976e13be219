"""Projections that weights undergo after every update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tapeflow.core.annotations import AxisLike, Configurable
from tapeflow.core.public import Bounded, boundaries
from tapeflow.keras import settings
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.registry import resolve, to_config
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.comparison import greater_equal
from tapeflow.ops.math.elementwise import sqrt, square
from tapeflow.ops.math.reductions import reduce_sum


class Constraint(Bounded):
    """A function of a weight that gives its new value."""

    _keras_module = "keras.constraints"

    def __call__(self, w):
        return w

    def get_config(self):
        """The constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A constraint from the constructor's arguments."""
        return cls(**config)


def _norm(w, axis: int):
    return sqrt(reduce_sum(square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Vectors along `axis` are scaled down to a length of at most `max_value`.

    Args:
      max_value: the largest length.
      axis: the axes of the vectors: 0 for the inputs of each unit of a Dense kernel, `[0, 1, 2]` for each filter of a
        Conv2D.

    >>> constraint = tf.keras.constraints.MaxNorm(max_value=5.0)
    >>> print(np.round(constraint(tf.constant([[6.0, 3.0], [8.0, 4.0]])).numpy(), 4))
    [[3. 3.]
     [4. 4.]]
    """

    def __init__(self, max_value: int = 2, axis: AxisLike = 0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        norms = _norm(w, self.axis)
        return w * (clip_by_value(norms, 0, self.max_value) / (settings.epsilon() + norms))

    def get_config(self):
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """Sets negative weights to zero."""

    def __call__(self, w):
        return w * cast(greater_equal(w, 0.0), w.dtype)


class UnitNorm(Constraint):
    """Vectors along `axis` are scaled to length 1.

    Args:
      axis: the axes of the vectors: 0 for the inputs of each unit of a Dense kernel.
    """

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (settings.epsilon() + _norm(w, self.axis))

    def get_config(self):
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Vectors along `axis` are scaled to a length between two bounds.

    Args:
      min_value: the smallest length.
      max_value: the largest length.
      rate: how far vectors are moved to these bounds, from 0 to 1 (all the way).
      axis: the axes of the vectors: 0 for the inputs of each unit of a Dense kernel.
    """

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: AxisLike = 0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        norms = _norm(w, self.axis)
        clipped = clip_by_value(norms, self.min_value, self.max_value)
        desired = self.rate * clipped + (1 - self.rate) * norms
        return w * (desired / (settings.epsilon() + norms))

    def get_config(self):
        return {
            "min_value": self.min_value,
            "max_value": self.max_value,
            "rate": self.rate,
            "axis": self.axis,
        }


class RadialConstraint(Constraint):
    """Makes kernels (rows, columns, inputs, outputs) of images depend on the distance to their middle alone."""

    def __call__(self, w):
        shape = w.shape
        if shape.rank != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {shape}")
        size = shape.as_list()[0]
        half = size // 2
        place = np.arange(size)
        ring = np.minimum(place, size - 1 - place)
        level = (
            half - 1 - np.minimum(ring[:, None], ring[None, :])
        )  # from the innermost ring, 0, outwards
        inner = level < 0 if size % 2 else level == 0
        source = np.where(inner, half - 1, half + level)
        flat = reshape(w, [size * size, *shape.as_list()[2:]])
        return reshape(gather(flat, (source * (size + 1)).reshape(-1)), shape.as_list())


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm
radial_constraint = RadialConstraint
_CLASSES = (Constraint, MaxNorm, NonNeg, UnitNorm, MinMaxNorm, RadialConstraint)
_NAMES = {cls.__name__: cls for cls in _CLASSES} | {
    "max_norm": MaxNorm,
    "non_neg": NonNeg,
    "unit_norm": UnitNorm,
    "min_max_norm": MinMaxNorm,
    "radial_constraint": RadialConstraint,
}


def get(identifier: Configurable | None):
    """Find a constraint.

    Args:
      identifier: the name of a constraint, its config, a function, or None.

    Returns:
      The constraint, or None.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(identifier, _NAMES, "constraint", instantiate=False)


@leaves_out("use_legacy_format")
def serialize(constraint):
    """The config of a constraint."""
    return to_config(constraint)


@leaves_out("use_legacy_format")
def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make a constraint of its config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The constraint.
    """
    return resolve(config, _NAMES, "constraint", custom_objects)

boundaries(globals())
