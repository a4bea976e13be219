"""Attention: outputs are sums of values, weighted by how well their keys fit the queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.noise import GeneratorOfNoise, NoiseSource
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.math.trigonometric import tanh
from tapeflow.ops.nn.softmax import softmax


def causal_mask(queries, keys):
    """Bool (1, queries, keys): whether the key is not after the query."""
    rows, columns = range_of(queries), range_of(keys)
    return expand_dims(expand_dims(rows, 1) >= expand_dims(columns, 0), 0)


def banded_mask(queries, keys, window):
    """Bool (1, queries, keys): whether the key is fewer than `window` places from the query."""
    rows, columns = range_of(queries), range_of(keys)
    distance = abs(expand_dims(rows, 1) - expand_dims(columns, 0))
    return expand_dims(distance < window, 0)


def size_of(x: Tensor, axis: int):
    """A size of a tensor: a number where it is known, else a tensor."""
    size = x.shape[axis]
    return shape_of(x)[axis] if size is None else size


def masked_scores(scores: Tensor, mask: Tensor):
    """Scores so low where the mask does not hold that their weights vanish."""
    return scores - (65504.0 if scores.dtype.name == "float16" else 1e9) * cast(~mask, scores.dtype)


def both(mask: Tensor | None, other: Tensor):
    """Where two masks hold; None for the first is a mask that holds everywhere."""
    return other if mask is None else logical_and(mask, other)


def require_no_dropout(dropout: float):
    """Raises ValueError for dropout beside a flash attention."""
    if dropout > 0.0:
        raise ValueError(
            "Dropout is not supported when flash attention is enabled. Please set dropout to 0.0 to use flash "
            "attention."
        )


def refuse_flash(wanted: bool | None, scores: bool):
    """Raises ValueError for a flash attention, which there is none of, and for scores of one."""
    if wanted and scores:
        raise ValueError(
            "Returning attention scores is not supported when flash attention is enabled. Please disable flash "
            "attention to access attention scores."
        )
    if wanted:
        raise ValueError("Flash attention is not supported in tensorflow backend.")


def check_shapes(value_shape: ShapeLike, key_shape: ShapeLike):
    """Raises ValueError for values and keys of other sizes than their last ones, in Keras 3."""
    value, key = tuple(TensorShape(value_shape).as_list()), tuple(TensorShape(key_shape).as_list())
    if value[1:-1] != key[1:-1] and not keras_2():
        raise ValueError(
            "All dimensions of `value` and `key`, except the last one, must be equal. Received: "
            f"value_shape={value} and key_shape={key}"
        )


class _DotAttention(Layer):
    """What Attention and AdditiveAttention share: inputs [query, value] or [query, value, key]."""

    seed_generator = GeneratorOfNoise()

    def __init__(self, dropout: float = 0.0, seed: int | None = None, **kwargs):
        self_causal = kwargs.pop("causal", False)
        super().__init__(**kwargs)
        self.dropout, self.seed = dropout, seed
        self._noise = NoiseSource(seed) if dropout else None
        self.causal = self_causal
        self.supports_masking = True

    def _calculate_scores(self, query: Tensor, key):
        raise TypeError(f"{type(self).__name__} does not say how queries and keys are compared")

    def call(
        self,
        inputs,
        mask=None,
        training=None,
        return_attention_scores=False,
        use_causal_mask=False,
    ):
        self._check(inputs, mask)
        query, value = inputs[:2]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask = mask[0] if mask else None
        value_mask = mask[1] if mask else None
        scores = self._calculate_scores(query, key)
        kept = self._calculate_score_mask(scores, value_mask, use_causal_mask or self.causal)
        result, weights = self._apply_scores(scores, value, kept, training)
        if query_mask is not None:
            result = result * cast(expand_dims(query_mask, -1), result.dtype)
        return (result, weights) if return_attention_scores else result

    def _calculate_score_mask(self, scores: Tensor, v_mask: Tensor | None, use_causal_mask: bool):
        """Where scores count: (1 or batch, queries, keys) for a causal mask, else the mask of the values."""
        if not use_causal_mask:
            return v_mask
        causal = causal_mask(size_of(scores, -2), size_of(scores, -1))
        return causal if v_mask is None else logical_and(expand_dims(v_mask, -2), causal)

    def _apply_scores(self, scores: Tensor, value: Tensor, scores_mask=None, training=False):
        """The sums of values, and their weights: the softmax of the scores."""
        if scores_mask is not None:
            scores = masked_scores(scores, expand_dims(scores_mask, -2) if len(scores_mask.shape) == 2 else scores_mask)
        weights = softmax(scores)
        noise = self._noise
        if noise is not None and self.dropout > 0:
            every = weights
            weights = by_phase(training, lambda: noise.dropout(every, self.dropout), lambda: every)
        return matmul(weights, value if value.dtype.is_floating else cast(value, weights.dtype)), weights

    def _check(self, inputs: Any, mask: Tensor | None):
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or [query, "
                f"value, key]. Received: inputs={inputs}."
            )
        if len(inputs) not in (2, 3):
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, "
                f"value, key]. Received length: {len(inputs)}."
            )
        if mask is not None and not keras_2():
            if not isinstance(mask, list):
                raise ValueError(
                    f"{name} layer mask must be a list, namely [query_mask, value_mask]. Received: mask={mask}."
                )
            if len(mask) not in (2, 3):
                raise ValueError(
                    f"{name} layer accepts mask list of length 2 or 3. Received: inputs={inputs}, mask={mask}."
                )
        elif mask is not None and (not isinstance(mask, list) or len(mask) < 2 or len(mask) > len(inputs)):
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Received: mask={mask}."
            )

    def _check_shapes(self, input_shape: Sequence[Any]):
        if not keras_2():
            many = any(isinstance(shape, (TensorShape, list, tuple)) for shape in input_shape)
            self._check(list(input_shape) if many else input_shape, None)

    def compute_mask(self, inputs, mask=None):
        if not keras_2():
            self._check(inputs, mask)
        return convert_to_tensor(mask[0]) if mask and mask[0] is not None else None

    def compute_output_shape(self, input_shape: Sequence[Any]):
        shapes = as_shapes(input_shape)
        return TensorShape([*shapes[0].as_list()[:-1], shapes[1].as_list()[-1]])

    def get_config(self):
        seed = {} if keras_2() else {"seed": self.seed}
        return {**super().get_config(), "dropout": self.dropout, **seed}


class Attention(_DotAttention):
    """Attention by products (Luong): softmax(query @ key^T) @ value.

    Input shape: a list of queries `(batch, Tq, dim)`, values `(batch, Tv, dim)` and, if they differ from the values,
      keys `(batch, Tv, dim)`.
    Output shape: `(batch, Tq, dim)`; with `return_attention_scores=True` also the weights `(batch, Tq, Tv)`.

    Masks: `mask=[query mask, value mask]` at the call; `use_causal_mask=True` hides later values from each query.

    Args:
      use_scale: multiply the scores by a trained number.
      score_mode: how queries and keys are compared: "dot" for products, "concat" for sums of tanh(query + key).
      dropout: the part of the weights set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for an unknown `score_mode`, and at the call for inputs that are not a list of two or three tensors.

    >>> query, value = tf.zeros([1, 2, 3]), tf.constant([[[2.0, 0.0, 4.0], [4.0, 0.0, 0.0]]])
    >>> print(tf.keras.layers.Attention()([query, value]).numpy())
    [[[3. 0. 2.]
      [3. 0. 2.]]]
    """

    def __init__(
        self, use_scale: bool = False, score_mode: str = "dot", dropout: float = 0.0, seed: int | None = None,
        **kwargs,
    ):
        super().__init__(dropout, seed, **kwargs)
        if score_mode not in ("dot", "concat"):
            if keras_2():
                raise ValueError(f'Received: score_mode={score_mode}. Acceptable values are: ["dot", "concat"]')
            raise ValueError(
                "Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. "
                f"Received: score_mode={score_mode}"
            )
        self.use_scale, self.score_mode = use_scale, score_mode
        self.scale = self.concat_score_weight = None

    def build(self, input_shape: Sequence[Any]):
        self._check_shapes(input_shape)
        if self.use_scale:
            self.scale = self.add_weight("scale", (), initializer="ones")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(
                "concat_score_weight", (), initializer="ones"
            )
        self.built = True

    def _calculate_scores(self, query: Tensor, key):
        if self.score_mode == "dot":
            scores = matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        total = expand_dims(query, -2) + expand_dims(key, -3)
        total = total if self.scale is None else total * self.scale
        return self.concat_score_weight * reduce_sum(tanh(total), axis=-1)

    def get_config(self):
        return {
            **super().get_config(),
            "use_scale": self.use_scale,
            "score_mode": self.score_mode,
        }


class AdditiveAttention(_DotAttention):
    """Attention by sums (Bahdanau): queries and keys are compared by sums of tanh(query + key).

    Input shape: a list of queries `(batch, Tq, dim)`, values `(batch, Tv, dim)` and, if they differ from the values,
      keys `(batch, Tv, dim)`.
    Output shape: `(batch, Tq, dim)`; with `return_attention_scores=True` also the weights `(batch, Tq, Tv)`.

    Args:
      use_scale: multiply the terms of the sums by trained numbers.
      dropout: the part of the weights set to 0 while training, from 0 to 1.
      **kwargs: `seed` and the arguments of `Layer`.
    """

    score_mode = "dot"  # what Keras 3 says of it, as a kind of `Attention`

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs):
        super().__init__(dropout, **kwargs)
        self.use_scale = use_scale
        self.scale = None

    def build(self, input_shape: Sequence[Any]):
        self._check_shapes(input_shape)
        if self.use_scale:
            features = as_shapes(input_shape)[1].as_list()[-1]
            self.scale = self.add_weight("scale", [features], initializer="glorot_uniform")
        self.built = True

    def _calculate_scores(self, query: Tensor, key):
        total = expand_dims(query, -2) + expand_dims(key, -3)
        if not total.dtype.is_floating:
            total = cast(total, self.compute_dtype)
        total = tanh(total)
        return reduce_sum(total if self.scale is None else self.scale * total, axis=-1)

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale}
