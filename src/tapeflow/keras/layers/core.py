"""Dense and the layers without weights: activations, dropout, shapes, lambdas."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers, settings
from tapeflow.keras.engine import checks
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.functional.symbolic import KerasTensor, Node
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.layers.low_rank import AdaptableWeight, LowRank
from tapeflow.keras.layers.quantized import Quantizable
from tapeflow.keras.noise import GeneratorOfNoise, NoiseSource
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.reductions import reduce_any
from tapeflow.ops.nn.bias import bias_add
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul

if TYPE_CHECKING:
    from tapeflow.keras.regularizers import L2


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


def refuse_unknown_kinds(layer: str, **arguments):
    """Raises ValueError for weights that are quantized from the start, which there are not."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{layer} has no quantized weights: {name} must be None, got {value}.")


def _times(inputs, kernel):
    """The products over the last axis of the inputs."""
    return tensordot(inputs, kernel, [[inputs.shape.rank - 1], [0]])


def _times_scale(of_inputs: Tensor | None, of_kernel: Tensor):
    return of_kernel if of_inputs is None else of_inputs * of_kernel


class Dense(LowRank, Quantizable, Layer):
    """A fully connected layer: activation(inputs @ kernel + bias), over the last axis of the inputs.

    The kernel is made at the first call, when the size of that axis is known. A mask of the inputs is passed on.

    Input shape: `(batch, ..., features)`; the last size must be known.
    Output shape: `(batch, ..., units)`.

    Args:
      units: the number of outputs, an integer above 0.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      lora_rank: the number of columns of the factors that are trained instead of the whole weight, as by
        `enable_lora`; None trains the weight.
      lora_alpha: the factors' product counts `lora_alpha / lora_rank` times; None for once.
      quantization_config: must be None; use `quantize` on the built layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for `units` below 1, and at the first call for inputs of rank 1 or without a known last size.

    >>> layer = tf.keras.layers.Dense(3, kernel_initializer="ones")
    >>> print(layer(tf.constant([[1.0, 2.0]])).numpy())
    [[3. 3. 3.]]
    >>> layer.kernel.shape
    TensorShape([2, 3])
    """

    _checkpoint_names: ClassVar[dict[str, str]] = {"kernel": "_kernel"}

    kernel = AdaptableWeight()

    _plain_call = True

    # Set once the weights are made.
    bias: Any = None

    def __init__(
        self, units: int, activation: Callable[..., Any] | str | None = None, use_bias: bool = True,
        kernel_initializer: dict[str, Any] | str | None = "glorot_uniform",
        bias_initializer: dict[str, Any] | str = "zeros",
        kernel_regularizer: Callable[..., Any] | L2 | None = None,
        bias_regularizer: Callable[..., Any] | None = None, activity_regularizer: str | None = None,
        kernel_constraint=None, bias_constraint=None, lora_rank=None, lora_alpha=None,
        quantization_config=None, **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_low_rank(lora_rank, lora_alpha)
        self._set_quantization_config(quantization_config)
        whole = isinstance(units, numbers.Integral) and not isinstance(units, bool)
        self.units = int(units) if whole or keras_2() else -1
        if self.units < (0 if keras_2() else 1):
            raise ValueError(
                "Received an invalid value for `units`, expected a positive integer. "
                f"Received: units={units}"
            )
        self.activation = activations.get(activation)
        self._activate = None if self.activation is activations.linear else self.activation
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape: Sequence[Any]):
        last = TensorShape(input_shape)[-1]
        last = getattr(last, "value", last)
        if last is None:
            raise ValueError(
                "The last dimension of the inputs to a Dense layer should be defined. Found None. "
                f"Full input shape received: {input_shape}"
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self._begin_quantized()
        self.kernel = self.add_weight(
            "kernel",
            [last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True
        if self.quantization_mode is not None and not self._is_float8:
            self._become_quantized()
        self._build_low_rank()

    def _scaled_axes(self):
        return 0

    def _scales_shape(self):
        return [self.units]

    def _broadcast_scales(self):
        return [1, self.units]

    _has_float8 = True

    def call(self, inputs):
        if inputs.dtype is not self._compute_dtype_object:
            inputs = cast(inputs, self._compute_dtype_object)
        if self._is_float8:
            return self._float8_call(inputs, _times)
        if self._scales is not None:
            outputs = self._integer_product(inputs, -1, _times, _times_scale)
        elif isinstance(inputs, SparseTensor):
            outputs = sparse_dense_matmul(inputs, self.kernel)
        elif inputs.ndim == 2:
            outputs = MatMul(inputs, self.kernel)
        else:
            outputs = tensordot(inputs, self.kernel, [[inputs.ndim - 1], [0]])
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias)
        return outputs if self._activate is None else self._activate(outputs)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.rank is None or shape.as_list()[-1] is None:
            raise ValueError(
                "The last dimension of the input shape of a Dense layer should be defined. Found None. "
                f"Received: input_shape={input_shape}"
            )
        return TensorShape([*shape.as_list()[:-1], self.units])

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
            **self._low_rank_config(),
            **self._quantization_config_entry(),
        }


class SameShape(Layer):
    """A layer whose outputs have the shape of its inputs."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _as_wide_floats(self, x: Tensor):
        """Numbers in a dtype of at least 32 bits, for sums that half precision cannot hold; as they are in Keras 2."""
        if keras_2():
            return self._as_floats(x)
        if x.dtype.is_floating and x.dtype.size > 2:
            return x
        return cast(x, "float64" if self.compute_dtype == "float64" else "float32")

    def _as_floats(self, x):
        """Numbers that are no floats in the dtype that the layer computes in."""
        return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, self.compute_dtype)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return TensorShape(input_shape)


class Activation(SameShape):
    """An activation function as a layer; the outputs have the shape of the inputs.

    Args:
      activation: a function of a tensor, or the name of one in `keras.activations`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.Activation("relu")
    >>> print(layer(tf.constant([-1.0, 0.0, 2.0])).numpy())
    [0. 0. 2.]
    """

    _built_at_init = True
    _plain_call = True

    def __init__(self, activation: str, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Tensor):
        return self.activation(inputs)

    def get_config(self):
        return {**super().get_config(), "activation": activations.serialize(self.activation)}


class ActivityRegularization(SameShape):
    """The identity, which adds l1 * sum(|x|) + l2 * sum(x^2) of its inputs to the losses of the model.

    The penalty is divided by the batch size.

    Args:
      l1: the factor of the absolute values, a number of at least 0.
      l2: the factor of the squares, a number of at least 0.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _built_at_init = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1, self.l2 = l1, l2

    def call(self, inputs: TensorLike):
        return inputs

    def get_config(self):
        config = super().get_config()
        config.pop("activity_regularizer", None)  # made of the others
        return {**config, "l1": self.l1, "l2": self.l2}


class Dropout(SameShape):
    """While training, sets a random part `rate` of the inputs to 0 and multiplies the others by 1 / (1 - rate).

    Outside of training (`training=False`, the default of a call on its own) the inputs are returned as they are. The
    outputs have the shape of the inputs.

    Args:
      rate: the part to set to 0, from 0 to 1.
      noise_shape: the shape of the pattern of zeros, 1 for axes along which it is the same and None for the size of
        the input; None for one of the inputs' shape.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a number outside of 0 to 1.

    >>> layer = tf.keras.layers.Dropout(0.5)
    >>> print(layer(tf.constant([1.0, 2.0])).numpy())
    [1. 2.]
    >>> print(layer(tf.ones([4]), training=True).shape)
    (4,)
    """

    _built_at_init = True
    seed_generator = GeneratorOfNoise()

    def __init__(self, rate: float, noise_shape=None, seed: int | None = None, **kwargs):
        super().__init__(**kwargs)
        checks.part_to_drop(rate)
        self.rate, self.noise_shape, self.seed = rate, checks.noise_shape(noise_shape), seed
        self._noise = NoiseSource(seed) if not isinstance(rate, (int, float)) or rate > 0 else None

    def _noise_shape(self, inputs: Tensor):
        if self.noise_shape is None:
            return None
        sizes = inputs.shape.as_list()
        return [sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)]

    def call(self, inputs, training=None):
        if training is None or training is False:
            return inputs
        if isinstance(self.rate, (int, float)) and not self.rate:
            return inputs
        return by_phase(
            training,
            lambda: self._noise.dropout(inputs, self.rate, self._noise_shape(inputs)),
            lambda: inputs,
        )

    def get_config(self):
        return {
            **super().get_config(),
            "rate": self.rate,
            "noise_shape": self.noise_shape,
            "seed": self.seed,
        }


class BaseSpatialDropout(Dropout):
    """Dropout of whole channels: the shape of the noise is not an argument."""

    def get_config(self):
        if keras_2():
            return super().get_config()
        order = {"data_format": self.data_format} if hasattr(self, "data_format") else {}
        return {"rate": self.rate, "seed": self.seed, **order, "name": self.name, "dtype": self.dtype}


class SpatialDropout1D(BaseSpatialDropout):
    """Dropout of whole channels: a channel is 0 at all steps of an example, or at none.

    Input shape: `(batch, steps, channels)`, which is also the output shape.

    Args:
      rate: the part of the channels to set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      name, dtype: name and computation dtype of the layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(
        self, rate: float, seed: int | None = None, name: str | None = None, dtype: DTypeLike | None = None, **kwargs
    ):
        super().__init__(rate, seed=seed, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _noise_shape(self, inputs: Tensor):
        sizes = inputs.shape.as_list()
        return [sizes[0], 1, sizes[2]]


class SpatialDropout2D(BaseSpatialDropout):
    """Dropout of whole channels of images: a channel is 0 at all pixels of an example, or at none.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first; also the output shape.

    Args:
      rate: the part of the channels to set to 0 while training, from 0 to 1.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      name, dtype: name and computation dtype of the layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(
        self, rate: float, data_format: str | None = None, seed: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(rate, seed=seed, name=name, dtype=dtype, **kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=4)

    def _noise_shape(self, inputs: Tensor):
        sizes = inputs.shape.as_list()
        if self.data_format == "channels_first":
            return [sizes[0], sizes[1], 1, 1]
        return [sizes[0], 1, 1, sizes[3]]


class SpatialDropout3D(BaseSpatialDropout):
    """Dropout of whole channels of volumes: a channel is 0 in the whole volume of an example, or nowhere.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first; also the output shape.

    Args:
      rate: the part of the channels to set to 0 while training, from 0 to 1.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      name, dtype: name and computation dtype of the layer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(
        self, rate: float, data_format: str | None = None, seed: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(rate, seed=seed, name=name, dtype=dtype, **kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=5)

    def _noise_shape(self, inputs: Tensor):
        sizes = inputs.shape.as_list()
        if self.data_format == "channels_first":
            return [sizes[0], sizes[1], 1, 1, 1]
        return [sizes[0], 1, 1, 1, sizes[4]]


class Flatten(Layer):
    """Joins all axes but the batch into one.

    Input shape: `(batch, ...)`. A vector `(batch,)` becomes `(batch, 1)`.
    Output shape: `(batch, product of the other sizes)`.

    Args:
      data_format: "channels_first" moves the channels to the end before, so that the order of the numbers is that of
        "channels_last"; None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> print(tf.keras.layers.Flatten()(tf.zeros([2, 3, 4])).shape)
    (2, 12)
    """

    _plain_call = True

    def __init__(self, data_format: str | None = None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = len(inputs.shape)
        if self.data_format == "channels_first" and rank > 2:
            inputs = transpose(inputs, [0, *range(2, rank), 1])
        if rank == 1:
            return expand_dims(inputs, 1)
        sizes = inputs.shape.as_list()
        rest = sizes[1:]
        if None not in rest:
            return reshape(inputs, [-1 if math.prod(rest) else sizes[0], math.prod(rest)])
        return reshape(inputs, [shape_of(inputs)[0], -1])

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        rest = sizes[1:]
        return TensorShape([sizes[0], None if None in rest else math.prod(rest)])

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class Reshape(Layer):
    """Gives each example a new shape.

    Input shape: `(batch, ...)`.
    Output shape: `(batch, *target_shape)`.

    Args:
      target_shape: the sizes without the batch; one of them may be -1, for what is left.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for more than one -1.

    >>> print(tf.keras.layers.Reshape((2, -1))(tf.zeros([5, 6])).shape)
    (5, 2, 3)
    """

    _plain_call = True

    def __init__(self, target_shape: Sequence[int], **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(int(size) for size in target_shape)
        checks.target_shape(self.target_shape)

    def call(self, inputs: Tensor):
        batch, *sizes = inputs.shape.as_list() if inputs.shape.rank else [None, None]
        target = self.compute_output_shape([batch, *sizes]).as_list()[1:]
        target = [-1 if size is None else size for size in target] if None not in sizes else self.target_shape
        return reshape(inputs, [shape_of(inputs)[0] if batch is None else batch, *target])

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        target = list(self.target_shape)
        if -1 in target:
            rest = sizes[1:]
            known = math.prod(size for size in target if size != -1)
            unknown = None if None in rest else math.prod(rest) // max(known, 1)
            target[target.index(-1)] = unknown
        return TensorShape([sizes[0], *target])

    def get_config(self):
        return {**super().get_config(), "target_shape": self.target_shape}


class Permute(Layer):
    """Puts the axes after the batch into another order.

    Args:
      dims: the axes of the input in the order of the output, counted from 1: `(2, 1)` transposes each example.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: unless `dims` has each of 1, 2, ... once.

    >>> print(tf.keras.layers.Permute((2, 1))(tf.zeros([5, 2, 3])).shape)
    (5, 3, 2)
    """

    _plain_call = True

    def __init__(self, dims: Sequence[int], **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` "
                f"must be consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: TensorLike):
        return transpose(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *[sizes[dim] for dim in self.dims]])

    def get_config(self):
        return {**super().get_config(), "dims": self.dims}


class RepeatVector(Layer):
    """Repeats each vector as the steps of a sequence.

    Input shape: `(batch, features)`.
    Output shape: `(batch, n, features)`.

    Args:
      n: the number of steps, an integer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      TypeError: for `n` that is not an integer.

    >>> print(tf.keras.layers.RepeatVector(2)(tf.constant([[1.0, 2.0]])).numpy())
    [[[1. 2.]
      [1. 2.]]]
    """

    _plain_call = True

    def __init__(self, n: int, **kwargs):
        super().__init__(**kwargs)
        try:
            self.n = operator.index(n)
        except TypeError:
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.") from None
        if self.n <= 0 and not keras_2():
            raise ValueError(f"`n` should be a positive integer. Received: n={n}")
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Tensor):
        return tile(expand_dims(inputs, 1), [1, self.n, 1])

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], self.n, sizes[1]])

    def get_config(self):
        return {**super().get_config(), "n": self.n}


class Identity(SameShape):
    """The inputs, unchanged; tensors and structures of tensors.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _built_at_init = True

    def call(self, inputs: Tensor):
        return nest.map_structure(identity, inputs)


class Masking(SameShape):
    """Marks steps in which all features equal `mask_value` to be skipped by the layers after it, and sets them to 0.

    Input shape: `(batch, steps, ..., features)`, which is also the output shape. The mask has all axes but the last.

    Args:
      mask_value: the number that stands for "no data".
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.Masking(mask_value=-1.0)
    >>> x = tf.constant([[[1.0, 2.0], [-1.0, -1.0]]])
    >>> print(layer.compute_mask(x).numpy())
    [[ True False]]
    >>> print(layer(x).numpy())
    [[[ 1.  2.]
      [-0. -0.]]]
    """

    _built_at_init = True

    def __init__(self, mask_value: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs, mask: TensorLike | None = None):
        return reduce_any(not_equal(inputs, cast(self.mask_value, inputs.dtype)), axis=-1)

    def call(self, inputs: Tensor):
        value = cast(self.mask_value, inputs.dtype)
        kept = reduce_any(not_equal(inputs, value), axis=-1, keepdims=True)
        return inputs * cast(kept, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "mask_value": self.mask_value}
