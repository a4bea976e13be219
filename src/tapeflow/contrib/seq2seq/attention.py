"""Attention: scores of a memory for a query, and the cell that reads the memory by them."""

from __future__ import annotations

import math
from collections import namedtuple

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.layers import Dense
from tapeflow.ops.array.construction import one_hot, ones_like, sequence_mask, zeros, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, squeeze, transpose
from tapeflow.ops.array.rows import identity, shape
from tapeflow.ops.control.mapping import scan
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.comparison import where
from tapeflow.ops.math.cumulative import cumprod, cumsum
from tapeflow.ops.math.elementwise import exp, log, rsqrt, square
from tapeflow.ops.math.reduction import reduce_sum
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.softmax import softmax
from tapeflow.ops.random.distributions import normal
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import RNNCell
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

__all__ = [
    "AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention",
    "BahdanauMonotonicAttention", "LuongAttention", "LuongMonotonicAttention", "hardmax",
    "monotonic_attention", "safe_cumprod",
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


def monotonic_attention(p_choose_i, previous_attention, mode):
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


class _Attention(AttentionMechanism):
    """A memory, its keys, and the probabilities of scores."""

    def __init__(
        self, query_layer, memory, probability_fn, memory_sequence_length, memory_layer, score_mask_value,
        custom_key_value_fn=None,
    ):  # fmt: skip
        self.query_layer, self.memory_layer = query_layer, memory_layer
        memory = convert_to_tensor(memory)
        self._lengths = None if memory_sequence_length is None else convert_to_tensor(memory_sequence_length)
        if self._lengths is not None:
            mask = sequence_mask(self._lengths, shape(memory)[1], dtype=memory.dtype)
            memory = memory * expand_dims(mask, -1)
        self.values = memory
        self.keys = self.values if memory_layer is None else memory_layer(self.values)
        if custom_key_value_fn is not None:
            self.keys, self.values = custom_key_value_fn(self.keys, self.values)
        self.dtype = self.keys.dtype
        self.batch_size = self.keys.shape.as_list()[0] or shape(self.keys)[0]
        self._mask_value = -float("inf") if score_mask_value is None else score_mask_value
        self._probability_fn = probability_fn

    @property
    def alignments_size(self):
        return self.keys.shape.as_list()[1] or shape(self.keys)[1]

    @property
    def state_size(self):
        return self.alignments_size

    def initial_alignments(self, batch_size: int, dtype: DTypeLike):
        """The probabilities before the first query: zeros."""
        return zeros([batch_size, self.alignments_size], dtype)

    def initial_state(self, batch_size: int, dtype: DTypeLike):
        """The state before the first query."""
        return self.initial_alignments(batch_size, dtype)

    def _masked(self, score):
        if self._lengths is None:
            return score
        mask = sequence_mask(self._lengths, shape(score)[1])
        return where(mask, score, self._mask_value * ones_like(score))

    def __call__(self, query, state):
        with variable_scope(None, self._scope, [query]):
            score = self._score(query)
        alignments = self._probability_fn(self._masked(score), state)
        return alignments, alignments


def _dense(units, name: str | None, dtype=None):
    return Dense(units, name=name, use_bias=False, **({} if dtype is None else {"dtype": dtype}))


class LuongAttention(_Attention):
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
            _dense(num_units, "memory_layer", dtype), score_mask_value, custom_key_value_fn,
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


class BahdanauAttention(_Attention):
    """v . tanh(W query + U memory) (Bahdanau et al. 2015)."""

    _scope = "bahdanau_attention"

    def __init__(
        self, num_units: int, memory: TensorLike, memory_sequence_length=None, normalize: bool = False,
        probability_fn=None, score_mask_value=None, dtype: DTypeLike | None = None, custom_key_value_fn=None,
        name: str = "BahdanauAttention",
    ):  # fmt: skip
        probability = probability_fn or softmax
        super().__init__(
            _dense(num_units, "query_layer", dtype), memory, lambda score, _: probability(score),
            memory_sequence_length, _dense(num_units, "memory_layer", dtype), score_mask_value,
            custom_key_value_fn,
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


def _monotonic(sigmoid_noise, mode, seed: int):
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
        self._probability_fn = _monotonic(sigmoid_noise, mode, sigmoid_noise_seed)
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
        self._probability_fn = _monotonic(sigmoid_noise, mode, sigmoid_noise_seed)
        self._score_bias_init = score_bias_init


class AttentionWrapperState(
    namedtuple(
        "AttentionWrapperState",
        ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"),
    )
):
    """The state of the cell inside, what it read last, and where it read it."""

    def clone(self, **kwargs):
        """The state with some parts replaced. Raises ValueError for parts of other shapes."""

        def checked(old, new):
            if hasattr(old, "shape") and hasattr(new, "shape") and not isinstance(old, TensorArray):
                if not old.shape.is_compatible_with(new.shape):
                    raise ValueError(f"The shape of the new value is {new.shape}, that of the old {old.shape}")
            return new

        for name, value in kwargs.items():
            nest.map_structure(checked, getattr(self, name), value)
        return self._replace(**kwargs)


class AttentionWrapper(RNNCell):
    """A cell that reads a memory at each step, where its output says (or several memories).

    Args:
      attention_layer_size: the size of what is read and put out; None: the reading as it is.
      alignment_history: whether to keep all probabilities, in a TensorArray of the state.
      output_attention: whether the output is what was read, or what the cell gave.
    """

    def __init__(
        self, cell, attention_mechanism, attention_layer_size=None, alignment_history=False,
        cell_input_fn=None, output_attention=True, initial_cell_state=None, name=None,
        attention_layer=None, attention_fn=None, dtype=None,
    ):  # fmt: skip
        super().__init__(name=name, dtype=dtype)
        many = isinstance(attention_mechanism, (list, tuple))
        self._is_multi = many
        mechanisms = list(attention_mechanism) if many else [attention_mechanism]
        for each in mechanisms:
            if not isinstance(each, AttentionMechanism):
                raise TypeError(
                    f"attention_mechanism must contain only instances of AttentionMechanism, saw type: {type(each)}"
                )
        self.__dict__["_mechanisms"] = mechanisms
        if attention_layer_size is not None and attention_layer is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        if attention_layer_size is not None:
            given = isinstance(attention_layer_size, (list, tuple))
            sizes = list(attention_layer_size) if given else [attention_layer_size]
            if len(sizes) != len(mechanisms):
                raise ValueError(
                    "If provided, attention_layer_size must contain exactly one integer per attention_mechanism"
                )
            self._layers_of_attention = [_dense(size, "attention_layer") for size in sizes]
            self._attention_size = sum(sizes)
        elif attention_layer is not None:
            self._layers_of_attention = (
                list(attention_layer) if isinstance(attention_layer, (list, tuple)) else [attention_layer]
            )
            self._attention_size = sum(
                TensorShape(
                    layer.compute_output_shape(
                        [None, cell.output_size + mechanism.values.shape.as_list()[-1]]
                    )
                ).as_list()[-1]
                for layer, mechanism in zip(self._layers_of_attention, mechanisms)
            )
        else:
            self._layers_of_attention = None
            self._attention_size = sum(m.values.shape.as_list()[-1] for m in mechanisms)
        self._cell = cell
        self._cell_input_fn = cell_input_fn or (lambda inputs, attention: concat([inputs, attention], -1))
        self._attention_fn = attention_fn
        self._output_attention, self._keeps_history = output_attention, alignment_history
        self.__dict__["_initial_cell_state"] = initial_cell_state

    def _one_or_all(self, parts):
        parts = tuple(parts)
        return parts if self._is_multi else parts[0]

    @property
    def output_size(self):
        return self._attention_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self):
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_size,
            alignments=self._one_or_all(m.alignments_size for m in self._mechanisms),
            attention_state=self._one_or_all(m.state_size for m in self._mechanisms),
            alignment_history=self._one_or_all(
                m.alignments_size if self._keeps_history else () for m in self._mechanisms
            ),
        )

    def zero_state(self, batch_size, dtype):
        """The state before the first step."""
        if self._initial_cell_state is not None:
            cell_state = nest.map_structure(identity, self._initial_cell_state)
        else:
            cell_state = self._cell.zero_state(batch_size, dtype)
        alignments = [m.initial_alignments(batch_size, dtype) for m in self._mechanisms]
        return AttentionWrapperState(
            cell_state=cell_state,
            time=zeros([], dtypes.int32),
            attention=zeros([batch_size, self._attention_size], dtype),
            alignments=self._one_or_all(alignments),
            attention_state=self._one_or_all(m.initial_state(batch_size, dtype) for m in self._mechanisms),
            alignment_history=self._one_or_all(
                TensorArray(dtype, size=0, dynamic_size=True, element_shape=a.shape) if self._keeps_history else ()
                for a in alignments
            ),
        )

    def call(self, inputs, state):
        """(what is put out, the next state). Raises TypeError for another kind of state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                f"Expected state to be instance of AttentionWrapperState. Received type {type(state)} instead."
            )
        mixed = self._cell_input_fn(inputs, state.attention)
        output, cell_state = self._cell(mixed, state.cell_state)
        many = self._is_multi
        previous = state.attention_state if many else (state.attention_state,)
        history = state.alignment_history if many else (state.alignment_history,)
        readings, alignments, states, histories = [], [], [], []
        for i, mechanism in enumerate(self._mechanisms):
            layer = self._layers_of_attention[i] if self._layers_of_attention else None
            if self._attention_fn is not None:
                reading, alignment, after = self._attention_fn(mechanism, output, previous[i], layer)
            else:
                alignment, after = mechanism(output, previous[i])
                context = squeeze(matmul(expand_dims(alignment, 1), mechanism.values), [1])
                reading = context if layer is None else layer(concat([output, context], 1))
            readings.append(reading)
            alignments.append(alignment)
            states.append(after)
            histories.append(history[i].write(state.time, alignment) if self._keeps_history else ())
        attention = readings[0] if len(readings) == 1 else concat(readings, 1)
        following = AttentionWrapperState(
            time=state.time + 1,
            cell_state=cell_state,
            attention=attention,
            attention_state=self._one_or_all(states),
            alignments=self._one_or_all(alignments),
            alignment_history=self._one_or_all(histories),
        )
        return (attention if self._output_attention else output), following


