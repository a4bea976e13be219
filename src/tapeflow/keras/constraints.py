"""Projections that weights undergo after every update."""

from __future__ import annotations

from tapeflow.keras import settings
from tapeflow.keras.registry import resolve, to_config
from tapeflow.ops.casting import cast
from tapeflow.ops.clip import clip_by_value
from tapeflow.ops.comparison import greater_equal
from tapeflow.ops.elementwise import sqrt, square
from tapeflow.ops.reduction import reduce_sum


class Constraint:
    """A function of a weight that gives its new value."""

    def __call__(self, w):
        return w

    def get_config(self):
        """The constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config):
        """A constraint from the constructor's arguments."""
        return cls(**config)


def _norm(w, axis):
    return sqrt(reduce_sum(square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Scales down vectors along `axis` that are longer than max_value."""

    def __init__(self, max_value=2, axis=0):
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
    """Scales vectors along `axis` to length 1."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (settings.epsilon() + _norm(w, self.axis))

    def get_config(self):
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Brings the length of vectors along `axis` into [min_value, max_value], at a rate."""

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
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


max_norm, non_neg, unit_norm, min_max_norm = MaxNorm, NonNeg, UnitNorm, MinMaxNorm
_CLASSES = (MaxNorm, NonNeg, UnitNorm, MinMaxNorm)
_NAMES = {cls.__name__: cls for cls in _CLASSES} | {
    "max_norm": MaxNorm,
    "non_neg": NonNeg,
    "unit_norm": UnitNorm,
    "min_max_norm": MinMaxNorm,
}


def get(identifier):
    """A constraint from a name, a config or a function."""
    return resolve(identifier, _NAMES, "constraint", instantiate=False)


def serialize(constraint):
    """The config of a constraint."""
    return to_config(constraint)


def deserialize(config, custom_objects=None):
    """A constraint from its config."""
    return resolve(config, _NAMES, "constraint", custom_objects)
