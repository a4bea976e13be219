"""Attention: outputs are sums of values, weighted by how well their keys fit the queries."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import ShapeLike, Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.phases import by_phase
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.engine.weight import scope_of
from tapeflow.keras.layers.core import Dropout
from tapeflow.keras.layers.einsum_dense import EinsumDense
from tapeflow.keras.random import GeneratorOfNoise, NoiseSource
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.ranges import range as range_of
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs, exp
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_sum
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


def _size(x: Tensor, axis: int):
    size = x.shape.as_list()[axis]
    return shape_of(x)[axis] if size is None else size


def masked_scores(scores: Tensor, mask: Tensor):
    """Scores so low where the mask does not hold that their weights vanish."""
    return scores - (65504.0 if scores.dtype.name == "float16" else 1e9) * cast(~mask, scores.dtype)


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
        kept = None if value_mask is None else expand_dims(value_mask, -2)
        if use_causal_mask or self.causal:
            causal = causal_mask(_size(scores, -2), _size(scores, -1))
            kept = causal if kept is None else logical_and(kept, causal)
        if kept is not None:
            scores = masked_scores(scores, kept)
        weights = softmax(scores)
        if self.dropout > 0:
            every = weights
            weights = by_phase(
                training, lambda: self._noise.dropout(every, self.dropout), lambda: every
            )
        result = matmul(weights, value)
        if query_mask is not None:
            result = result * cast(expand_dims(query_mask, -1), result.dtype)
        return (result, weights) if return_attention_scores else result

    def _check(self, inputs: Tensor, mask: Tensor | None):
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
        if mask is not None and (
            not isinstance(mask, list) or len(mask) < 2 or len(mask) > len(inputs)
        ):
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Received: mask={mask}."
            )

    def compute_mask(self, inputs, mask=None):
        return mask[0] if mask else None

    def compute_output_shape(self, input_shape: Sequence[Any]):
        shapes = as_shapes(input_shape)
        return TensorShape([*shapes[0].as_list()[:-1], shapes[1].as_list()[-1]])

    def get_config(self):
        return {**super().get_config(), "dropout": self.dropout}


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
            raise ValueError(
                f'Received: score_mode={score_mode}. Acceptable values are: ["dot", "concat"]'
            )
        self.use_scale, self.score_mode = use_scale, score_mode
        self.scale = self.concat_score_weight = None

    def build(self, input_shape: Sequence[Any]):
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
        if self.use_scale:
            features = as_shapes(input_shape)[1].as_list()[-1]
            self.scale = self.add_weight("scale", [features], initializer="glorot_uniform")
        self.built = True

    def _calculate_scores(self, query: Tensor, key):
        total = tanh(expand_dims(query, -2) + expand_dims(key, -3))
        return reduce_sum(total if self.scale is None else self.scale * total, axis=-1)

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale}


class MultiHeadAttention(Layer):
    """Attention in `num_heads` projections of queries, keys and values (Vaswani et al., 2017).

    Call it with `query`, `value` and, if they differ from the values, `key`; `attention_mask` is `(batch, T, S)`,
    True where attention is allowed, and joined with `query_mask`, `value_mask` and `key_mask`, `(batch, T)` and
    `(batch, S)`, which are by default those that the inputs carry, and, with `use_causal_mask=True`, with one that
    hides later values.

    Input shape: queries `(batch, T, dim)`, values and keys `(batch, S, dim)`.
    Output shape: `(batch, T, dim)`, or the sizes of `output_shape` instead of the last; with
      `return_attention_scores=True` also the weights `(batch, num_heads, T, S)`.

    Args:
      num_heads: the number of heads.
      key_dim: the size of each head for queries and keys.
      value_dim: the size of each head for values; None for `key_dim`.
      dropout: the part of the weights set to 0 while training, from 0 to 1.
      use_bias: whether the projections have biases.
      output_shape: sizes of the output instead of the query's last; None for that one.
      attention_axes: axes attended over; all but the first and the last when None.
      sliding_window: a key is attended to if it is fewer than so many places from the query; None for any.
      flash_attention: accepted as in Keras 3; the result does not depend on it.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      use_gate: multiply what is found by a gate made of the query.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a `sliding_window` that is not a positive integer.

    >>> layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    >>> x = tf.zeros([1, 3, 8])
    >>> y, weights = layer(x, x, return_attention_scores=True)
    >>> print(y.shape, weights.shape)
    (1, 3, 8) (1, 2, 3, 3)
    """

    _only_in_configs = ("query_shape", "key_shape", "value_shape", "softmax_robust_masking")

    def __init__(
        self, num_heads: int, key_dim: int, value_dim: int | None = None, dropout: float = 0.0, use_bias: bool = True,
        output_shape: Sequence[Any] | None = None, attention_axes: Sequence[int] | None = None, sliding_window=None,
        flash_attention=None, kernel_initializer: dict[str, Any] | str = "glorot_uniform",
        bias_initializer: dict[str, Any] | str = "zeros", kernel_regularizer=None, bias_regularizer=None,
        activity_regularizer=None, kernel_constraint=None, bias_constraint=None, use_gate: bool = False,
        seed: int | None = None, **kwargs,
    ):
        super().__init__(**kwargs)
        if sliding_window is not None and not (
            isinstance(sliding_window, int) and sliding_window > 0
        ):
            raise ValueError(
                "`sliding_window` must be `None` or a positive integer. Received: "
                f"sliding_window={sliding_window}"
            )
        self._sliding_window, self._flash_attention = sliding_window, flash_attention
        self._use_gate, self.seed = use_gate, seed
        self._gate_dense = None
        self.supports_masking = True
        self._num_heads, self._key_dim = num_heads, key_dim
        self._value_dim = value_dim or key_dim
        self._dropout = dropout
        self._use_bias = use_bias
        self._output_shape_given = output_shape
        self._output_shape = (output_shape,) if isinstance(output_shape, int) else output_shape
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)
        self._kernel_regularizer = regularizers.get(kernel_regularizer)
        self._bias_regularizer = regularizers.get(bias_regularizer)
        self._kernel_constraint = constraints.get(kernel_constraint)
        self._bias_constraint = constraints.get(bias_constraint)
        self._activity_regularizer = regularizers.get(activity_regularizer)
        if isinstance(attention_axes, int):
            attention_axes = (attention_axes,)
        self._attention_axes = None if attention_axes is None else tuple(attention_axes)
        self._built_from_signature = False
        self.built = True

    def _settings(self):
        return {
            "kernel_initializer": initializers.serialize(self._kernel_initializer),
            "bias_initializer": initializers.serialize(self._bias_initializer),
            "kernel_regularizer": regularizers.serialize(self._kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self._bias_regularizer),
            "kernel_constraint": constraints.serialize(self._kernel_constraint),
            "bias_constraint": constraints.serialize(self._bias_constraint),
            "activity_regularizer": regularizers.serialize(self._activity_regularizer),
        }

    def _projection(self, rank: int, sizes: Sequence[int], name: str, **kwargs):
        """A dense layer from the last axis to a new pair of axes (heads, size)."""
        letters = string.ascii_lowercase
        free, bound, new = letters[: rank - 1], letters[rank - 1], letters[rank : rank + 2]
        return EinsumDense(
            f"{free}{bound},{bound}{new}->{free}{new}",
            output_shape=[*[None] * (rank - 2), *sizes],
            bias_axes=new if self._use_bias else None,
            name=name,
            dtype=self._policy,
            **kwargs,
            **self._settings(),
        )

    def build(self, query_shape, value_shape, key_shape=None):
        """Make the weights for inputs of these shapes; keys have that of the values by default."""
        if self._built_from_signature:
            return
        self._built_from_signature = True
        heads = self._num_heads
        key_shape = value_shape if key_shape is None else key_shape
        q, k, v = (TensorShape(x).as_list() for x in (query_shape, key_shape, value_shape))
        self.__dict__["_built_shapes"] = {"query_shape": q, "key_shape": k, "value_shape": v}
        self._query_dense = self._projection(len(q), (heads, self._key_dim), "query")
        self._key_dense = self._projection(len(k), (heads, self._key_dim), "key")
        self._value_dense = self._projection(len(v), (heads, self._value_dim), "value")
        if self._use_gate:
            self._gate_dense = self._projection(
                len(q), (heads, self._value_dim), "gate", activation="sigmoid"
            )
        rank = len(q)
        axes = self._attention_axes
        self._attention_axes = tuple(range(1, rank - 1)) if axes is None else axes
        self._make_equations(rank + 1)
        self._dropout_layer = Dropout(self._dropout, seed=self.seed)
        outputs = list(self._output_shape) if self._output_shape else [q[-1]]
        letters = string.ascii_lowercase
        free, bound = letters[: rank - 1], letters[rank - 1 : rank + 1]
        new = letters[rank + 1 : rank + 1 + len(outputs)]
        self._output_dense = EinsumDense(
            f"{free}{bound},{bound}{new}->{free}{new}",
            output_shape=[*[None] * (rank - 2), *outputs],
            bias_axes=new if self._use_bias else None,
            name="attention_output",
            dtype=self._policy,
            **self._settings(),
        )
        projected = [
            (self._query_dense, q),
            (self._key_dense, k),
            (self._value_dense, v),
            *([(self._gate_dense, q)] if self._use_gate else []),
            (self._output_dense, [*q[:-1], heads, self._value_dim]),
        ]
        with scope_of(self):
            for layer, shape in projected:
                with name_scope(layer.name):
                    layer.build(TensorShape(shape))
                    layer.built = True
                    layer.__dict__["_input_shape_seen"] = TensorShape(shape)

    def _make_equations(self, rank):
        """Einsums of (batch, ..., heads, size) over the attention axes."""
        letters = string.ascii_lowercase
        target = letters[:rank]
        batch_axes = [i for i in range(rank) if i not in self._attention_axes and i != rank - 1]
        position = rank
        source = ""
        for i in range(rank):
            if i in batch_axes or i == rank - 1:
                source += target[i]
            else:
                source += letters[position]
                position += 1
        scores = "".join(
            [target[i] for i in batch_axes]
            + [target[i] for i in self._attention_axes]
            + [source[i] for i in self._attention_axes]
        )
        self._dot_equation = f"{source},{target}->{scores}"
        self._combine_equation = f"{scores},{source}->{target}"
        count = len(self._attention_axes)
        self._softmax_axes = tuple(range(-count, 0))
        self._mask_dims = count

    @public
    def __call__(self, *args, **kwargs):
        if len(args) > 3 and keras_2():  # whose order has no masks of the inputs
            names = ("attention_mask", "return_attention_scores", "training", "use_causal_mask")
            args, kwargs = args[:3], {**kwargs, **dict(zip(names, args[3:]))}
        return super().__call__(*args, **kwargs)

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        key = value if key is None else key
        masks = [_mask_of(query, query_mask), _mask_of(value, value_mask)]
        masks.append(_mask_of(None if key is value else key, key_mask))
        attention_mask = self._with_masks(query, value, masks, attention_mask, use_causal_mask)
        if not self._built_from_signature:
            self.build(query.shape, value.shape, key.shape)
        gate = None if self._gate_dense is None else self._gate_dense(query)
        query = self._query_dense(query)
        key = self._key_dense(key)
        value = self._value_dense(value)
        query = query * (1.0 / math.sqrt(self._key_dim))
        scores = einsum(self._dot_equation, key, query)
        if attention_mask is not None:
            wanted = len(self._attention_axes) * 2 + 1
            for _ in range(scores.shape.rank - attention_mask.shape.rank):
                attention_mask = expand_dims(attention_mask, -wanted)
            scores = masked_scores(scores, cast(attention_mask, "bool"))
        weights = _softmax_over(scores, self._softmax_axes)
        dropped = self._dropout_layer(weights, training=training)
        found = einsum(self._combine_equation, dropped, value)
        output = self._output_dense(found if gate is None else found * gate)
        return (output, weights) if return_attention_scores else output

    def _with_masks(self, query: Tensor, value: Tensor, masks: Sequence[Any], attention_mask, causal: bool):
        """The attention mask with those of queries, values and keys, and the causal one."""
        found = [expand_dims(cast(mask, "bool"), axis) for mask, axis in zip(masks, (-1, -2, -2)) if mask is not None]
        if causal:
            found.append(causal_mask(_size(query, 1), _size(value, 1)))
        if self._sliding_window is not None:
            found.append(banded_mask(_size(query, 1), _size(value, 1), self._sliding_window))
        for mask in found:
            attention_mask = (
                mask if attention_mask is None else logical_and(cast(attention_mask, "bool"), mask)
            )
        return attention_mask

    def compute_mask(self, inputs: TensorLike, mask: TensorLike | None = None):
        return mask[0] if isinstance(mask, list) else mask

    def compute_output_shape(self, query_shape, value_shape: ShapeLike | None = None, key_shape=None):
        if value_shape is None:
            return super().compute_output_shape(query_shape)
        sizes = TensorShape(query_shape).as_list()
        return TensorShape([*sizes[:-1], *(self._output_shape or sizes[-1:])])

    num_heads = property(lambda self: self._num_heads, doc="The number of heads.")
    key_dim = property(lambda self: self._key_dim, doc="The size of queries and keys of a head.")
    value_dim = property(lambda self: self._value_dim, doc="The size of values of a head.")
    dropout = property(lambda self: self._dropout, doc="The part of weights that is dropped.")
    use_bias = property(lambda self: self._use_bias, doc="Whether projections have biases.")
    attention_axes = property(lambda self: self._attention_axes, doc="The axes attended over.")
    query_dense = property(lambda self: self._query_dense, doc="The projection of queries.")
    key_dense = property(lambda self: self._key_dense, doc="The projection of keys.")
    value_dense = property(lambda self: self._value_dense, doc="The projection of values.")
    output_dense = property(lambda self: self._output_dense, doc="The projection of the output.")

    def _optional_settings(self):
        """Settings that only Keras 3 has, where they differ from the defaults."""
        given = {
            "sliding_window": self._sliding_window,
            "flash_attention": self._flash_attention,
            "use_gate": self._use_gate,
            "seed": self.seed,
        }
        return {name: value for name, value in given.items() if value}

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self._num_heads,
            "key_dim": self._key_dim,
            "value_dim": self._value_dim,
            "dropout": self._dropout,
            "use_bias": self._use_bias,
            "output_shape": self._output_shape_given,
            "attention_axes": self._attention_axes,
            **(self._shapes_in_config() if keras_2() else {}),
            **self._optional_settings(),
            **self._settings(),
        }

    def _shapes_in_config(self):
        """The shapes of the inputs, which Keras 2 makes the weights from; None before they are known."""
        return self.__dict__.get("_built_shapes") or dict.fromkeys(("query_shape", "key_shape", "value_shape"))


def _mask_of(tensor: Tensor | None, given):
    """The mask of an input: the one that a call gives, else the one that the tensor carries."""
    return getattr(tensor, "_keras_mask", None) if given is None else convert_to_tensor(given)


def _softmax_over(x: Tensor, axes: Sequence[int]):
    """The softmax over the last axes together."""
    if len(axes) == 1:
        return softmax(x)
    return exp(x - reduce_logsumexp(x, axis=list(axes), keepdims=True))
