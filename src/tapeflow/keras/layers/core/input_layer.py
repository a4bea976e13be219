"""`InputLayer`: the entry of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.engine import checks
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.functional.symbolic import KerasTensor, Node


class InputLayer(Layer):
    """The entry of a model: a placeholder for data of a shape and dtype. `keras.Input` makes one.

    Args:
      shape: the shape of one example, without the batch: sizes, None for unknown ones.
      batch_size: the size of the first axis; None for any.
      dtype: the dtype of the data; None for `keras.config.floatx()`.
      sparse: whether the data are `SparseTensor`s.
      ragged: whether the data are `RaggedTensor`s; not together with `sparse`.
      batch_shape: the whole shape with the batch, instead of `shape` and `batch_size`.
      input_tensor: a symbolic tensor to take instead of a new one; its shape and dtype count then.
      optional: whether the model may be called with None in this place.
      name: the name of the layer; "input_layer" with a number by default.
      **kwargs: `input_shape` and `batch_input_shape`, the names that Keras 2 has for `shape` and `batch_shape`.

    Raises:
      ValueError: for other keyword arguments, and for `sparse` together with `ragged`.
    """

    def __init__(
        self, shape: Sequence[Any] | None = None, batch_size: int | None = None, dtype: DTypeLike | None = None,
        sparse: bool | None = None, ragged: bool | None = None, batch_shape: Any = None, input_tensor=None,
        optional: bool = False, name: str | None = None, **kwargs,
    ):
        checks.input_shapes(shape, batch_size, batch_shape, input_tensor, kwargs)
        shape = kwargs.pop("input_shape", shape)
        batch_shape = kwargs.pop("batch_input_shape", batch_shape)
        kwargs.pop("type_spec", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}")
        if sparse and ragged:
            raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
        if input_tensor is not None:
            batch_shape, dtype = input_tensor.shape, dtype or input_tensor.dtype
        if batch_shape is None and shape is not None:
            if isinstance(shape, int):
                shape = (shape,)
            batch_shape = (batch_size, *TensorShape(shape).as_list())
        tensor_name = name
        if name is None:
            name = settings.unique_name("input", zero_based=False) if keras_2() else settings.unique_name("input_layer")
        super().__init__(dtype=dtype, name=name)
        self.built = True
        if batch_shape is not None:
            batch_shape = TensorShape(batch_shape)
            batch_shape = None if batch_shape.rank is None else tuple(batch_shape.as_list())
        self._batch_input_shape = batch_shape
        self.sparse, self.ragged, self.optional = bool(sparse), bool(ragged), optional
        self.is_placeholder = True
        output = input_tensor
        if not isinstance(output, KerasTensor):
            dtype = dtype or settings.floatx()
            output = KerasTensor(batch_shape, dtype, self.sparse, self.ragged, name=name if keras_2() else tensor_name)
        self._nodes.append(Node(self, [], (), {}, output))

    def call(self):
        """Give nothing: there is no computation."""

    @property
    def batch_shape(self):
        """The shape of the data, None for unknown sizes."""
        return self._batch_input_shape

    @property
    def output(self):
        """The symbolic tensor that stands for the data."""
        return self._nodes[0].outputs

    def get_config(self):
        config = {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.output.dtype.name,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }
        return {**config, "optional": True} if self.optional else config
