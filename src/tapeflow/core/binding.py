"""Connects the native core with the Python one: dtypes, errors, texts, modes. Imported once, for its effect."""

from __future__ import annotations

import contextlib
from typing import Any

from tapeflow import _native
from tapeflow._native import Tensor as Tensor
from tapeflow.api import api_value, providers
from tapeflow.core import (
    config,
    context,
    convert,
    device,
    dtypes,
    errors,
    first_use,
    numpy_hints,
    promotion,
    tensor_shape,
)
from tapeflow.core.display import notebook, printing
from tapeflow.core.dtensor import placed
from tapeflow.core.public import boundary
from tapeflow.core.specs import tensor_spec

api_value("Tensor", "Tensor")

# The core knows the dtypes whose numbers fit into its tables.
_LAST_DTYPE = 31


def _register_dtypes() -> None:
    for number in range(1, _LAST_DTYPE + 1):
        dtype = dtypes.DType(number)
        numpy_type = dtype.as_numpy_dtype if dtype.is_numpy_compatible else None
        _native.register_dtype(number, dtype, numpy_type)
    _native.set_dtype_parser(dtypes.as_dtype)


def _content(tensor: Any) -> Any:
    """The elements to be shown; those of resources and variants are the objects themselves."""
    try:
        return tensor.numpy()
    except (TypeError, ValueError, AttributeError, NotImplementedError):
        return f"<{tensor.dtype.name}>"


def _weakly(tensor: Any, text: str) -> str:
    return f"{text[:-1]}, weak=True{text[-1]}" if promotion.is_weak(tensor) else text


def _to_str(tensor: Any) -> str:
    return placed.to_str(tensor) or _weakly(tensor, printing.to_str(_content(tensor), tensor.shape, tensor.dtype))


def _to_repr(tensor: Any) -> str:
    return placed.to_repr(tensor) or _weakly(tensor, printing.to_repr(_content(tensor), tensor.shape, tensor.dtype))


def _to_format(tensor: Any, spec: str) -> str:
    return printing.to_format(_content(tensor), spec)


def _to_html(tensor: Any) -> str:
    facts = f"tf.Tensor: shape={tensor.shape}, dtype={tensor.dtype.name}, device={tensor.device}"
    return notebook.array(facts, _content(tensor))


def _shape_as_list(tensor: Any) -> list[int]:
    return tensor.shape.as_list()


def _memory_info() -> dict[str, int]:
    stats = _native.allocator_stats()
    return {"current": stats["live"], "peak": stats["peak"]}


def _give(kind: type, **members: Any) -> None:
    """Let a class of the native core have attributes that are written in Python."""
    for name, member in members.items():
        setattr(kind, name, member)


def _bind() -> None:
    _register_dtypes()
    _native.set_hook("error_from_code", errors.from_code)
    _native.set_hook("tensor_shape", tensor_shape.from_tuple)
    _native.set_hook("convert", boundary(convert.convert_other))
    _native.set_hook("to_str", _to_str)
    _native.set_hook("to_repr", _to_repr)
    _native.set_hook("to_format", _to_format)
    with contextlib.suppress(TypeError):  # where the type is closed, notebooks show the repr
        _give(_native.EagerTensor, _repr_html_=_to_html, _shape_as_list=_shape_as_list)
    tensor_spec.register_tensor_class(_native.Tensor)
    context.on_device_change.append(_native.set_device_scope)
    context.on_tensor_equality_change.append(_native.set_tensor_equality)
    context.on_functions_eager_change.append(lambda eager: _native.set_functions_fast(not eager))
    context.pause_recording = _native.PausedTapes
    config.on_threads_change.append(_native.set_threads)
    host = device.host()
    host.memory_info = _memory_info
    host.reset_memory_stats = _native.allocator_reset_peak


def _tensor_parts() -> None:
    """Let tensors have the half-public attributes that libraries ask for."""
    _give(
        _native.EagerTensor,
        _numpy=_native.EagerTensor.numpy,
        _shape=property(lambda self: self.shape),
        _dtype=property(lambda self: self.dtype),
        _rank=lambda self: self.ndim,
        _shape_tuple=lambda self: tuple(self.shape.as_list()),
    )
    _give(
        _native.Tensor,
        _matmul=lambda self, *args, **kwargs: providers.load("operators").matmul(self, *args, **kwargs),
    )


# The methods that libraries give to classes of theirs which are like tensors; `operator_methods` has them as functions.
_native.Tensor.OVERLOADABLE_OPERATORS = frozenset(  # type: ignore[attr-defined]
    [f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "invert", "getitem")]
    + [f"__{r}{name}__" for r in ("", "r") for name in ("add", "sub", "mul", "truediv", "div", "floordiv", "mod", "pow",
                                                        "matmul", "and", "or", "xor")]
)  # fmt: skip

_tensor_parts()
_bind()
first_use.set_operators()
numpy_hints.set_hints()
