"""`StackedRNNCells`: several cells, each fed with the output of the one below, as one cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.calling import signature_of
from tapeflow.keras.layers.rnn.cells import first_states, is_number, is_size
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.static import size_of


class StackedRNNCells(Layer):
    """Cells as one: each is fed with the output of the one below. Its state is the tuple of theirs.

    Args:
      cells: cells, each with `call(inputs, states)` and `state_size`, the lowest first.
      **kwargs: `reverse_state_order`, for states in the order of the highest cell first, and the arguments of
        `Layer`.

    Raises:
      ValueError: for a cell without `call` or `state_size`.
    """

    def __init__(self, cells: Sequence[Any], **kwargs):
        for cell in cells:
            if "call" not in dir(cell):
                raise ValueError(
                    f"All cells must have a `call` method. Received cell without a `call` method: {cell}"
                )
            if "state_size" not in dir(cell):
                raise ValueError(
                    "All cells must have a `state_size` attribute. Received cell without a "
                    f"`state_size`: {cell}"
                )
        self_reversed = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = list(cells)
        self.reverse_state_order = self_reversed

    def _ordered(self):
        return self.cells[::-1] if self.reverse_state_order else self.cells

    @property
    def state_size(self):
        """The sizes of the states, cell by cell."""
        return tuple(cell.state_size for cell in self._ordered())

    @property
    def output_size(self):
        """The size of the output of the last cell."""
        last = self.cells[-1]
        if getattr(last, "output_size", None) is not None:
            return last.output_size
        size = last.state_size
        return size if is_size(size) else next(iter(size))

    def get_initial_state(
        self, inputs: Tensor | None = None, batch_size: TensorLike | None = None, dtype: DTypeLike | None = None
    ):
        """The states of the first step, cell by cell."""
        if is_number(inputs):
            inputs, batch_size = None, inputs
        if inputs is not None:
            batch_size, dtype = size_of(inputs, 0), inputs.dtype
        dtype = self._compute_dtype_object if dtype is None else dtype
        return tuple(first_states(cell, batch_size, dtype) for cell in self._ordered())

    def call(self, inputs, states, constants=None, training: bool | Tensor | None = None, **kwargs):
        sizes = self.state_size
        states = list(states)
        if len(states) != len(sizes) or any(
            nest.is_nested(one) == is_size(size) for one, size in zip(states, sizes)
        ):
            flat, states = nest.flatten(states), []
            for size in sizes:
                count = 1 if is_size(size) else len(list(size))
                states.append(flat[0] if is_size(size) and keras_2() else flat[:count])
                flat = flat[count:]
        states = states[::-1] if self.reverse_state_order else states
        new_states = []
        for cell, state in zip(self.cells, states):
            given = dict(kwargs)
            signature = signature_of(cell) if isinstance(cell, Layer) else None
            if constants is not None and signature is not None and "constants" in signature.names:
                given["constants"] = constants
            if signature is not None and signature.takes_training:
                given["training"] = training
            bare = is_size(cell.state_size) and (keras_2() or not nest.is_nested(state))
            state = state if nest.is_nested(state) else [state]
            alone = len(state) == 1 and hasattr(cell, "_is_tf_rnn_cell")
            call = cell if isinstance(cell, Layer) else cell.call
            inputs, state = call(inputs, state[0] if alone else state, **given)
            if bare and nest.is_nested(state):
                state = state[0]
            new_states.append(state)
        return inputs, tuple(new_states[::-1] if self.reverse_state_order else new_states)

    def build(self, input_shape):
        shape = input_shape[0] if isinstance(input_shape, list) else TensorShape(input_shape)
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                with name_scope(cell.name):
                    cell.build(shape)
                    cell.built = True
            size = getattr(cell, "output_size", None)
            if size is None:
                size = cell.state_size if is_size(cell.state_size) else next(iter(cell.state_size))
            shape = TensorShape([TensorShape(shape).as_list()[0], *TensorShape(size).as_list()])
        self.built = True

    def get_config(self):
        config = {**super().get_config(), "cells": [to_config(cell) for cell in self.cells]}
        return {**config, "reverse_state_order": True} if self.reverse_state_order else config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None):
        """Cells from their configs."""
        config = dict(config)
        return cls([deserialize_in("keras.layers", cell, custom_objects) for cell in config.pop("cells")], **config)
