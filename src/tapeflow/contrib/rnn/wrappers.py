"""Cells around other cells."""

from __future__ import annotations

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.contrib.rnn.gates import linear
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.structures import nest
from tapeflow.graph.jit_scope import jit_scope
from tapeflow.graph.op_defs.messages import op_def
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.softmax import softmax
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import RNNCell, assert_like_rnncell
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = [
    "AttentionCellWrapper", "CompiledWrapper", "EmbeddingWrapper", "HighwayWrapper", "InputProjectionWrapper",
    "OutputProjectionWrapper",
]  # fmt: skip


class _Around(RNNCell):
    """A cell around another."""

    def __init__(self, cell, reuse=None):
        super().__init__(_reuse=reuse)
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size: int, dtype: DTypeLike):
        return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_Around):
    """Projects the inputs before the cell sees them."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, reuse)
        self._num_proj, self._activation = num_proj, activation

    def call(self, inputs, state):
        projected = linear([inputs], self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """Projects the outputs of a cell."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        self._size, self._activation = output_size, activation

    output_size = property(lambda self: self._size)

    def call(self, inputs, state):
        output, state = self._cell(inputs, state)
        projected = linear([output], self._size)
        return (self._activation(projected) if self._activation else projected), state


class EmbeddingWrapper(_Around):
    """Looks up vectors for the ids that come in."""

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._classes, self._size, self._initializer = embedding_classes, embedding_size, initializer

    def call(self, inputs, state):
        start = self._initializer or get_variable_scope().initializer
        start = start or initializers.random_uniform_initializer(-(3**0.5), 3**0.5)  # of variance 1
        dtype = nest.flatten(state)[0].dtype
        table = get_variable("embedding", [self._classes, self._size], initializer=start, dtype=dtype)
        return self._cell(embedding_lookup(table, reshape(inputs, [-1])), state)


class HighwayWrapper(_Around):
    """Lets a learned share of the inputs pass beside a cell (Srivastava et al. 2015)."""

    def __init__(self, cell, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0):
        super().__init__(cell)
        self._couple, self._bias = couple_carry_transform_gates, carry_bias_init

    def call(self, inputs, state):
        output, state = self._cell(inputs, state)
        depth = inputs.shape.as_list()[-1]
        if output.shape.as_list()[-1] != depth:
            raise ValueError("Expected input and output to have the same size")
        with variable_scope("carry"):
            carry = sigmoid(linear([inputs], depth, bias_start=self._bias))
        if self._couple:
            transform = 1 - carry
        else:
            with variable_scope("transform"):
                transform = sigmoid(linear([inputs], depth, bias_start=-self._bias))
        return inputs * carry + output * transform, state


class AttentionCellWrapper(_Around):
    """A cell that attends to its own last outputs (Bahdanau et al. 2014, Cheng et al. 2016).

    Args:
      attn_length: how many outputs are kept; attn_size: their width, by default that of the cell's output.
      attn_vec_size: the width in which outputs and the state are compared, by default `attn_size`.
      input_size: the width of what the cell takes, by default that of the inputs.
      state_is_tuple: whether states are (state, attention, kept outputs), else these side by side.
    Raises ValueError for a length below one, and for a cell of several states without `state_is_tuple`.
    """

    def __init__(
        self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None,
        state_is_tuple: bool = True, reuse=None,
    ):  # fmt: skip
        assert_like_rnncell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                f"{cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        super().__init__(cell, reuse)
        self._length, self._tuple, self._input_size = attn_length, state_is_tuple, input_size
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._vec_size = self._attn_size if attn_vec_size is None else attn_vec_size

    output_size = property(lambda self: self._attn_size)

    @property
    def _sizes(self):
        return self._cell.state_size, self._attn_size, self._attn_size * self._length

    @property
    def state_size(self):
        return self._sizes if self._tuple else sum(self._sizes)

    def zero_state(self, batch_size: int, dtype: DTypeLike):
        return RNNCell.zero_state(self, batch_size, dtype)

    def call(self, inputs, state):
        state, read, kept = state if self._tuple else split(state, self._sizes, 1)
        kept = reshape(kept, [-1, self._length, self._attn_size])
        depth = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        output, state = self._cell(linear([inputs, read], depth), state)
        query = nest.flatten(state)
        with variable_scope("attention"):
            read = self._attention(query[0] if len(query) == 1 else concat(query, 1), kept)
        with variable_scope("attn_output_projection"):
            output = linear([output, read], self._attn_size)
        kept = reshape(concat([kept[:, 1:], expand_dims(output, 1)], 1), [-1, self._attn_size * self._length])
        return output, (state, read, kept) if self._tuple else concat([state, read, kept], 1)

    def _attention(self, query, kept):
        """What the query reads from the kept outputs: [batch, attn_size]."""
        k = get_variable("attn_w", [1, 1, self._attn_size, self._vec_size])
        v = get_variable("attn_v", [self._vec_size])
        rows = matmul(reshape(kept, [-1, self._attn_size]), reshape(k, [self._attn_size, self._vec_size]))
        keys = reshape(rows, [-1, self._length, self._vec_size])
        scores = reduce_sum(v * tanh(keys + expand_dims(linear([query], self._vec_size), 1)), 2)
        return reduce_sum(expand_dims(softmax(scores), -1) * kept, 1)


class CompiledWrapper(_Around):
    """Marks what a cell does as one piece for the compiler; `compile_stateful` includes random and stateful ops."""

    def __init__(self, cell, compile_stateful: bool = False):
        super().__init__(cell)
        self._compile_stateful = compile_stateful

    def __call__(self, inputs, state, scope=None):
        with jit_scope(compile_ops=True if self._compile_stateful else lambda node: not op_def(node.op).is_stateful):
            return self._cell(inputs, state, scope=scope)
