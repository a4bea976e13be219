"""The cell that reads memories by attention."""

from __future__ import annotations

from collections import namedtuple

from tapeflow.contrib.seq2seq.mechanisms import AttentionMechanism, unbiased
from tapeflow.core import dtypes
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.rows import identity
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.v1.rnn.base import RNNCell

__all__ = ["AttentionWrapper", "AttentionWrapperState"]


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
            self._layers_of_attention = [unbiased(size, "attention_layer") for size in sizes]
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


