"""Stacks of recurrent layers on [time, batch, features], with one vector of parameters, as cuDNN keeps them."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.random.seed import get_seed
from tapeflow.ops.recurrent.cudnn_params import CudnnRNNCanonicalToParams
from tapeflow.ops.recurrent.cudnn_rnn import CudnnRNN, CudnnRNNV3
from tapeflow.v1 import initializers
from tapeflow.v1.layers.classes import Layer

__all__ = ["CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh"]

_DIRECTIONS = ("unidirectional", "bidirectional")
_INPUT_MODES = ("linear_input", "skip_input", "auto_select")


class _CudnnRNN(Layer):
    """Layers one upon another, in one direction or in both.

    Args:
      num_layers, num_units: how many layers, and how wide each is.
      input_mode: "linear_input" projects the inputs; "skip_input" does not, and they are as wide as the layers;
        "auto_select" chooses by the width.
      direction: "unidirectional" or "bidirectional"; outputs of both directions are side by side.
      dropout: the share of a layer's outputs that the next does not see in training.
      seed: of the dropout and of the first weights.
      dtype: float16, float32 or float64.
      kernel_initializer, bias_initializer: of each matrix and of each vector of biases; by default Glorot's
        uniform one, and zeros.
      name: the name of the layer.
    Raises ValueError for other modes, directions and dtypes.
    """

    _mode: str
    _gates: int

    def __init__(
        self, num_layers: int, num_units: int, input_mode: str = "linear_input", direction: str = "unidirectional",
        dropout: float = 0.0, seed: int | None = None, dtype: DTypeLike = dtypes.float32,
        kernel_initializer: Any = None, bias_initializer: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(dtype=dtype, name=name)
        for what, given, known in (
            ("direction", direction, _DIRECTIONS), ("input mode", input_mode, _INPUT_MODES),
        ):  # fmt: skip
            if given not in known:
                raise ValueError(f"Invalid {what}: {given!r}, expecting one of {', '.join(known)}")
        if as_dtype(dtype) not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._kind = as_dtype(dtype)
        self._num_layers, self._num_units, self._dropout, self._seed = num_layers, num_units, dropout, seed
        self._input_mode, self._direction = input_mode, direction
        self._kernel_initializer = kernel_initializer or initializers.glorot_uniform_initializer(seed)
        self._bias_initializer = bias_initializer or initializers.zeros_initializer()
        self._input_size: int | None = None

    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    input_mode = property(lambda self: self._input_mode)
    direction = property(lambda self: self._direction)
    rnn_mode = property(lambda self: self._mode)
    num_dirs = property(lambda self: 1 + _DIRECTIONS.index(self._direction))

    @property
    def input_size(self) -> int:
        """The width of the inputs. Raises ValueError before the layer is built."""
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of the matrices: for each layer and direction those of the inputs, then those of the state."""
        shapes: list[tuple[int, int]] = []
        depth, units = self.input_size, self._num_units
        for _ in range(self._num_layers):
            shapes += ([(units, depth)] * self._gates + [(units, units)] * self._gates) * self.num_dirs
            depth = units * self.num_dirs
        return shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of the vectors of biases, two for each gate."""
        return [[self._num_units]] * (2 * self._gates * self.num_dirs * self._num_layers)

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        """The shapes of the states: [layers times directions, batch, units]."""
        return ([self._num_layers * self.num_dirs, batch_size, self._num_units],)

    def _first_parameters(self, _shape: Any, dtype: DTypeLike | None = None, partition_info: Any = None) -> Tensor:
        weights = [self._kernel_initializer(each, dtype=self._kind) for each in self.canonical_weight_shapes]
        biases = [self._bias_initializer(each, dtype=self._kind) for each in self.canonical_bias_shapes]
        return CudnnRNNCanonicalToParams(
            self._num_layers, self._num_units, self.input_size, weights, biases, rnn_mode=self._mode,
            input_mode=self._input_mode, direction=self._direction,
        )  # fmt: skip

    def build(self, input_shape: Any) -> None:
        found = TensorShape(input_shape)
        if found.rank != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {found.rank}")
        self._input_size = found.as_list()[-1]
        if self._input_size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=3, axes={-1: self._input_size})
        sizes = [a * b for a, b in self.canonical_weight_shapes]
        count = sum(sizes) + self._num_units * len(self.canonical_bias_shapes)
        self.kernel = self.add_weight(
            "opaque_kernel", [count], dtype=self._kind, initializer=self._first_parameters
        )
        self.built = True

    def call(
        self, inputs: TensorLike, initial_state: tuple[TensorLike, ...] | None = None,
        sequence_lengths: TensorLike | None = None, time_major: bool = True, training: bool = True,
    ) -> Any:  # fmt: skip
        """(outputs, states): [time, batch, units times directions], and a tuple of what `state_shape` says.

        Args:
          inputs: [time, batch, features], or [batch, time, features] if not `time_major`.
          initial_state: the states before the first step, a tuple; None: zeros.
          sequence_lengths: the number of steps of each sequence, [batch]; None: all have all steps.
          time_major: whether time is the first axis of inputs, outputs and states' batch the second.
          training: whether dropout acts.
        Raises TypeError for an initial state that is no tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        x = convert_to_tensor(inputs, dtype=self._kind)
        if initial_state is None:
            batch = shape(x)[1 if time_major else 0]
            initial_state = tuple(zeros(stack(each), self._kind) for each in self.state_shape(batch))
        elif not time_major:
            initial_state = tuple(transpose(each, [1, 0, 2]) for each in initial_state)
        h, *rest = (convert_to_tensor(each, dtype=self._kind) for each in initial_state)
        c = rest[0] if rest else zeros([0], self._kind)
        x = x if time_major else transpose(x, [1, 0, 2])
        seed, seed2 = get_seed(self._seed)
        options = {
            "rnn_mode": self._mode, "input_mode": self._input_mode, "direction": self._direction,
            "dropout": self._dropout, "seed": seed or 0, "seed2": seed2 or 0, "is_training": training,
        }  # fmt: skip
        if sequence_lengths is None:
            outputs, h, c, _ = CudnnRNN(x, h, c, self.kernel, **options)
        else:
            outputs, h, c, *_ = CudnnRNNV3(x, h, c, self.kernel, sequence_lengths, **options)
        states = (h, c) if rest else (h,)
        if time_major:
            return outputs, states
        return transpose(outputs, [1, 0, 2]), tuple(transpose(each, [1, 0, 2]) for each in states)


class CudnnLSTM(_CudnnRNN):
    """A stack of LSTMs; its states are h and c."""

    _mode, _gates = "lstm", 4

    def state_shape(self, batch_size: Any) -> tuple[list[Any], ...]:
        return super().state_shape(batch_size) * 2


class CudnnGRU(_CudnnRNN):
    """A stack of GRUs; its state is h."""

    _mode, _gates = "gru", 3


class CudnnRNNTanh(_CudnnRNN):
    """A stack of recurrent layers with tanh; its state is h."""

    _mode, _gates = "rnn_tanh", 1


class CudnnRNNRelu(_CudnnRNN):
    """A stack of recurrent layers with ReLU; its state is h."""

    _mode, _gates = "rnn_relu", 1
