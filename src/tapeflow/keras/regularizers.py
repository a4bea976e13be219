"""Penalties on weights and outputs."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.keras.registry import resolve, to_config
from tapeflow.ops.elementwise import abs as abs_
from tapeflow.ops.elementwise import square
from tapeflow.ops.reduction import reduce_sum


class Regularizer:
    """A function of a tensor that gives a scalar, and can be described by a config."""

    def __call__(self, x):
        return 0.0

    def get_config(self):
        """The constructor's arguments."""
        raise TypeError(f"{self} does not implement get_config()")

    @classmethod
    def from_config(cls, config):
        """A regularizer from the constructor's arguments."""
        return cls(**config)


def _factor(value, name):
    value = 0.0 if value is None else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(
            f"Invalid value for argument `{name}`: expected a non-negative float. Received: {value}"
        )
    return float(value)


class L1L2(Regularizer):
    """l1 * sum |x| + l2 * sum x^2."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = _factor(l1, "l1")
        self.l2 = _factor(l2, "l2")

    def __call__(self, x):
        penalty = 0.0
        if self.l1:
            penalty += self.l1 * reduce_sum(abs_(x))
        if self.l2:
            penalty += self.l2 * reduce_sum(square(x))
        return penalty

    def get_config(self):
        return {"l1": self.l1, "l2": self.l2}


class L1(L1L2):
    """l1 * sum |x|."""

    def __init__(self, l1=0.01, **kwargs):
        super().__init__(l1=_alias(l1, kwargs))

    def get_config(self):
        return {"l1": self.l1}


class L2(L1L2):
    """l2 * sum x^2."""

    def __init__(self, l2=0.01, **kwargs):
        super().__init__(l2=_alias(l2, kwargs))

    def get_config(self):
        return {"l2": self.l2}


def _alias(value, kwargs):
    """The argument under its old name `l`, when that was given."""
    value = kwargs.pop("l", value)
    if kwargs:
        raise TypeError(f"Argument(s) not recognized: {kwargs}")
    return 0.01 if value is None else value


def l1_l2(l1=0.01, l2=0.01):
    """A regularizer of both kinds."""
    return L1L2(l1=l1, l2=l2)


l1 = L1
l2 = L2
_NAMES: dict[str, Any] = {"L1L2": L1L2, "L1": L1, "L2": L2, "l1": L1, "l2": L2, "l1_l2": l1_l2}


def get(identifier):
    """A regularizer from a name, a config or a function."""
    if identifier == "l1_l2":
        return L1L2(0.01, 0.01)
    return resolve(identifier, _NAMES, "regularizer", instantiate=False)


def serialize(regularizer):
    """The config of a regularizer."""
    return to_config(regularizer)


def deserialize(config, custom_objects=None):
    """A regularizer from its config."""
    return resolve(config, _NAMES, "regularizer", custom_objects)
