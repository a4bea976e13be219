"""What tensors say about methods that only NumPy's arrays have."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.api import providers
from tapeflow.core.public import boundary

# What NumPy's arrays have and tensors have not, and what programs may use instead.
_INSTEAD = {
    "T": "tf.transpose(x)",
    "size": "tf.size(x)",
    "data": "x.numpy().data",
    "tolist": "x.numpy().tolist()",
    "transpose": "tf.transpose(x, perm)",
    "reshape": "tf.reshape(x, shape)",
    "ravel": "tf.reshape(x, [-1])",
    "flatten": "tf.reshape(x, [-1])",
    "clip": "tf.clip_by_value(x, low, high)",
    "astype": "tf.cast(x, dtype)",
    "max": "tf.reduce_max(x)",
    "mean": "tf.reduce_mean(x)",
    "min": "tf.reduce_min(x)",
    "sum": "tf.reduce_sum(x)",
    "prod": "tf.reduce_prod(x)",
    "std": "tf.math.reduce_std(x)",
    "var": "tf.math.reduce_variance(x)",
    "any": "tf.reduce_any(x)",
    "all": "tf.reduce_all(x)",
    "argmax": "tf.argmax(x, axis)",
    "argmin": "tf.argmin(x, axis)",
    "cumsum": "tf.cumsum(x, axis)",
    "dot": "tf.tensordot(x, y, 1)",
    "squeeze": "tf.squeeze(x)",
    "repeat": "tf.repeat(x, repeats)",
    "copy": "tf.identity(x)",
    "item": "x.numpy().item()",
    "view": "tf.reshape(x, shape)",
    "detach": "tf.stop_gradient(x)",
}


class _Hint:
    """An attribute that tensors, and their class, have not: asking for it raises AttributeError with the way to go."""

    def __init__(self, name: str, instead: str):
        self._name, self._instead = name, instead

    @boundary
    def __get__(self, tensor: Any, owner: type) -> Any:
        text = f"{owner.__name__!r} object has no attribute {self._name!r}. Use {self._instead}"
        if self._name in providers.load("numpy_methods").METHODS:
            text += ", or give tensors the methods of NumPy's arrays with "
            text += "tf.experimental.numpy.experimental_enable_numpy_behavior()"
        raise AttributeError(f"{text}.", name=self._name)


def set_hints() -> None:
    """Let tensors say what to use instead of methods that only NumPy's arrays have."""
    for name, instead in _INSTEAD.items():
        setattr(_native.Tensor, name, _Hint(name, instead))
