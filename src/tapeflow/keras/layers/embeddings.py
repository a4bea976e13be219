"""Vectors for integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tapeflow.core import dtypes
from tapeflow.core.annotations import Configurable, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers
from tapeflow.keras.engine import checks
from tapeflow.keras.engine.autocast import plain
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.masking import set_mask
from tapeflow.keras.layers.core.dense import refuse_unknown_kinds
from tapeflow.keras.layers.low_rank import AdaptableWeight, LowRank
from tapeflow.keras.layers.quantized import Quantizable
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.trigonometric import tanh
from tapeflow.ops.nn.embedding import embedding_lookup


class Embedding(LowRank, Quantizable, Layer):
    """A table of trained vectors: integers in [0, input_dim) become vectors of `output_dim` numbers.

    Input shape: integers of any shape; other dtypes are cast to int32.
    Output shape: that of the inputs with a new last axis of `output_dim`.

    Args:
      input_dim: the number of vectors, the largest integer plus 1.
      output_dim: the length of the vectors.
      embeddings_initializer: first values of the table; an initializer or its name.
      embeddings_regularizer: a penalty on the table, added to the model's `losses`; a regularizer, its name or None.
      embeddings_constraint: a function applied to the table after each update; a constraint, its name or None.
      mask_zero: whether the integer 0 is padding, to be skipped by the layers after this one; it has a vector
        nevertheless.
      weights: the table to begin with, an array `(input_dim, output_dim)`, instead of an initializer.
      lora_rank: the number of columns of the factors that are trained instead of the whole weight, as by
        `enable_lora`; None trains the weight.
      lora_alpha: the factors' product counts `lora_alpha / lora_rank` times; None for once.
      quantization_config: must be None; use `quantize` on the built layer.
      **kwargs: `name`, `dtype` and the other arguments of `Layer`; `input_length` is accepted as in Keras 2.

    Raises:
      ValueError: for sizes of 0 or less.

    >>> layer = tf.keras.layers.Embedding(3, 2, embeddings_initializer="ones")
    >>> print(layer(tf.constant([[0, 2]])).numpy())
    [[[1. 1.]
      [1. 1.]]]
    """

    _checkpoint_names: ClassVar[dict[str, str]] = {"embeddings": "_embeddings"}

    embeddings = AdaptableWeight()
    _quantized_name = _adapted_name = "embeddings"

    def __init__(
        self, input_dim: int, output_dim: int, embeddings_initializer: dict[str, Any] | str = "uniform",
        embeddings_regularizer=None, embeddings_constraint=None, mask_zero: bool = False, weights=None,
        lora_rank=None, lora_alpha=None, quantization_config=None, **kwargs,
    ):
        refuse_unknown_kinds(type(self).__name__, quantization_config=quantization_config)
        input_length = kwargs.pop("input_length", None)
        activity_regularizer = kwargs.pop("activity_regularizer", None)
        if weights is not None:
            kwargs["weights"] = weights if isinstance(weights, (list, tuple)) else [weights]
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs and (input_length or keras_2()):
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        checks.whole_and_positive(input_dim, "input_dim")
        checks.whole_and_positive(output_dim, "output_dim")
        if input_dim <= 0 or output_dim <= 0:
            raise ValueError(
                "Both `input_dim` and `output_dim` should be positive, Received "
                f"input_dim = {input_dim} and output_dim = {output_dim}"
            )
        kwargs.setdefault("autocast", False)
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_low_rank(lora_rank, lora_alpha)
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape: Sequence[Any] | None = None):
        self.embeddings = self.add_weight(
            "embeddings",
            [self.input_dim, self.output_dim],
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True
        if self.quantization_mode is not None:
            self._become_quantized()
        self._build_low_rank()

    _group_axis = 1

    def _scaled_axes(self):
        return -1

    def _scales_shape(self):
        return [self.input_dim]

    def _broadcast_scales(self):
        return [self.input_dim, 1]

    def compute_mask(self, inputs: TensorLike, mask: TensorLike | None = None):
        return not_equal(inputs, 0) if self.mask_zero else None

    def call(self, inputs):
        if inputs.dtype != dtypes.int32 and inputs.dtype != dtypes.int64:
            inputs = cast(inputs, dtypes.int32)
        if self.quantization_mode == "int4":
            parts = (None if each is None else plain(each) for each in (self.embeddings, self._scales, self._zeros))
            return self._unpacked(*(None if each is None else embedding_lookup(each, inputs) for each in parts))
        if self._scales is not None:
            rows, scales = embedding_lookup(self.embeddings, inputs), embedding_lookup(plain(self._scales), inputs)
            return cast(rows, self._compute_dtype_object) / expand_dims(cast(scales, self._compute_dtype_object), -1)
        if self.lora_enabled:
            left, right = map(plain, self._factors())
            rows = self._addend(embedding_lookup(left, inputs), right)
            outputs = embedding_lookup(plain(self._embeddings), inputs) + rows
        else:
            outputs = embedding_lookup(plain(self.embeddings), inputs)
        return cast(outputs, self._compute_dtype_object) if self._is_mixed else outputs

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return TensorShape([*TensorShape(input_shape).as_list(), self.output_dim])

    def get_config(self):
        return {
            **super().get_config(),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "embeddings_initializer": initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer": regularizers.serialize(self.embeddings_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "embeddings_constraint": constraints.serialize(self.embeddings_constraint),
            "mask_zero": self.mask_zero,
            "input_length": self.input_length,
            **self._low_rank_config(),
        }


class ReversibleEmbedding(Embedding):
    """An Embedding that also turns vectors back: `call(vectors, reverse=True)` gives a score per integer.

    Input shape: integers of any shape; for `reverse=True` vectors `(batch, ..., output_dim)`.
    Output shape: the shape of the inputs and `output_dim`; for `reverse=True` `(batch, ..., input_dim)`.

    Args:
      input_dim: the number of vectors, the largest integer plus 1.
      output_dim: the length of the vectors.
      tie_weights: score by the embeddings themselves, instead of weights of their own.
      embeddings_initializer: first values of the table; an initializer or its name.
      embeddings_regularizer: a penalty on the table; a regularizer, its name or None.
      embeddings_constraint: a function applied to the table after each update; a constraint, its name or None.
      mask_zero: whether the integer 0 is padding.
      reverse_dtype: the dtype of the scores; None for the computation dtype.
      logit_soft_cap: a bound that scores come near to, by tanh; None for no bound.
      **kwargs: `lora_rank`, `lora_alpha` and the other arguments of `Embedding` and `Layer`.
    """

    def __init__(
        self, input_dim: int, output_dim: int, tie_weights: bool = True, embeddings_initializer: str = "uniform",
        embeddings_regularizer: Configurable | None = None, embeddings_constraint: Configurable | None = None,
        mask_zero: bool = False, reverse_dtype=None, logit_soft_cap=None, **kwargs,
    ):
        super().__init__(
            input_dim,
            output_dim,
            embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer,
            embeddings_constraint=embeddings_constraint,
            mask_zero=mask_zero,
            **kwargs,
        )
        self.__dict__.pop("_batch_input_shape", None)
        self.tie_weights, self.reverse_dtype = tie_weights, reverse_dtype
        self.logit_soft_cap = logit_soft_cap

    def build(self, input_shape=None):
        super().build(input_shape)
        if not self.tie_weights:
            self.reverse_embeddings = self.add_weight(
                "reverse_embeddings",
                [self.output_dim, self.input_dim],
                initializer=self.embeddings_initializer,
            )

    def call(self, inputs, reverse=False):
        if not reverse:
            outputs = super().call(inputs)
            if self.mask_zero:
                set_mask(outputs, not_equal(inputs, 0))
            return outputs
        kernel = transpose(self.embeddings) if self.tie_weights else self.reverse_embeddings
        dtype = self._compute_dtype_object if self.reverse_dtype is None else self.reverse_dtype
        inputs, kernel = cast(inputs, dtype), cast(kernel, dtype)
        scores = tensordot(inputs, kernel, [[inputs.shape.rank - 1], [0]])
        cap = self.logit_soft_cap
        return scores if cap is None else tanh(scores / cap) * cap

    def compute_mask(self, inputs, mask: TensorLike | None = None):
        return None

    def compute_output_shape(self, input_shape: Sequence[Any], reverse: bool = False):
        if reverse:
            return TensorShape([*TensorShape(input_shape).as_list()[:-1], self.input_dim])
        return super().compute_output_shape(input_shape)

    def get_config(self):
        config = super().get_config()
        for name in ("input_length", "activity_regularizer", "batch_input_shape"):
            config.pop(name, None)
        return {
            **config,
            "tie_weights": self.tie_weights,
            "reverse_dtype": self.reverse_dtype,
            "logit_soft_cap": self.logit_soft_cap,
        }
