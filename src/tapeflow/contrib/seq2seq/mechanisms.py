"""What scores the places of a memory for a query."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.layers import Dense
from tapeflow.ops.array.construction import ones_like, zeros, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.one_hot import one_hot, sequence_mask
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.mapping import scan
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.cumulative import cumprod, cumsum
from tapeflow.ops.math.elementwise import exp, log, rsqrt, square
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.random.functions import normal
from tapeflow.v1 import initializers
from tapeflow.v1.layers.classes import Layer
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "AttentionMechanism", "BahdanauAttention", "BahdanauMonotonicAttention", "LuongAttention",
    "LuongMonotonicAttention", "hardmax", "monotonic_attention", "safe_cumprod",
]  # fmt: skip


def hardmax(logits: TensorLike, name: str | None = None):
    """A one at the place of the largest, else zeros."""
    logits = convert_to_tensor(logits)
    depth = logits.shape.as_list()[-1] or shape(logits)[-1]
    return one_hot(argmax(logits, -1), depth, dtype=logits.dtype)


def safe_cumprod(x: TensorLike, *args, **kwargs):
    """The cumulative product, by way of logarithms of values not below the smallest positive number."""
    x = convert_to_tensor(x)
    tiny = 1.1754944e-38
    return exp(cumsum(log(clip_by_value(x, tiny, 1.0)), *args, **kwargs))


def monotonic_attention(p_choose_i, previous_attention, mode: str):
    """The attention of a search that only moves on (Raffel et al. 2017). Raises ValueError for another mode."""
    p = convert_to_tensor(p_choose_i)
    previous = convert_to_tensor(previous_attention)
    if mode == "recursive":
        rest = concat([ones_like(p[:, :1]), 1 - p[:, :-1]], 1)
        moved = scan(
            lambda before, now: now[0] * before + now[1],
            [_swapped(rest), _swapped(previous)],
            initializer=zeros_like(p[:, 0]),
        )
        return p * _swapped(moved)
    if mode == "parallel":
        product = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * product * cumsum(previous / clip_by_value(product, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p = p * cumsum(previous, axis=1)
        return p * cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _swapped(x: Tensor):
    return transpose(x, [1, 0])


class AttentionMechanism:
    """Base of what scores a memory: [batch, time, depth]."""

    @property
    def alignments_size(self):
        """How many places the memory has."""
        raise NotImplementedError

    @property
    def state_size(self):
        """The size of the state."""
        raise NotImplementedError


class _BaseAttentionMechanism(AttentionMechanism):
    """A memory, its keys, and the probabilities of scores; mechanisms that programs write derive from it.

    Args:
      query_layer: a layer for queries, or None.
      memory: [batch, time, ...].
      probability_fn: makes probabilities of (scores [batch, time], the last state).
      memory_sequence_length: the number of places of each memory, [batch]; what lies beyond has no weight.
      memory_layer: the layer that makes keys of the memory; None: the memory itself.
      check_inner_dims_defined: whether the axes after time must be known.
      score_mask_value: the score of places beyond the end, by default minus infinity.
      custom_key_value_fn: makes keys and values of (keys, values).
      name: the name scope.
    Raises TypeError for what is not a layer or not callable, ValueError for unknown axes.
    """

    _scope = "attention"

    def __init__(
        self, query_layer: Any, memory: Any, probability_fn: Callable[..., Any],
        memory_sequence_length: TensorLike | None = None, memory_layer: Any = None,
        check_inner_dims_defined: bool = True, score_mask_value: float | None = None,
        custom_key_value_fn: Callable[..., Any] | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self._mask_value = -float("inf") if score_mask_value is None else score_mask_value
        with name_scope(name, "BaseAttentionMechanismInit", [memory]):
            memory = convert_to_tensor(memory, name="memory")
            if check_inner_dims_defined and not memory.shape[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {memory.name} to have fully defined inner dims, but saw shape: {memory.shape}"
                )
            self._lengths = None if memory_sequence_length is None else convert_to_tensor(memory_sequence_length)
            if self._lengths is not None:
                mask = sequence_mask(self._lengths, shape(memory)[1], dtype=memory.dtype)
                memory = memory * expand_dims(mask, -1)
            self._values = memory
            self._keys = self._values if memory_layer is None else memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self.dtype = self._keys.dtype
            self._batch_size = self._keys.shape.as_list()[0] or shape(self._keys)[0]
            self._alignments_size = self._keys.shape.as_list()[1] or shape(self._keys)[1]
        self._set_probability(probability_fn)

    def _set_probability(self, probability_fn: Callable[..., Any]) -> None:
        self._probability_fn = lambda score, previous: probability_fn(self._masked(score), previous)

    query_layer = property(lambda self: self._query_layer)
    memory_layer = property(lambda self: self._memory_layer)
    keys = property(lambda self: self._keys)
    values = property(lambda self: self._values)
    batch_size = property(lambda self: self._batch_size)
    alignments_size = property(lambda self: self._alignments_size)
    state_size = property(lambda self: self._alignments_size)

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> Tensor:
        """The probabilities before the first query: zeros."""
        return zeros([batch_size, self.alignments_size], dtype)

    def initial_state(self, batch_size: Any, dtype: DTypeLike) -> Tensor:
        """The state before the first query."""
        return self.initial_alignments(batch_size, dtype)

    def _masked(self, score: Tensor) -> Tensor:
        if self._lengths is None:
            return score
        mask = sequence_mask(self._lengths, shape(score)[1])
        return where(mask, score, self._mask_value * ones_like(score))

    def __call__(self, query: Tensor, state: Any) -> Any:
        with variable_scope(None, self._scope, [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments

    def _score(self, query: Tensor) -> Tensor:
        raise NotImplementedError("_score")


def unbiased(units, name: str | None, dtype=None):
    """A dense layer without biases."""
    return Dense(units, name=name, use_bias=False, **({} if dtype is None else {"dtype": dtype}))


class LuongAttention(_BaseAttentionMechanism):
    """query . (W memory) (Luong et al. 2015)."""

    _scope = "luong_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length=None, scale: bool = False,
        probability_fn=None, score_mask_value=None, dtype: DTypeLike | None = None, custom_key_value_fn=None,
        name: str = "LuongAttention",
    ):  # fmt: skip
        probability = probability_fn or softmax
        super().__init__(
            None, memory, lambda score, _: probability(score), memory_sequence_length,
            unbiased(num_units, "memory_layer", dtype), True, score_mask_value, custom_key_value_fn, name,
        )  # fmt: skip
        self._num_units, self._scale, self._name = num_units, scale, name

    def _score(self, query):
        if query.shape.as_list()[-1] != self.keys.shape.as_list()[-1]:
            raise ValueError(
                "Incompatible or unknown inner dimensions between query and keys.  Query has units: "
                f"{query.shape.as_list()[-1]}.  Keys have units: {self.keys.shape.as_list()[-1]}.  Perhaps you "
                "need to set num_units to the keys' dimension?"
            )
        score = squeeze(matmul(expand_dims(query, 1), self.keys, transpose_b=True), [1])
        if self._scale:
            score = score * get_variable(
                "attention_g", dtype=query.dtype, initializer=initializers.ones_initializer(), shape=()
            )
        return score


class BahdanauAttention(_BaseAttentionMechanism):
    """v . tanh(W query + U memory) (Bahdanau et al. 2015)."""

    _scope = "bahdanau_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length=None, normalize: bool = False,
        probability_fn=None, score_mask_value=None, dtype: DTypeLike | None = None, custom_key_value_fn=None,
        name: str = "BahdanauAttention",
    ):  # fmt: skip
        probability = probability_fn or softmax
        super().__init__(
            unbiased(num_units, "query_layer", dtype), memory, lambda score, _: probability(score),
            memory_sequence_length, unbiased(num_units, "memory_layer", dtype), True, score_mask_value,
            custom_key_value_fn, name,
        )  # fmt: skip
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def _score(self, query: Tensor):
        processed = expand_dims(self.query_layer(query), 1)
        v = get_variable("attention_v", [self._num_units], dtype=query.dtype)
        if not self._normalize:
            return reduce_sum(v * tanh(self.keys + processed), [2])
        g = get_variable(
            "attention_g", dtype=query.dtype, shape=(),
            initializer=initializers.constant_initializer(math.sqrt(1.0 / self._num_units)),
        )  # fmt: skip
        b = get_variable(
            "attention_b", [self._num_units], dtype=query.dtype,
            initializer=initializers.zeros_initializer(),
        )  # fmt: skip
        normed = g * v * rsqrt(reduce_sum(square(v)))
        return reduce_sum(normed * tanh(self.keys + processed + b), [2])


def _monotonic(sigmoid_noise, mode: str, seed: int):
    def probability(score, previous):
        if sigmoid_noise > 0:
            score = score + sigmoid_noise * normal(shape(score), dtype=score.dtype, seed=seed)
        chosen = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
        return monotonic_attention(chosen, previous, mode)

    return probability


class _Monotonic:
    """What attention that only moves on has besides: it begins at the first place."""

    def initial_alignments(self, batch_size, dtype):
        return one_hot(zeros([batch_size], dtypes.int32), self.alignments_size, dtype=dtype)

    def _score(self, query):
        bias = get_variable(
            "attention_score_bias", dtype=query.dtype, shape=(),
            initializer=initializers.constant_initializer(self._score_bias_init),
        )  # fmt: skip
        return super()._score(query) + bias


class BahdanauMonotonicAttention(_Monotonic, BahdanauAttention):
    """BahdanauAttention that only moves on."""

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length=None, normalize: bool = False,
        score_mask_value=None, sigmoid_noise: float = 0.0, sigmoid_noise_seed=None, score_bias_init: float = 0.0,
        mode: str = "parallel", dtype: DTypeLike | None = None, name: str = "BahdanauMonotonicAttention",
    ):  # fmt: skip
        super().__init__(
            num_units, memory, memory_sequence_length, normalize, None, score_mask_value, dtype, None, name
        )
        self._set_probability(_monotonic(sigmoid_noise, mode, sigmoid_noise_seed))
        self._score_bias_init = score_bias_init


class LuongMonotonicAttention(_Monotonic, LuongAttention):
    """LuongAttention that only moves on."""

    _scope = "luong_monotonic_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length=None, scale: bool = False,
        score_mask_value=None, sigmoid_noise: float = 0.0, sigmoid_noise_seed=None, score_bias_init: float = 0.0,
        mode: str = "parallel", dtype: DTypeLike | None = None, name: str = "LuongMonotonicAttention",
    ):  # fmt: skip
        super().__init__(
            num_units, memory, memory_sequence_length, scale, None, score_mask_value, dtype, None, name
        )
        self._set_probability(_monotonic(sigmoid_noise, mode, sigmoid_noise_seed))
        self._score_bias_init = score_bias_init
