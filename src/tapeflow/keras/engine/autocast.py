"""Weights of layers with mixed precision: variables that are cast to the layer's compute dtype while it is called."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.engine.static import shown_dtype
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.variable import Variable


class _Scope(threading.local):
    """The dtype that weights are cast to in this thread; None: none."""

    def __init__(self):
        self.dtype = None


scope = _Scope()


class AutoCastVariable:
    """Stands for a variable in the layer that has it; everything but reading goes to the variable itself."""

    __array_priority__ = 200

    def __init__(self, variable):
        self.__dict__["variable"] = variable

    @property  # type: ignore[misc]
    def __class__(self):
        return Variable

    @property
    def dtype(self):
        """The dtype that reading gives now."""
        return self.variable.dtype if scope.dtype is None else shown_dtype(scope.dtype)

    @property
    def true_dtype(self):
        """The dtype of the variable."""
        return self.variable.dtype

    def value(self):
        """The value, cast."""
        return self._read()

    read_value = value

    def numpy(self):
        """The value as an array, cast."""
        return self._read().numpy()

    def assign(self, value: TensorLike, *args, **kwargs):
        """Replaces the value of the variable; one of the dtype that it is cast to is cast back."""
        if scope.dtype is not None and getattr(value, "dtype", None) == scope.dtype:
            value = cast(value, self.true_dtype)
        return self.variable.assign(value, *args, **kwargs)

    def sparse_read(self, indices, name: str | None = None):
        """Rows of the value, cast."""
        return self._cast(self.variable.sparse_read(indices, name=name))

    def gather_nd(self, indices, name: str | None = None):
        """Elements of the value, cast."""
        return self._cast(self.variable.gather_nd(indices, name=name))

    def _cast(self, x: Tensor):
        return x if scope.dtype is None or x.dtype == scope.dtype else cast(x, scope.dtype)

    def _read(self):
        return self._cast(convert_to_tensor(self.variable))

    def __tf_tensor__(self, dtype=None, name: str | None = None):
        if dtype == dtypes.resource:
            return self.variable.handle
        tensor = self._read()
        if dtype is not None and tensor.dtype != dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name!r} for AutoCastVariable "
                f"which is casted to type {tensor.dtype.name!r}"
            )
        return tensor

    def _as_graph_element(self):
        return self._read()

    def __getattr__(self, name: str):
        return getattr(self.__dict__["variable"], name)

    def __setattr__(self, name: str, value: TensorLike):
        setattr(self.variable, name, value)

    def __array__(self, *args, **kwargs):
        return self._read().numpy()

    def __repr__(self):
        return f"<AutoCastVariable of {self.variable!r}>" if keras_2() else repr(self.variable)

    def __hash__(self):
        return hash(self.variable)

    def __eq__(self, other):
        return self._read() == other

    def __ne__(self, other):
        return self._read() != other

    def __getitem__(self, key):
        return self._read()[key]

    def __iter__(self):
        return iter(self._read())

    def __len__(self):
        return len(self._read())


def _add_operators():
    binary = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lt le gt ge"
    for name in binary.split():
        function, plain = getattr(operator, name), name.strip("_")

        def forward(self, other, f: Callable[..., Any] = function):
            return f(self._read(), other)

        def backward(self, other, f: Callable[..., Any] = function):
            return f(other, self._read())

        setattr(AutoCastVariable, f"__{plain}__", forward)
        if plain not in ("lt", "le", "gt", "ge"):
            setattr(AutoCastVariable, f"__r{plain}__", backward)
    for name in ("neg", "abs"):
        function = getattr(operator, name)
        setattr(AutoCastVariable, f"__{name}__", lambda self, f=function: f(self._read()))


_add_operators()


def plain(value):
    """The variable itself, for one that stands for it."""
    return value.__dict__["variable"] if type(value) is AutoCastVariable else value
