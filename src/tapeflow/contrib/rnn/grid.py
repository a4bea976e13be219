"""LSTMs that run over frequencies as well as over time."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from tapeflow.contrib.rnn.gates import lstm_step, peephole
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.bias import bias_add
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import RNNCell, batch_of, input_depth
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = ["BidirectionalGridLSTMCell", "GridLSTMCell", "TimeFreqLSTMCell"]


def _sharded(name: str, shape: list[int], dtype: DTypeLike, shards: int) -> Tensor:
    """A matrix that is kept as `shards` variables of about as many rows. Raises ValueError for too many."""
    if shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={shards}")
    rows, left = divmod(shape[0], shards)
    parts = [
        get_variable(f"{name}_{i}", [rows + (i < left), *shape[1:]], dtype=dtype) for i in range(shards)
    ]
    return parts[0] if shards == 1 else concat(parts, 0)


def _windows(x: Tensor, first: int, last: int, size: int, skip: int) -> list[Tensor]:
    """Slices of `size` features, `skip` apart, of the features from `first` to before `last`."""
    count = (last - first - size) // skip + 1
    return [x[:, first + i * skip : first + i * skip + size] for i in range(count)]


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that moves a window over the features, and sees its last output below (Sainath & Li 2016).

    Args:
      num_units: the width of the state at each window.
      use_peepholes, cell_clip, forget_bias: as for LSTMCell.
      initializer: of the weights, by default that of the scope.
      num_unit_shards: how many variables hold the matrix.
      feature_size, frequency_skip: the width of the window, and by how much it moves.
    """

    def __init__(
        self, num_units, use_peepholes: bool = False, cell_clip=None, initializer=None, num_unit_shards: int = 1,
        forget_bias: float = 1.0, feature_size=None, frequency_skip: int = 1, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units, self._peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._shards, self._forget_bias = initializer, num_unit_shards, forget_bias
        self._size, self._skip = feature_size, frequency_skip

    output_size = property(lambda self: self._num_units)
    state_size = property(lambda self: 2 * self._num_units)

    def call(self, inputs, state):
        size = self._num_units
        windows = _windows(inputs, 0, input_depth(inputs.shape.with_rank(2)), self._size, self._skip)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            kernel = _sharded("W", [self._size + 2 * size, 4 * size], inputs.dtype, self._shards)
            bias = get_variable("B", [4 * size], dtype=inputs.dtype, initializer=initializers.zeros_initializer())
            seen = None
            if self._peepholes:
                f, i, o = (peephole(f"W_{gate}_diag", size, inputs) for gate in "FIO")
                seen = i, f, o
        below = zeros(stack([batch_of(inputs), size]), inputs.dtype)
        outputs, states = [], []
        for n, window in enumerate(windows):
            c, m = state[:, 2 * n * size : (2 * n + 1) * size], state[:, (2 * n + 1) * size : (2 * n + 2) * size]
            gates = bias_add(matmul(concat([window, m, below], 1), kernel), bias)
            c, below = lstm_step(split(gates, 4, 1), c, self._forget_bias, tanh, seen, self._cell_clip)
            outputs.append(below)
            states += [c, below]
        return concat(outputs, 1), concat(states, 1)


class _Direction:
    """The weights of one of both LSTMs of a grid, along the frequencies or along time."""

    def __init__(self, cell: GridLSTMCell, name: str, block: int, depth: int, dtype: Any) -> None:
        self.gates = "IJO" if cell.coupled else "IJFO"
        width = len(self.gates) * cell.num_units
        self.name, self.block, self.cell = name, block, cell
        self.kernel = _sharded(f"W_{name[0]}_{block}", [depth + 2 * cell.num_units, width], dtype, cell.shards)
        start = initializers.zeros_initializer()
        self.bias = get_variable(f"B_{name[0]}_{block}", [width], dtype=dtype, initializer=start)
        self.peepholes: dict[str, list[Tensor]] = {}

    def make_peepholes(self, like: Tensor) -> None:
        for gate in "IO" if self.cell.coupled else "FIO":
            names = (f"W_{gate}_diag_{self.name}{seen}_{self.block}" for seen in "ft")
            self.peepholes[gate] = [peephole(name, self.cell.num_units, like) for name in names]

    def __call__(self, x: Tensor) -> dict[str, Tensor]:
        """The gates before the sigmoid, by letter."""
        found = split(bias_add(matmul(x, self.kernel), self.bias), len(self.gates), 1)
        return dict(zip(self.gates, found, strict=True))

    def seeing(self, gate: str, x: Tensor, states: Sequence[Tensor]) -> Tensor:
        """A gate that sees the states along the frequencies and along time too."""
        for weights, c in zip(self.peepholes.get(gate, ()), states, strict=False):
            x = x + weights * c
        return x

    def new_state(self, gates: dict[str, Tensor], c: Tensor, states: Sequence[Tensor]) -> Tensor:
        take = sigmoid(self.seeing("I", gates["I"], states))
        keep = 1.0 - take
        if not self.cell.coupled:
            keep = sigmoid(self.seeing("F", gates["F"] + self.cell.forget_bias, states))
        c = keep * c + take * tanh(gates["J"])
        return c if self.cell.clip is None else clip_by_value(c, -self.cell.clip, self.cell.clip)


class GridLSTMCell(RNNCell):
    """Two LSTMs, along time and along the frequencies, at each window of the features (Kalchbrenner et al. 2015).

    Args:
      num_units: the width of each state.
      use_peepholes, cell_clip, forget_bias: as for LSTMCell.
      share_time_frequency_weights: whether both LSTMs have the same weights.
      initializer: of the weights, by default that of the scope.
      num_unit_shards: how many variables hold each matrix.
      feature_size, frequency_skip: the width of the window, and by how much it moves.
      num_frequency_blocks: how many windows there are in each block of features.
      start_freqindex_list, end_freqindex_list: where each block begins, and before which feature it ends.
      couple_input_forget_gates: whether an LSTM forgets as much as it takes.
      state_is_tuple: whether the state is a named tuple, else one tensor.
    Raises ValueError where `num_frequency_blocks` is not given or, when called, does not fit the features.
    """

    def __init__(
        self, num_units, use_peepholes: bool = False, share_time_frequency_weights: bool = False, cell_clip=None,
        initializer=None, num_unit_shards: int = 1, forget_bias: float = 1.0, feature_size=None, frequency_skip=None,
        num_frequency_blocks=None, start_freqindex_list=None, end_freqindex_list=None,
        couple_input_forget_gates: bool = False, state_is_tuple: bool = True, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self.num_units, self.clip, self.forget_bias = num_units, cell_clip, forget_bias
        self.coupled, self.shards = couple_input_forget_gates, num_unit_shards
        self._peepholes, self._shared, self._initializer = use_peepholes, share_time_frequency_weights, initializer
        self._size, self._skip = feature_size, frequency_skip
        self._counts = [int(count) for count in num_frequency_blocks]
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        names = self._state_names()
        self._tuple = namedtuple(f"{self._tuple_name}StateTuple", names) if state_is_tuple else None
        sizes = [num_units] * len(names)
        self._state_size = self._tuple(*sizes) if self._tuple else sum(sizes)
        self._output_size = sum(sizes)

    _tuple_name = "GridLSTM"
    _prefixes: tuple[str, ...] = ("state",)

    output_size = property(lambda self: self._output_size)
    state_size = property(lambda self: self._state_size)
    state_tuple_type = property(lambda self: self._tuple)

    def _state_names(self) -> list[str]:
        return [
            f"{prefix}_f{window:02d}_b{block:02d}_{part}"
            for prefix in self._prefixes
            for block, count in enumerate(self._counts)
            for window in range(count)
            for part in "cm"
        ]

    def call(self, inputs, state):
        return self._joined(self._blocks(self._windows_of(inputs), state, "state"))

    def _joined(self, steps):
        """(output, state) of (outputs, states) for each block."""
        outputs, states = (list(chain.from_iterable(each)) for each in zip(*steps, strict=True))
        return concat(outputs, 1), self._tuple(*states) if self._tuple else concat(states, 1)

    def _blocks(self, blocks, state, prefix: str) -> Iterator[Any]:
        if self._tuple is None:
            names = self._state_names()
            state = dict(zip(names, split(state, len(names), 1), strict=True))
        else:
            state = state._asdict()
        for block, windows in enumerate(blocks):
            names = [f"{prefix}_f{i:02d}_b{block:02d}" for i in range(len(windows))]
            yield self._block(windows, block, [(state[f"{name}_c"], state[f"{name}_m"]) for name in names])

    def _weights(self, block: int, x: Tensor) -> tuple[_Direction, _Direction]:
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            depth = input_depth(x.shape)
            along_freq = _Direction(self, "freq", block, depth, x.dtype)
            along_time = along_freq if self._shared else _Direction(self, "time", block, depth, x.dtype)
            if self._peepholes:
                for each in dict.fromkeys((along_freq, along_time)):
                    each.make_peepholes(x)
        return along_freq, along_time

    def _block(self, windows, block, states):
        freq, time = self._weights(block, windows[0])
        m_freq = c_freq = zeros(stack([batch_of(windows[0]), self.num_units]), windows[0].dtype)
        outputs, kept = [], []
        for window, (c_time, m_time) in zip(windows, states, strict=True):
            x = concat([window, m_time, m_freq], 1)
            gates_freq = freq(x)
            gates_time = gates_freq if self._shared else time(x)
            before = c_freq, c_time
            c_freq = freq.new_state(gates_freq, before[0], before)
            c_time = time.new_state(gates_time, before[1], before)
            after = c_freq, c_time
            m_freq = sigmoid(freq.seeing("O", gates_freq["O"], after)) * tanh(c_freq)
            m_time = sigmoid(time.seeing("O", gates_time["O"], after)) * tanh(c_time)
            outputs += [m_time, m_freq]
            kept += [c_time, m_time]
        return outputs, kept

    def _windows_of(self, inputs, offset: int = 0) -> list[list[Tensor]]:
        """The windows of each block, moved by `offset` features; what lies outside is zero."""
        depth = input_depth(inputs.shape.with_rank(2))
        if offset:
            inputs = pad(inputs, [[0, 0], [0, offset] if offset > 0 else [-offset, 0]])
        moved = max(offset, 0)
        if not self._starts:
            if len(self._counts) != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(self._counts)}")
            bounds = [(0, depth)]
        elif len(self._starts) != len(self._ends):
            raise ValueError(
                f"Length of start and end freqindex_list does not match {len(self._starts)} {len(self._ends)}"
            )
        elif len(self._counts) != len(self._starts):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list "
                f"{len(self._counts)} {len(self._starts)}"
            )
        else:
            bounds = list(zip(self._starts, self._ends, strict=True))
        blocks = [_windows(inputs, a + moved, b + moved, self._size, self._skip) for a, b in bounds]
        for count, windows in zip(self._counts, blocks, strict=True):
            if len(windows) != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {len(windows)}, please check the input "
                    "size and filter config are correct."
                )
        return blocks


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A GridLSTMCell from the lowest window to the highest, and another one back.

    `backward_slice_offset` moves the windows of the second one by a number of features.
    """

    def __init__(
        self, num_units, use_peepholes: bool = False, share_time_frequency_weights: bool = False, cell_clip=None,
        initializer=None, num_unit_shards: int = 1, forget_bias: float = 1.0, feature_size=None, frequency_skip=None,
        num_frequency_blocks=None, start_freqindex_list=None, end_freqindex_list=None,
        couple_input_forget_gates: bool = False, backward_slice_offset: int = 0, reuse=None,
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer, num_unit_shards,
            forget_bias, feature_size, frequency_skip, num_frequency_blocks, start_freqindex_list,
            end_freqindex_list, couple_input_forget_gates, True, reuse,
        )  # fmt: skip
        self._offset = int(backward_slice_offset)

    _tuple_name = "BidirectionalGridLSTM"
    _prefixes = ("fwd_state", "bwd_state")

    def call(self, inputs, state):
        with variable_scope("fwd"):
            steps = list(self._blocks(self._windows_of(inputs), state, "fwd_state"))
        back = [windows[::-1] for windows in self._windows_of(inputs, self._offset)]
        with variable_scope("bwd"):
            steps += self._blocks(back, state, "bwd_state")
        return self._joined(steps)
