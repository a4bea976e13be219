"""Attention in which groups of query heads share keys and values (Ainslie et al., 2023)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import constraints, initializers, regularizers, settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.weight import scope_of
from tapeflow.keras.layers.activation import masked_softmax
from tapeflow.keras.layers.attention import (
    banded_mask,
    both,
    causal_mask,
    check_shapes,
    masked_scores,
    refuse_flash,
    require_no_dropout,
    size_of,
)
from tapeflow.keras.layers.core.dropout import Dropout
from tapeflow.keras.layers.einsum_dense import EinsumDense
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.logic import logical_and

_PARTS = {"initializer": initializers, "regularizer": regularizers, "constraint": constraints}


class GroupQueryAttention(Layer):
    """Attention with `num_query_heads` heads for queries, and fewer, `num_key_value_heads`, for keys and values.

    Called as `MultiHeadAttention` is. Keys and values are shared by groups of query heads, which saves memory.

    Input shape: queries `(batch, T, dim)`, values and keys `(batch, S, dim)`.
    Output shape: `(batch, T, dim)`.

    Args:
      head_dim: the size of each head.
      num_query_heads: the number of heads of the queries, a multiple of the next.
      num_key_value_heads: the number of heads of keys and values.
      dropout: the part of the weights set to 0 while training, from 0 to 1.
      use_bias: whether the projections have biases.
      sliding_window: a key is attended to if it is fewer than so many places from the query; None for any.
      flash_attention: must not be True: there is no such kernel; None for `keras.config.is_flash_attention_enabled()`.
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
      ValueError: where the second number of heads does not divide the first, or `sliding_window` is not a positive
        integer.
    """

    _snake_name = "grouped_query_attention"  # by which Keras names it and its part of a file

    def __init__(
        self, head_dim: int, num_query_heads: int, num_key_value_heads: int, dropout: float = 0.0,
        use_bias: bool = True, sliding_window=None, flash_attention=None, kernel_initializer: str = "glorot_uniform",
        bias_initializer: str = "zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
        kernel_constraint=None, bias_constraint=None, use_gate: bool = False, seed: int | None = None, **kwargs,
    ):
        super().__init__(**kwargs)
        if num_query_heads % num_key_value_heads:
            raise ValueError(
                "`num_query_heads` must be divisible by `num_key_value_heads`. Received: "
                f"{num_query_heads} and {num_key_value_heads}"
            )
        if sliding_window is not None and not (
            isinstance(sliding_window, int) and sliding_window > 0
        ):
            raise ValueError(
                "`sliding_window` must be `None` or a positive integer. Received: "
                f"sliding_window={sliding_window}"
            )
        self.supports_masking = True
        self.head_dim, self.num_query_heads = head_dim, num_query_heads
        self.num_key_value_heads = num_key_value_heads
        self.num_repeats = num_query_heads // num_key_value_heads
        self.dropout, self.use_bias, self.sliding_window = dropout, use_bias, sliding_window
        self.use_gate, self.seed = use_gate, seed
        self._flash_attention = flash_attention or settings.is_flash_attention_enabled()
        if self._flash_attention:
            require_no_dropout(dropout)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.__dict__["_made"] = False
        self.built = True

    def _dense(self, equation: str, sizes: Sequence[int | None], bias: str, name: str, **kwargs):
        return EinsumDense(
            equation, sizes, bias_axes=bias if self.use_bias else None, name=name, dtype=self._policy,
            **self._settings(), **kwargs,
        )  # fmt: skip

    def _settings(self):
        return {
            f"{weight}_{part}": module.serialize(getattr(self, f"{weight}_{part}"))
            for part, module in _PARTS.items()
            for weight in ("kernel", "bias")
        }

    def build(self, query_shape, value_shape, key_shape=None):
        """Make the weights for inputs of these shapes; keys have that of the values by default."""
        if self._made:
            return
        self.__dict__["_made"] = True
        shapes = (query_shape, value_shape, value_shape if key_shape is None else key_shape)
        query, value, key = map(TensorShape, shapes)
        queries = (None, self.num_query_heads, self.head_dim)
        others = (None, self.num_key_value_heads, self.head_dim)
        self._query_dense = self._dense("bqm,muh->bquh", queries, "uh", "query")
        self._key_dense = self._dense("bkm,mvh->bkvh", others, "vh", "key")
        if self.use_gate:
            self._gate_dense = self._dense(
                "bqm,muh->bquh", queries, "uh", "gate", activation="sigmoid"
            )
        self._value_dense = self._dense("bkm,mvh->bkvh", others, "vh", "value")
        self._output_dense = self._dense("bquh,uhm->bqm", (None, query[-1]), "m", "attention_output")
        self._dropout_layer = Dropout(self.dropout, seed=self.seed, dtype=self._policy)
        projected = [
            (self._query_dense, query), (self._key_dense, key), (self._value_dense, value),
            *([(self._gate_dense, query)] if self.use_gate else []),
            (self._output_dense, TensorShape([*query[:-1], self.num_query_heads, self.head_dim])),
        ]  # fmt: skip
        with scope_of(self):
            for layer, shape in projected:
                with name_scope(layer.name):
                    layer.build(shape)
                    layer.built = True

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
        if not self._made:
            self.build(query.shape, value.shape, None if key is None else key.shape)
        shared = key is None
        key = value if shared else key
        mask = self._mask(
            query, value, None if shared else key, query_mask, value_mask, key_mask, attention_mask,
            use_causal_mask,
        )  # fmt: skip
        gate = self._gate_dense(query) if self.use_gate else None
        self.__dict__["_return_attention_scores"] = return_attention_scores
        key, value = (
            repeat(x, self.num_repeats, axis=2)
            for x in (self._key_dense(key), self._value_dense(value))
        )
        found, weights = self._compute_attention(self._query_dense(query), key, value, mask, training)
        output = self._output_dense(found if gate is None else found * gate)
        return (output, weights) if return_attention_scores else output

    def _compute_attention(self, query, key, value, attention_mask=None, training=None, use_causal_mask=False):
        """The sums of projected values, and their weights; subclasses may define it in another way."""
        scores_wanted = self.__dict__.get("_return_attention_scores", False)
        refuse_flash(self._flash_attention, scores_wanted)
        mask = attention_mask
        if use_causal_mask:
            mask = both(mask, causal_mask(size_of(query, 1), size_of(value, 1)))
        scores = einsum("bquh,bkuh->buqk", query * cast(1.0 / math.sqrt(self.head_dim), query.dtype), key)
        if mask is not None:
            for _ in range(4 - len(mask.shape)):
                mask = expand_dims(mask, -3)
            mask = cast(mask, "bool")
            if not (self.dropout > 0.0 or scores_wanted):
                # As Keras computes it without an array of weights: equal weights where the mask leaves nothing.
                scores, mask = masked_scores(scores, mask), None
        weights = masked_softmax(scores, mask, -1)
        found = einsum("buqk,bkuh->bquh", self._dropout_layer(weights, training=training), value)
        return found, weights

    def _mask(self, query, value, key, query_mask, value_mask, key_mask, attention_mask, causal):
        """Which keys each query attends to; None for all."""
        found = [] if attention_mask is None else [cast(attention_mask, "bool")]
        given = ((query, query_mask, -1), (value, value_mask, -2), (key, key_mask, -2))
        for tensor, mask, axis in given:
            mask = getattr(tensor, "_keras_mask", None) if mask is None else mask
            if mask is not None:
                found.append(expand_dims(cast(mask, "bool"), axis))
        sizes = [x.shape.as_list()[1] or shape_of(x)[1] for x in (query, value)]
        if causal:
            found.append(causal_mask(*sizes))
        if self.sliding_window is not None:
            found.append(banded_mask(*sizes, self.sliding_window))
        if not found:
            return None
        mask = found[0]
        for other in found[1:]:
            mask = logical_and(mask, other)
        return mask

    def compute_mask(self, inputs: TensorLike, mask: TensorLike | None = None):
        return mask[0] if isinstance(mask, list) else mask

    def compute_output_shape(self, query_shape, value_shape: ShapeLike | None = None, key_shape=None):
        query = TensorShape(query_shape)
        if value_shape is not None:
            value = TensorShape(value_shape)
            if query[-1] != value[-1]:
                raise ValueError(
                    "The last dimension of `query_shape` and `value_shape` must be equal, but are "
                    f"{query[-1]}, {value[-1]}. Received: query_shape={query_shape}, value_shape={value_shape}"
                )
            check_shapes(value_shape, value_shape if key_shape is None else key_shape)
        return query

    def get_config(self):
        names = "head_dim num_query_heads num_key_value_heads dropout use_bias sliding_window use_gate seed"
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in names.split()},
            "flash_attention": self._flash_attention,
            **self._settings(),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
        }
