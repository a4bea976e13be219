"""Spectral normalization: weights over their largest singular value, which power iteration estimates."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor

_SUFFIX = "spectral_norm_u"
_WEIGHTS = re.compile(r"(.*/)?(depthwise_|pointwise_)?(weights|kernel)$")


def compute_spectral_norm(w_tensor: Any, power_iteration_rounds: int = 1, name: str | None = None):
    """The largest singular value of weights as a matrix (of the last axis and all others), a scalar.

    The vector that is iterated stays in a variable, so that few rounds a step are enough.
    """
    with v1.variable_scope(name, "spectral_norm"):
        w = v1.reshape(w_tensor, (-1, w_tensor.shape[-1]))
        kept = v1.get_variable(
            _SUFFIX, (w.shape[0], 1), w.dtype, v1.random_normal_initializer(), trainable=False
        )
        u = v1.convert_to_tensor(kept)
        for _ in range(power_iteration_rounds):
            v = v1.nn.l2_normalize(v1.matmul(w, u, transpose_a=True))
            u = v1.nn.l2_normalize(v1.matmul(w, v))
        with v1.control_dependencies([kept.assign(u, name="update_u")]):
            u = v1.identity(u)
        u, v = v1.stop_gradient(u), v1.stop_gradient(v)
        norm = v1.matmul(v1.matmul(u, w, transpose_a=True), v)
        norm.shape.assert_is_compatible_with([1, 1])
        return norm[0][0]


def spectral_normalize(w, power_iteration_rounds=1, name: str | None = None):
    """Weights over their largest singular value."""
    with v1.variable_scope(name, "spectral_normalize"):
        return v1.reshape(w / compute_spectral_norm(w, power_iteration_rounds), w.shape)


def spectral_norm_regularizer(scale: bool, power_iteration_rounds: int = 1, scope: str | None = None):
    """A regularizer: the largest singular value, times `scale`. Raises ValueError for integers and below 0."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}")
        if scale == 0.0:
            return lambda _: None

    def regularizer(weights: Tensor, name: str | None = None):
        with v1.name_scope(scope, "SpectralNormRegularizer", [weights]) as name:
            factor = v1.convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return v1.multiply(factor, compute_spectral_norm(weights, power_iteration_rounds), name=name)

    return regularizer


def _default_name_filter(name: str):
    return _WEIGHTS.match(name) is not None


def spectral_normalization_custom_getter(
    name_filter: Callable[..., Any] = _default_name_filter, power_iteration_rounds: int = 1
):
    """A `custom_getter` for `tf.variable_scope` that normalizes the variables whose names the filter takes.

    Raises ValueError for a filter that is not a function, and in the scope for vectors and for other dtypes.
    """
    if not callable(name_filter):
        raise ValueError("name_filter must be callable")

    def get(getter: Callable[..., Any], name: str, *args, **kwargs):
        if not name_filter(name):
            return getter(name, *args, **kwargs)
        if name.endswith(_SUFFIX):
            raise ValueError(
                "Cannot apply Spectral Normalization to internal variables created for Spectral Normalization. Tried "
                f"to normalized variable [{name}]"
            )
        if kwargs["dtype"] not in (v1.float16, v1.float32, v1.float64):
            raise ValueError(f"Disallowed data type {kwargs['dtype']}")
        weights = getter(name, *args, **kwargs)
        if len(weights.shape) < 2:
            raise ValueError("Spectral norm can only be applied to multi-dimensional tensors")
        return spectral_normalize(weights, power_iteration_rounds, name + "/spectral_normalize")

    return get
