"""`tfe.defun`: traces as `tf.function` does, without AutoGraph; each trace may create variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.function.function import Function


@public
def defun(
    func: Callable[..., Any] | None = None, input_signature=None, autograph: bool = False,
    experimental_autograph_options=None, reduce_retracing: bool = False,
):
    """Let `func` run as a plan, made by tracing it; each trace may create variables. Also a decorator.

    Raises TypeError if `func` is not callable.

    Args:
      func: the function; None: a decorator is returned.
      input_signature: specs of the arguments (optional).
      autograph: whether Python's control flow on tensors is converted.
      experimental_autograph_options: has no effect on the result.
      reduce_retracing: whether traces become more general as arguments differ.
    """

    def decorated(inner: Callable[..., Any]):
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        return Function(
            inner, None, input_signature, autograph, None, reduce_retracing,
            experimental_autograph_options=experimental_autograph_options, creates_variables=True,
        )  # fmt: skip

    return decorated if func is None else decorated(func)


@public
def defun_with_attributes(
    func: Callable[..., Any] | None = None, input_signature=None, attributes=None, autograph: bool = True, **options
):
    """`defun`; the attributes are kept, and mean nothing here."""
    made = defun(func, input_signature, autograph)
    if attributes:
        made._attributes = attributes
    return made


class Defun:
    """A decorator of 1.x: the function runs as one, for inputs of given dtypes.

    Args:
      *input_types: the dtypes of its inputs; none: those of each call.
      **kwargs: `func_name`, `out_names`, `python_grad_func(op, *gradients)`, `grad_func`, `shape_func`, `noinline`.
    """

    def __init__(self, *input_types, **kwargs):
        self._types = [as_dtype(each) for each in input_types]
        self._gradient = kwargs.get("python_grad_func")

    def __call__(self, func: Callable[..., Any]):
        """The function as one of the graph."""
        traced = defun(func)

        @functools.wraps(func)
        def call(*args, **kwargs):
            inputs = list(args)
            if self._types:
                if len(inputs) != len(self._types):
                    raise ValueError(
                        f"The function {func.__name__} takes {len(self._types)} inputs, but was given {len(inputs)}"
                    )
                inputs = [convert_to_tensor(x, dtype) for x, dtype in zip(inputs, self._types, strict=True)]
            if self._gradient is None:
                return traced(*inputs)
            return self._with_gradient(traced, inputs)

        return call

    def _with_gradient(self, traced, inputs):
        @custom_gradient
        def compute(*xs):
            results = traced(*xs)
            outputs = nest.flatten(results)
            op = SimpleNamespace(inputs=list(xs), outputs=outputs, type="Defun")
            return results, lambda *upstream: self._gradient(op, *upstream)

        return compute(*inputs)
