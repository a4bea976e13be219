"""Where functional models begin: `keras.Input`."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings


def make_input(
    shape: Any = None, batch_size: int | None = None, dtype: DTypeLike | None = None, sparse=None, ragged=None,
    batch_shape: Any = None, name: str | None = None, tensor: Tensor | None = None, optional: bool = False, **kwargs,
):
    """`keras.Input`: a symbolic tensor, where data enters a functional model.

    Args:
      shape: the shape of one example, without the batch; None for unknown sizes.
      batch_size: the size of the batch; None for any.
      dtype: the dtype of the data; None for `keras.config.floatx()`.
      sparse: whether the data are `SparseTensor`s.
      ragged: whether the data are `RaggedTensor`s.
      batch_shape: the shape with the size of the batch, instead of `shape` and `batch_size`.
      name: the name of the input, by which data may be given in a dict.
      tensor: a symbolic tensor to be used as the input itself.
      optional: whether None may be passed.
      **kwargs: `batch_input_shape` and `type_spec`, as in Keras 2.

    Returns:
      A `KerasTensor`.

    Raises:
      ValueError: where both shapes are given, or none, and for sparse data that are ragged.

    >>> x = tf.keras.Input(shape=(3,))
    >>> y = tf.keras.layers.Dense(2)(x)
    >>> print(y.shape)
    (None, 2)
    """
    from tapeflow.keras.layers.core.input_layer import InputLayer

    batch_shape = kwargs.pop("batch_input_shape", batch_shape)
    spec = kwargs.pop("type_spec", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments passed to `Input`: {kwargs}")
    if sparse and ragged:
        raise ValueError("Cannot set both `sparse` and `ragged` to `True` in a Keras `Input`.")
    if spec is not None:
        batch_shape, dtype = spec.shape, spec.dtype
        sparse = sparse or type(spec).__name__ == "SparseTensorSpec"
        ragged = ragged or type(spec).__name__ == "RaggedTensorSpec"
    if batch_shape is not None and shape is not None:
        raise ValueError(
            "Only provide the `shape` OR `batch_input_shape` argument to Input, not both."
        )
    if shape is None and batch_shape is None and tensor is None:
        raise ValueError("Please provide to Input a `shape` or a `batch_shape` argument.")
    if tensor is not None:
        batch_shape, dtype = tensor.shape, dtype or tensor.dtype
    elif batch_shape is None:
        shape = TensorShape(shape)
        batch_shape = None if shape.rank is None else [batch_size, *shape.as_list()]
    layer = InputLayer(
        batch_shape=batch_shape,
        dtype=dtype or settings.floatx(),
        sparse=sparse,
        ragged=ragged,
        input_tensor=tensor,
        optional=optional,
        name=name,
    )
    return layer.output


boundaries(globals())
