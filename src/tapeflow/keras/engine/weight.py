"""Weights as Keras 3 shows them: by their own name, and by the path of the layers that they belong to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.public import boundary
from tapeflow.core.release import keras_2
from tapeflow.core.variables import graph_parts
from tapeflow.keras import initializers, settings
from tapeflow.keras.engine.fitting import stateless
from tapeflow.keras.engine.fitting.stateless import open_scopes as _scopes
from tapeflow.keras.engine.static import shown_dtype
from tapeflow.ops.math.rounding import round as rounded
from tapeflow.ops.state.variable import Variable, VariableAggregation, VariableSynchronization

if TYPE_CHECKING:
    import numpy as np


def make_weight(owner: Any, first: Callable[..., Any] | np.ndarray, name: str | None, **arguments):
    """A variable of a layer or metric; in Keras 3 under the path of its owner, and never without a name.

    Args:
      owner: has a `name`.
      first: a function of no arguments that gives the initial value.
      name: the variable's own name, or None.
      **arguments: those of tf.Variable.
    """
    if keras_2():
        return Variable(first, name=name, **arguments)
    with scope_of(owner):
        weight = Weight(first, name=settings.unique_name("variable") if name is None else name, **arguments)
    weight.made_trainable = weight.trainable
    return weight


def scope_of(owner):
    """The name scope of a layer or metric, unless it is open already."""
    around = context.current_name_scope().split("/")
    return contextlib.nullcontext() if owner.name in around else context.name_scope(owner.name)


_is_trained = _native.Variable.trainable.__get__


class Weight(Variable, by_creators=True):
    """A variable of a layer or metric of Keras 3.

    Attributes:
      name: the name given by the layer, as "kernel".
      path: the names of the layers around it and its own, as "sequential/dense/kernel".
    """

    _full_name = "Variable"

    @property
    def name(self):
        """The last part of `path`."""
        return self._full_name.rpartition("/")[2]

    @name.setter
    def name(self, full_name: str):
        self.__dict__["_full_name"] = full_name.partition(":")[0]

    @property
    def path(self):
        """The names of the layers around the weight, and its own, joined by slashes."""
        return self._full_name

    @property
    def trainable(self):
        """Whether the weight is trained; a layer sets it for its weights, and a program may."""
        return _is_trained(self)

    @trainable.setter
    def trainable(self, value: bool):
        if bool(value) is not _is_trained(self):
            self._trainable = bool(value)

    @property
    def dtype(self):
        """The name of the dtype, which has the attributes of a DType too."""
        return shown_dtype(self._dtype)

    @property
    def ndim(self):
        """The number of axes."""
        return self.shape.rank

    def __round__(self, ndigits: int | None = None) -> Tensor:
        """The value rounded to `ndigits` decimal places."""
        scale = 10.0 ** (ndigits or 0)
        return rounded(self * scale) / scale

    # `value` says nothing about reading.
    _reads_by_class = False

    @property
    def value(self):
        """The variable itself: with Keras 3 on TensorFlow, the variable that holds the value."""
        return self

    # Whether the weight was made to be trained: its place among the weights of its owner stays when that changes.
    made_trainable: bool | None = None

    # The penalty that the layer adds to its losses, and whether the optimizer replaces the value by the gradient.
    regularizer = None
    overwrite_with_gradient = False

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ):
        """Replace the value.

        Args:
          value: the new value.
          use_locking: accepted as in TensorFlow.
          name: accepted as in TensorFlow.
          read_value: accepted as in TensorFlow.

        Returns:
          The new value, a tensor; in a graph the variable after the assignment.

        Raises:
          ValueError: for a value of another dtype or a shape that is not the variable's.
        """
        if _scopes.stateless:
            stateless.keep(self)
        if self._try_assign(value) is not None:
            return self.read_value()
        return _value_after(super().assign(value, use_locking, name, read_value))

    def assign_add(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None,
        read_value: bool = True,
    ):
        """Add to the value.

        Args:
          value: what is added.
          use_locking: accepted as in TensorFlow.
          name: accepted as in TensorFlow.
          read_value: accepted as in TensorFlow.

        Returns:
          The new value, a tensor; in a graph the variable after the addition.
        """
        if _scopes.stateless:
            stateless.keep(self)
        if self._assign_add(value) is not None:
            return self.read_value()
        return _value_after(super().assign_add(value, use_locking, name, read_value))

    def assign_sub(
        self, value: TensorLike, use_locking: bool | None = None, name: str | None = None, read_value: bool = True
    ):
        """Subtract from the value.

        Args:
          value: what is subtracted.
          use_locking: accepted as in TensorFlow.
          name: accepted as in TensorFlow.
          read_value: accepted as in TensorFlow.

        Returns:
          The new value, a tensor; in a graph the variable after the subtraction.
        """
        if _scopes.stateless:
            stateless.keep(self)
        if self._assign_sub(value) is not None:
            return self.read_value()
        return _value_after(super().assign_sub(value, use_locking, name, read_value))

    @property
    def _shared_name(self):
        return self._full_name

    def __repr__(self):
        value = f", value={self.numpy()}" if self._is_set and context.executing_eagerly() else ""
        return f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype.name}{value}>"

    __str__ = __repr__


def _value_after(assigned):
    """What an assignment gives: the value where it happened at once; in a graph, the variable after it."""
    return assigned.read_value() if isinstance(assigned, Weight) and graph_parts(assigned) is None else assigned


class _OfWeights(type(Weight)):  # type: ignore[misc]
    """The class of `KerasVariable`, of which all weights and variables of optimizers count as instances."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, Weight)

    def __subclasscheck__(cls, subclass):
        return Weight in subclass.__mro__


class KerasVariable(Weight, metaclass=_OfWeights, by_creators=False):
    """A variable as programs make it by `keras.Variable`; weights are instances too.

    Args:
      initializer: a value, an initializer or its name, or a function of `shape` and `dtype`.
      shape: needed for what is no value.
      dtype: by default that of the value, or floatx.
      trainable: whether it is to be trained.
      autocast: whether layers of mixed precision cast it.
      aggregation: "none", "mean", "sum" or "only_first_replica".
      synchronization: "auto", "none", "on_read" or "on_write".
      name: without slashes; the path begins with the names of the scopes around.
      **kwargs: ignored, as in Keras, whose other backends have more arguments.

    Raises ValueError for a name with a slash, an unknown aggregation or synchronization, and an initializer without
    a shape.
    """

    @boundary
    def __init__(
        self, initializer: Sequence[float] | float, shape: Sequence[Any] | None = None,
        dtype: DTypeLike | None = None, trainable: bool = True, autocast: bool = True, aggregation="none",
        synchronization="auto", name: str | None = None, **kwargs,
    ):  # fmt: skip
        name = name or settings.unique_name("variable")
        if not isinstance(name, str) or "/" in name:
            raise ValueError(
                f"Argument `name` must be a string and cannot contain character `/`. Received: name={name}"
            )
        if isinstance(aggregation, VariableAggregation):  # as copies of variables have it
            aggregation, synchronization = aggregation.name.lower(), synchronization.name.lower()
        for argument, value in (("aggregation", aggregation), ("synchronization", synchronization)):
            if value not in _CHOICES[argument]:
                known = ", ".join(f"`{choice!r}`" for choice in _CHOICES[argument])
                raise ValueError(
                    f"Invalid value for argument `{argument}`. Expected one of {known}. Received: {argument}={value}"
                )
        initializer = initializers.get(initializer) if isinstance(initializer, str) else initializer
        if callable(initializer):
            if shape is None:
                raise ValueError(
                    "When creating a Variable from an initializer, the `shape` argument should be specified. "
                    f"Received: initializer={initializer} and shape={shape}"
                )
            dtype = dtypes.as_dtype(dtype or settings.floatx())
            with context.init_scope():
                first = initializer(shape, dtype=dtype)
        else:
            first = initializer
        super().__init__(
            first, trainable=bool(trainable), name=name, dtype=dtype,
            aggregation=VariableAggregation[(aggregation or "none").upper()],
            synchronization=VariableSynchronization[(synchronization or "none").upper()],
        )  # fmt: skip
        self.autocast = bool(autocast)


_CHOICES = {
    "aggregation": (None, "none", "mean", "sum", "only_first_replica"),
    "synchronization": (None, "none", "on_read", "on_write", "auto"),
}
