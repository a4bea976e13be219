"""Attention in several heads: queries, keys and values are projected for each."""

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
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.math.casting import cast


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
        if not keras_2():
            _check_numbers(num_heads, key_dim, value_dim)
        super().__init__(**kwargs)
        if sliding_window is not None and not (
            isinstance(sliding_window, int) and sliding_window > 0
        ):
            raise ValueError(
                "`sliding_window` must be `None` or a positive integer. Received: "
                f"sliding_window={sliding_window}"
            )
        self._sliding_window = sliding_window
        self._flash_attention = flash_attention or settings.is_flash_attention_enabled()
        if self._flash_attention:
            require_no_dropout(dropout)
        self._use_gate, self.seed = use_gate, seed
        self._gate_dense = None
        self.supports_masking = True
        self._num_heads, self._key_dim = num_heads, key_dim
        self._value_dim = value_dim or key_dim
        self._dropout = dropout
        self._use_bias = use_bias
        self._output_shape_given = output_shape
        self._output_shape = _sizes_of_output(output_shape)
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)
        self._kernel_regularizer = regularizers.get(kernel_regularizer)
        self._bias_regularizer = regularizers.get(bias_regularizer)
        self._kernel_constraint = constraints.get(kernel_constraint)
        self._bias_constraint = constraints.get(bias_constraint)
        self._activity_regularizer = regularizers.get(activity_regularizer)
        if isinstance(attention_axes, int):
            attention_axes = (attention_axes,)
        elif attention_axes and not isinstance(attention_axes, (list, tuple)):
            raise ValueError(
                f"`attention_axes` must be an int, list, or tuple.Received: attention_axes={attention_axes}"
            )
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
        check_shapes(value_shape, key_shape)
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
        self._attention_axes = tuple(range(1, rank - 1)) if axes is None else tuple(axis % rank for axis in axes)
        self._make_equations(rank + 1)
        self._dropout_layer = Dropout(self._dropout, seed=self.seed, dtype=self._policy)
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
        self._dot_product_equation = f"{source},{target}->{scores}"
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
        attention_mask = self._compute_attention_mask(query, value, *masks, attention_mask, use_causal_mask)
        if not self._built_from_signature:
            self.build(query.shape, value.shape, key.shape)
        gate = None if self._gate_dense is None else self._gate_dense(query)
        found, weights = self._compute_attention(
            self._query_dense(query), self._key_dense(key), self._value_dense(value), attention_mask, training,
            return_attention_scores,
        )  # fmt: skip
        output = self._output_dense(found if gate is None else found * gate)
        return (output, weights) if return_attention_scores else output

    def _compute_attention(
        self, query, key, value, attention_mask=None, training=None, return_attention_scores=False,
        use_causal_mask=False,
    ):  # fmt: skip
        """The sums of projected values, and their weights; subclasses may define it in another way."""
        refuse_flash(self._flash_attention, return_attention_scores)
        if use_causal_mask:
            attention_mask = both(attention_mask, self._compute_causal_mask(query, value))
        query = query * cast(1.0 / math.sqrt(self._key_dim), query.dtype)
        scores = einsum(self._dot_product_equation, key, query)
        vanish = self._dropout > 0.0 or return_attention_scores or len(query.shape) != 4
        weights = self._masked_softmax(scores, attention_mask, vanish)
        dropped = self._dropout_layer(weights, training=training)
        return einsum(self._combine_equation, dropped, value), weights

    def _masked_softmax(self, attention_scores, attention_mask=None, vanish: bool = True):
        """The weights of scores; `vanish`: with zeros also where the mask leaves nothing, instead of equal weights."""
        if attention_mask is not None:
            wanted = len(self._softmax_axes) * 2 + 1
            for _ in range(len(attention_scores.shape) - len(attention_mask.shape)):
                attention_mask = expand_dims(attention_mask, -wanted)
            attention_mask = cast(attention_mask, "bool")
            if not vanish or keras_2():
                attention_scores, attention_mask = masked_scores(attention_scores, attention_mask), None
        return masked_softmax(attention_scores, attention_mask, self._softmax_axes)

    def _compute_attention_mask(
        self, query, value, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
        use_causal_mask=False,
    ):  # fmt: skip
        """The attention mask with those of queries, values and keys, the causal one, and that of the window."""
        if attention_mask is not None:
            attention_mask = cast(attention_mask, "bool")
        for mask, axis in ((query_mask, -1), (value_mask, -2), (key_mask, -2)):
            if mask is not None:
                attention_mask = both(attention_mask, expand_dims(cast(mask, "bool"), axis))
        if use_causal_mask:
            attention_mask = both(attention_mask, self._compute_causal_mask(query, value))
        if self._sliding_window is not None:
            attention_mask = both(attention_mask, self._compute_sliding_window_mask(query, value))
        return attention_mask

    def _compute_causal_mask(self, query, value=None):
        return causal_mask(size_of(query, 1), size_of(query if value is None else value, 1))

    def _compute_sliding_window_mask(self, query, value=None):
        return banded_mask(size_of(query, 1), size_of(query if value is None else value, 1), self._sliding_window)

    def compute_mask(self, inputs: TensorLike, mask: TensorLike | None = None):
        return mask[0] if isinstance(mask, list) else mask

    def compute_output_shape(self, query_shape, value_shape: ShapeLike | None = None, key_shape=None):
        if value_shape is None:
            return super().compute_output_shape(query_shape)
        check_shapes(value_shape, value_shape if key_shape is None else key_shape)
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


def _check_numbers(num_heads: int, key_dim: int, value_dim: int | None):
    for name, value, wanted in (
        ("num_heads", num_heads, "a positive integer"),
        ("key_dim", key_dim, "a positive integer"),
        ("value_dim", value_dim, "a positive integer or `None`"),
    ):
        if (value is None and name == "value_dim") or (isinstance(value, int) and value > 0):
            continue
        raise ValueError(
            f"Received an invalid value for argument `{name}`, expected {wanted}. Received: {name}={value}"
        )


def _sizes_of_output(output_shape: Any):
    if output_shape is None or isinstance(output_shape, int):
        return (output_shape,) if output_shape else None
    try:
        return tuple(output_shape)
    except TypeError:
        raise ValueError(
            f"Invalid `output_shape`: {output_shape}. When specified, the `output_shape` should be of type tuple, "
            "list, or int."
        ) from None


def _mask_of(tensor: Tensor | None, given):
    """The mask of an input: the one that a call gives, else the one that the tensor carries."""
    return getattr(tensor, "_keras_mask", None) if given is None else convert_to_tensor(given)
