"""`keras.backend`: variables and their values, and what depends on whether a model trains."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.release import keras_2
from tapeflow.keras import session, settings
from tapeflow.keras.engine import calling
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.settings import (
    learning_phase,
    set_learning_phase,
)
from tapeflow.ops.array.construction import ones as ones_of
from tapeflow.ops.array.construction import ones_like as ones_like_of
from tapeflow.ops.array.construction import zeros as zeros_of
from tapeflow.ops.array.construction import zeros_like as zeros_like_of
from tapeflow.ops.array.layout import expand_dims as expand_axis
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.array.tensor_diagonal import eye as eye_of
from tapeflow.ops.math.casting import cast as cast_tensor
from tapeflow.ops.math.choice import where
from tapeflow.ops.state.variable import Variable


def variable(value: float | Tensor, dtype: DTypeLike | None = None, name: str | None = None, constraint=None):
    """Make a variable.

    Args:
      value: its first value.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.
      constraint: a function that optimizers apply to it after each update; None for none.

    Returns:
      The variable.
    """
    return Variable(
        convert_to_tensor(value, settings.default_dtype(dtype)), name=name, constraint=constraint
    )


def zeros(shape: Sequence[Any], dtype: DTypeLike | None = None, name: str | None = None):
    """Make a variable of zeros.

    Args:
      shape: its shape.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.

    Returns:
      The variable.
    """
    return variable(zeros_of(shape, settings.default_dtype(dtype)), dtype, name)


def ones(shape: Sequence[Any], dtype: DTypeLike | None = None, name: str | None = None):
    """Make a variable of ones.

    Args:
      shape: its shape.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.

    Returns:
      The variable.
    """
    return variable(ones_of(shape, settings.default_dtype(dtype)), dtype, name)


def eye(size: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None):
    """Make a variable that is the identity matrix.

    Args:
      size: the number of rows and columns.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.

    Returns:
      The variable.
    """
    return variable(eye_of(size, dtype=settings.default_dtype(dtype)), dtype, name)


@computes_tensors
def zeros_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None):
    """Make zeros in the shape of a tensor.

    Args:
      x: a tensor, or what can be converted to one.
      dtype: another dtype; None for that of x.
      name: accepted as in Keras 2.

    Returns:
      A tensor.
    """
    return zeros_like_of(x, dtype)


@computes_tensors
def ones_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None):
    """Make ones in the shape of a tensor.

    Args:
      x: a tensor, or what can be converted to one.
      dtype: another dtype; None for that of x.
      name: accepted as in Keras 2.

    Returns:
      A tensor.
    """
    return ones_like_of(x, dtype)


@computes_tensors
def arange(start, stop=None, step: int = 1, dtype: DTypeLike = "int32"):
    """Make the numbers start, start + step, ... below stop.

    Args:
      start: the first number; where `stop` is None the end, and the first is 0.
      stop: the end, which is not among the numbers.
      step: the distance between them.
      dtype: the dtype of the result.

    Returns:
      A vector.
    """
    if stop is None and start < 0:
        start = 0
    result = range_of(start, stop, step)
    return result if dtype == "int32" else cast_tensor(result, dtype)


def get_value(x):
    """The NumPy value of a tensor or variable."""
    if getattr(x, "_parts", None) is not None:
        return session.values_of([x])[0]
    if hasattr(x, "op") and not hasattr(x, "_parts") and not hasattr(x, "numpy"):
        return session.get_session(x.graph).run(x)
    return x.numpy() if hasattr(x, "numpy") else x


eval = get_value


def set_value(x: Any, value: Any):
    """Set a variable.

    Args:
      x: the variable.
      value: its new value, an array or what NumPy makes one of.
    """
    session.set_values([(x, np.asarray(value, x.dtype.as_numpy_dtype))])


def batch_get_value(tensors: TensorLike):
    """The NumPy values of variables."""
    return session.values_of(tensors)


def batch_set_value(tuples):
    """Sets variables, given as (variable, value) pairs."""
    for x, value in tuples:
        set_value(x, value)


def update(x: Any, new_x):
    """Set a variable.

    Args:
      x: the variable.
      new_x: its new value.

    Returns:
      The variable, or in a graph the operation.
    """
    return x.assign(new_x)


def update_add(x: Any, increment):
    """Add to a variable.

    Args:
      x: the variable.
      increment: what is added.

    Returns:
      The variable, or in a graph the operation.
    """
    return x.assign_add(increment)


def update_sub(x: Any, decrement):
    """Subtract from a variable.

    Args:
      x: the variable.
      decrement: what is subtracted.

    Returns:
      The variable, or in a graph the operation.
    """
    return x.assign_sub(decrement)


def moving_average_update(x: Any, value: Any, momentum):
    """Move an average: x * momentum + value * (1 - momentum), into x.

    Args:
      x: the variable.
      value: the new number.
      momentum: the weight of the past, from 0 to 1.

    Returns:
      The variable, or in a graph the operation.
    """
    return x.assign_sub((x - value) * cast_tensor(1.0 - momentum, x.dtype))


def dtype(x: Any):
    """The name of the dtype of x."""
    return x.dtype.base_dtype.name


def ndim(x: Any):
    """The rank of x."""
    return x.shape.rank


def int_shape(x: TensorLike):
    """The shape as a tuple of ints and None, or None."""
    sizes = getattr(x, "shape", None)
    return None if sizes is None or sizes.rank is None else tuple(sizes.as_list())


def count_params(x: Any):
    """The number of elements of x."""
    return x.shape.num_elements()


def is_keras_tensor(x: TensorLike):
    """Whether x is symbolic. In Keras 2 it raises ValueError when it is no tensor at all."""
    if keras_2() and (not hasattr(x, "dtype") or isinstance(x, np.ndarray)):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance."
        )
    return isinstance(x, KerasTensor)


@computes_tensors
def cast(x: TensorLike, dtype: DTypeLike):
    """Convert a tensor to another dtype.

    Args:
      x: a tensor, or what can be converted to one.
      dtype: the dtype, or its name.

    Returns:
      A tensor.
    """
    return cast_tensor(x, dtype)


def cast_to_floatx(x: TensorLike):
    """x in floatx: a tensor of a tensor, a NumPy array of anything else."""
    if hasattr(x, "dtype") and hasattr(x, "numpy"):
        return cast_tensor(x, settings.floatx())
    return np.asarray(x, dtype=settings.floatx())


# Training or not


@contextlib.contextmanager
def learning_phase_scope(value: TensorLike):
    """A block in which layers called without `training` train (1) or do not (0)."""
    saved = settings.settings["learning_phase"]
    set_learning_phase(value)
    try:
        yield
    finally:
        settings.settings["learning_phase"] = saved


@computes_tensors
def in_train_phase(x: TensorLike, alt, training: bool | Tensor | None = None):
    """Give one value while training, and another otherwise.

    Args:
      x: the one value, or a function that gives it.
      alt: the other, or a function.
      training: whether the model is being trained; None for what `set_learning_phase`, or the layer being called,
        says.

    Returns:
      A value.
    """
    if training is None:
        training = calling.state.training
    if training is None:
        training = learning_phase()

    def value(chosen):
        return chosen() if callable(chosen) and not hasattr(chosen, "dtype") else chosen

    return by_phase(training, lambda: value(x), lambda: value(alt))


@computes_tensors
def in_test_phase(x: TensorLike, alt, training: bool | Tensor | None = None):
    """Give one value while not training, and another otherwise.

    Args:
      x: the one value, or a function that gives it.
      alt: the other, or a function.
      training: whether the model is being trained; None for what `set_learning_phase`, or the layer being called,
        says.

    Returns:
      A value.
    """
    return in_train_phase(alt, x, training)


@computes_tensors
def switch(condition, then_expression, else_expression):
    """Give one of two values, or choose between them element by element.

    Args:
      condition: a scalar that chooses the whole value, or a tensor that chooses elements.
      then_expression: the value where it is true, or a function that gives it.
      else_expression: the value where it is false, or a function.

    Returns:
      A value.

    Raises:
      ValueError: for a condition of more axes than the values.
    """
    condition = convert_to_tensor(condition)
    if condition.shape.rank == 0:

        def value(chosen):
            return chosen() if callable(chosen) and not hasattr(chosen, "dtype") else chosen

        return by_phase(condition, lambda: value(then_expression), lambda: value(else_expression))
    values = [
        v() if callable(v) and not hasattr(v, "dtype") else convert_to_tensor(v)
        for v in (then_expression, else_expression)
    ]
    if condition.shape.rank > values[0].shape.rank:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={condition.shape.rank}, "
            f"ndim(then_expression)={values[0].shape.rank}"
        )
    while condition.shape.rank < values[0].shape.rank:
        condition = expand_axis(condition, -1)
    return where(condition, *values)

boundaries(globals())
