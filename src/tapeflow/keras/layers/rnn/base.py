"""`tf.keras.layers.RNN`: a cell run over the steps of sequences."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.public import public
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import regularizers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.calling import signature_of
from tapeflow.keras.engine.functional.symbolic import KerasTensor
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.engine.shapes import as_shapes
from tapeflow.keras.layers.rnn.cells import first_states, flat_sizes, is_number, is_size, map_sizes
from tapeflow.keras.layers.rnn.loop import rnn
from tapeflow.keras.layers.rnn.stacked import StackedRNNCells
from tapeflow.keras.old_names import takes_old_names
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.variable import Variable
from tapeflow.ops.static import size_of


class RNN(Layer):
    """Runs a cell, or a list of cells one on top of the other, over the steps of sequences.

    Input shape: `(batch, steps, ...)`; the initial states may be given at the call, as `initial_state`.
    Output shape: that of the cell's output, with `return_sequences` `(batch, steps, ...)`; with `return_state` then
      the states.

    Args:
      cell: a layer with `call(inputs_t, states_t) -> (outputs_t, new states)` and `state_size`.
      return_sequences: give the outputs of all steps, not only of the last.
      return_state: give the final states after the output.
      go_backwards: run from the last step to the first.
      stateful: begin with the states in which the last batch ended; the batch size must be fixed.
      unroll: run without a loop even in graphs.
      zero_output_for_mask: give zeros instead of the last output at steps that the mask leaves out.
      **kwargs: `time_major`, for inputs and outputs `(steps, batch, ...)`, and the arguments of `Layer`.

    Raises:
      ValueError: for a cell without `call` or `state_size`.

    >>> cells = [tf.keras.layers.LSTMCell(4), tf.keras.layers.LSTMCell(2)]
    >>> print(tf.keras.layers.RNN(cells)(tf.zeros([1, 3, 5])).shape)
    (1, 2)
    """

    _computes_floats = False  # whether integers become floats: a cell of the program's may take them as they are

    def __init__(
        self, cell: Any, return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False,
        stateful: bool = False, unroll: bool = False, zero_output_for_mask: bool = False, **kwargs,
    ):
        time_major = kwargs.pop("time_major", False)
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if "call" not in dir(cell):
            raise ValueError(
                f"Argument `cell` should have a `call` method. The RNN was passed: cell={cell}"
            )
        if "state_size" not in dir(cell):
            raise ValueError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one integer "
                f"per RNN state). Received: cell={cell}"
            )
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (
                kwargs.pop("input_length", None),
                kwargs.pop("input_dim", None),
            )
        super().__init__(**kwargs)
        self.zero_output_for_mask = zero_output_for_mask
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful = go_backwards, stateful
        self.unroll, self.time_major = unroll, time_major
        self.cell = cell
        self.supports_masking = True
        attributes = self.__dict__
        attributes["_states"] = None
        attributes["state_spec"] = attributes["constants_spec"] = None
        attributes["_num_constants"] = 0

    # States

    @property
    def states(self):
        """The states that a stateful layer goes on with; Nones before the first call."""
        if self._states is None:
            states = map_sizes(lambda _: None, self.cell.state_size)
            return [states] if is_size(self.cell.state_size) else states
        return self._states

    @states.setter
    def states(self, states: Sequence[Tensor]):
        self.__dict__["_states"] = states

    @takes_old_names(inputs="batch_size")
    def get_initial_state(self, batch_size: TensorLike):
        """Make the states of the first step: the cell's, zeros if it says nothing.

        Args:
          batch_size: the number of sequences; or, as in Keras 2, the sequences.

        Returns:
          A list of the states.
        """
        dtype = getattr(self.cell, "_compute_dtype_object", self._compute_dtype_object)
        if not is_number(batch_size):
            first = nest.flatten(batch_size)[0]
            batch_size, dtype = size_of(first, 1 if self.time_major else 0), first.dtype
        states = first_states(self.cell, batch_size, dtype)
        return list(states) if nest.is_nested(states) else [states]

    def _first_states(self, inputs: Tensor):
        """The states of the first step for these inputs, of what a program's class may define for either Keras."""
        if "batch_size" not in inspect.signature(self.get_initial_state).parameters:
            return self.get_initial_state(inputs)
        own = type(self).get_initial_state.__module__.startswith("tapeflow.")
        first = nest.flatten(inputs)[0]
        return self.get_initial_state(inputs if own else size_of(first, 1 if self.time_major else 0))

    @property
    def state_size(self):
        """The sizes of the states, a list."""
        return [self.cell.state_size] if self.single_state else list(self.cell.state_size)

    @property
    def single_state(self):
        """Whether there is one state alone."""
        return is_size(self.cell.state_size)

    def reset_state(self):
        """Sets the states of a stateful layer to zeros."""
        self.reset_states()

    def inner_loop(self, sequence, initial_state: Tensor, mask, training: bool | Tensor = False):
        """Run the cell over a sequence.

        Args:
          sequence: the inputs, `(batch, steps, ...)`.
          initial_state: the states of the first step.
          mask: which steps count, a bool tensor `(batch, steps)`, or None.
          training: whether the model is being trained.

        Returns:
          (last output, all outputs, final states).
        """
        step, sequence = self._step_function(sequence, training, 0)
        return rnn(
            step,
            sequence,
            list(initial_state) if nest.is_nested(initial_state) else [initial_state],
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
            return_all_outputs=self.return_sequences,
        )

    def reset_states(self, states=None):
        """Sets the states of a stateful layer, to zeros when None. Raises ValueError for wrong ones."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        spec = None if self.input_spec is None else nest.flatten(self.input_spec)[0]
        batch = (
            None if spec is None or spec.shape is None else spec.shape[1 if self.time_major else 0]
        )
        if not batch:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your "
                "input tensors: \n- If using a Sequential model, specify the batch size by passing a "
                "`batch_input_shape` argument to your first layer.\n- If using the functional API, "
                "specify the batch size by passing a `batch_shape` argument to your Input layer."
            )
        sizes = flat_sizes(self.cell.state_size)
        if self._states is None:
            made = [
                Variable(zeros([batch, *TensorShape(size).as_list()], self._compute_dtype_object))
                for size in sizes
            ]
            packed = _pack_sizes(self.cell.state_size, made)
            self.__dict__["_states"] = list(packed) if nest.is_nested(packed) else [packed]
            if states is None:
                return
        variables = nest.flatten(self._states)
        if states is None:
            values = [np.zeros(variable.shape.as_list()) for variable in variables]
        else:
            values = nest.flatten(states)
            if len(values) != len(variables):
                raise ValueError(
                    f"Layer {self.name} expects {len(variables)} states, but it received "
                    f"{len(values)} state values. Input received: {states}"
                )
        for index, (variable, value) in enumerate(zip(variables, values)):
            if tuple(np.shape(value)) != tuple(variable.shape.as_list()):
                raise ValueError(
                    f"State {index} is incompatible with layer {self.name}: expected "
                    f"shape={tuple(variable.shape.as_list())}, found shape={np.shape(value)}"
                )
            variable.assign(np.asarray(value, variable.dtype.as_numpy_dtype))

    # Shapes and masks

    def compute_output_shape(self, input_shape):
        shape = input_shape
        if isinstance(shape, list) and shape and isinstance(shape[0], (list, tuple, TensorShape)):
            shape = shape[0]
        sizes = TensorShape(shape).as_list()
        batch, steps = (sizes[1], sizes[0]) if self.time_major else (sizes[0], sizes[1])

        def with_batch(size):
            return TensorShape([batch, *TensorShape(size).as_list()])

        def output_shape(size):
            size = TensorShape(size).as_list()
            if not self.return_sequences:
                return TensorShape([batch, *size])
            return TensorShape([steps, batch, *size] if self.time_major else [batch, steps, *size])

        size = getattr(self.cell, "output_size", None)
        state_sizes = self.cell.state_size
        if size is None:
            size = state_sizes if is_size(state_sizes) else next(iter(state_sizes))
        outputs = map_sizes(output_shape, size)
        if not self.return_state:
            return outputs
        states = [state_sizes] if is_size(state_sizes) else list(state_sizes)
        return [outputs, *[map_sizes(with_batch, one) for one in states]]

    def compute_mask(self, inputs: TensorLike, mask: TensorLike | None = None):
        mask = nest.flatten(mask)[0]
        mask = mask if self.return_sequences else None
        return [mask, *[None for _ in self.states]] if self.return_state else mask

    def build(self, input_shape):
        shapes = as_shapes(input_shape)
        if isinstance(shapes, list):
            shapes = shapes[0]
        specs = nest.map_structure(self._spec_of, shapes)
        self.input_spec = [specs, *(self._input_spec or ())[1:]]
        step_shape = nest.map_structure(self._shape_of_step, shapes)
        if isinstance(self.cell, Layer) and not self.cell.built:
            with name_scope(self.cell.name):
                self.cell.build(step_shape)
                self.cell.built = True
        wanted = [
            TensorShape([None, *TensorShape(s).as_list()]) for s in flat_sizes(self.cell.state_size)
        ]
        if self.state_spec is None:
            self.__dict__["state_spec"] = [InputSpec(shape=shape) for shape in wanted]
        else:
            _check_states(self.cell.state_size, wanted, self.state_spec)
        if self.stateful:
            self.reset_states()
        self.built = True

    def _spec_of(self, shape):
        sizes = shape.as_list()
        batch, steps = (1, 0) if self.time_major else (0, 1)
        if not self.stateful:
            sizes[batch] = None
        sizes[steps] = None
        return InputSpec(shape=sizes)

    def _shape_of_step(self, shape):
        sizes = shape.as_list()
        return TensorShape([sizes[1], *sizes[2:]] if self.time_major else [sizes[0], *sizes[2:]])

    # Calls

    @public
    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        inputs, initial_state, constants = standardize_args(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        extra, specs = [], []
        if initial_state is not None:
            extra += initial_state
            self.__dict__["state_spec"] = nest.map_structure(_spec_of_state, initial_state)
            specs += self.state_spec
        if constants is not None:
            extra += constants
            self.__dict__["constants_spec"] = [InputSpec(shape=x.shape) for x in constants]
            self.__dict__["_num_constants"] = len(constants)
            specs += self.constants_spec
        if not any(isinstance(x, KerasTensor) for x in nest.flatten(extra)):
            if initial_state is not None:
                kwargs["initial_state"] = initial_state
            if constants is not None:
                kwargs["constants"] = constants
            return super().__call__(inputs, **kwargs)
        # Symbolic states are inputs of the model, so they go in with the sequence.
        attributes = self.__dict__
        attributes["_input_spec"] = [
            *(self._input_spec or [None])[:1],
            *[None for _ in nest.flatten(extra)],
        ]
        try:
            return super().__call__([inputs, *extra], **kwargs)
        finally:
            attributes["_input_spec"] = attributes["_input_spec"][:1]

    def call(self, inputs, mask=None, training=None, initial_state=None, constants=None):
        if self._computes_floats and isinstance(inputs, Tensor) and not inputs.dtype.is_floating and not keras_2():
            inputs = cast(inputs, self.compute_dtype)
        fresh = initial_state is None and not self.stateful and not isinstance(inputs, (list, tuple))
        fresh = fresh and type(self).get_initial_state is RNN.get_initial_state
        inputs, initial_state, constants = self._with_states(inputs, initial_state, constants)
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        self._reset_dropout()
        first = nest.flatten(inputs)[0]
        if self.unroll and first.shape.as_list()[0 if self.time_major else 1] is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential "
                "model, specify the time dimension by passing an `input_shape` or `batch_input_shape` "
                "argument to your first layer. If your first layer is an Embedding, you can also use "
                "the `input_length` argument.\n- If using the functional API, specify the time "
                "dimension by passing a `shape` or `batch_shape` argument to your Input layer."
            )
        found = None
        if not constants:
            from tapeflow.keras.layers.rnn import fused

            found = fused.run(self, inputs, initial_state, mask, training, fresh)
        last, outputs, states = found or self._by_steps(
            inputs, initial_state, constants, mask, training
        )
        if self.stateful:
            for old, new in zip(nest.flatten(self._states), nest.flatten(states)):
                old.assign(new)
        output = outputs if self.return_sequences else last
        if not self.return_state:
            return output
        found = [output, *(states if isinstance(states, (list, tuple)) else [states])]
        return found if keras_2() else tuple(found)

    def _by_steps(self, inputs: Tensor, initial_state: Sequence[Tensor], constants, mask: Tensor | None, training):
        """(last output, all outputs, final states) by a loop over the steps."""
        step, sequence = self._step_function(inputs, training, len(constants or ()))
        return rnn(
            step,
            sequence,
            initial_state,
            go_backwards=self.go_backwards,
            mask=mask,
            constants=constants,
            unroll=self.unroll,
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
            return_all_outputs=self.return_sequences,
        )

    def _step_function(self, inputs: Tensor, training: bool | Tensor, n_constants: int):
        """What the loop calls at each step, and the sequence it goes over."""
        cell = self.cell
        call = cell if isinstance(cell, Layer) else cell.call
        takes_training = isinstance(cell, Layer) and signature_of(cell).takes_training
        kwargs = {"training": training} if takes_training else {}
        # The cells of 1.x want their only state bare.
        alone = hasattr(cell, "_is_tf_rnn_cell")

        def step(inputs_t: Tensor, states):
            if n_constants:
                states, kwargs["constants"] = states[:-n_constants], states[-n_constants:]
            states = states[0] if len(states) == 1 and alone else states
            output, new_states = call(inputs_t, states, **kwargs)
            return output, list(new_states) if nest.is_nested(new_states) else [new_states]

        return step, inputs

    def _with_states(self, inputs, initial_state, constants):
        """The sequence, and the states and constants to begin with."""
        if isinstance(inputs, (list, tuple)) and not hasattr(inputs, "_fields"):
            inputs, initial_state, constants = standardize_args(
                inputs, initial_state, constants, self._num_constants
            )
        if self.stateful:
            if initial_state is None or self._stateful_goes_on:
                initial_state = self.states
            initial_state = nest.map_structure(
                lambda v: v.read_value() if isinstance(v, Variable) else v, initial_state
            )
        elif initial_state is None:
            initial_state = self._first_states(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(
                f"Layer {self.name} expects {len(self.states)} state(s), but it received "
                f"{len(initial_state)} initial state(s). Input received: {inputs}"
            )
        return inputs, list(initial_state), constants

    _stateful_goes_on = False

    def _reset_dropout(self):
        for cell in getattr(self.cell, "cells", [self.cell]):
            if hasattr(cell, "reset_dropout_mask"):
                cell.reset_dropout_mask()
                cell.reset_recurrent_dropout_mask()

    def get_config(self):
        config = {
            **super().get_config(),
            "return_sequences": self.return_sequences,
            "return_state": self.return_state,
            "go_backwards": self.go_backwards,
            "stateful": self.stateful,
            "unroll": self.unroll,
            "time_major": self.time_major,
        }
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = True
        if type(self).get_config is RNN.get_config or not isinstance(self, CellLayer):
            config["cell"] = to_config(self.cell)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None):
        """A layer from the constructor's arguments."""
        config = dict(config)
        cell = deserialize_in("keras.layers", config.pop("cell"), custom_objects)
        constants = config.pop("num_constants", 0)
        layer = cls(cell, **config)
        layer.__dict__["_num_constants"] = constants
        return layer


_LAYER_SETTINGS = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll")


class CellLayer(RNN):
    """An RNN that makes its cell, and has the cell's settings as its own attributes."""

    _cell_class: type
    _computes_floats = True
    _has_unroll = True  # whether configs say of it if its loop is unrolled

    def _make(self, arguments, cell=None):
        """`arguments`: the locals of the constructor. What is not the layer's own goes to the cell."""
        kwargs = arguments.pop("kwargs")
        arguments.pop("self")
        arguments.pop("__class__", None)
        activity_regularizer = arguments.pop("activity_regularizer")
        own = {name: arguments.pop(name) for name in _LAYER_SETTINGS if name in arguments}
        own["time_major"] = kwargs.pop("time_major", False)
        # Which kernels run is decided by what is asked for, never by name.
        use_cudnn = arguments.pop("use_cudnn", kwargs.pop("use_cudnn", "auto"))
        if "implementation" in kwargs:
            arguments["implementation"] = kwargs.pop("implementation")
        cell_class = cell or self._cell_class
        made = cell_class(
            **arguments,
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable", True),
            name=_cell_name(self._cell_class),
        )
        self.__dict__["_settings"] = tuple(
            name for name in made.get_config() if name not in ("name", "trainable", "dtype")
        )
        RNN.__init__(self, made, **own, **kwargs)
        self.use_cudnn = use_cudnn
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = [InputSpec(ndim=3)]

    def _step_function(self, inputs: Tensor, training, n_constants: int):
        cell = self.cell
        if n_constants:
            return super()._step_function(inputs, training, n_constants)
        sequence = cell.project(inputs, training, 0 if self.time_major else 1)
        return lambda projected, states: cell.step(projected, states, training), sequence

    def get_config(self):
        config = super().get_config()
        config.pop("cell", None)
        of_cell = self.cell.get_config()
        config |= {name: of_cell[name] for name in self._settings if self._takes(name)}
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        if not self._has_unroll:
            config.pop("unroll")
        return config

    def _takes(self, name):
        names: set[str] = set()
        for cls in type(self).__mro__:
            if "__init__" in vars(cls):
                names.update(cls.__init__.__code__.co_varnames)
            if CellLayer in cls.__bases__:
                break
        return name in names or (name == "implementation" and "activation" in names)

    @classmethod
    def from_config(cls, config):
        """A layer from the constructor's arguments."""
        if config.get("implementation") == 0:
            config = {**config, "implementation": 1}
        return cls(**config)


def of_cell(names: str):
    """A class decorator: settings of the cell as attributes of the layer."""

    def decorate(cls):
        for name in names.split():
            if not hasattr(cls, name):
                doc = f"The cell's {name}."
                setattr(cls, name, property(lambda self, n=name: getattr(self.cell, n), doc=doc))
        return cls

    return decorate


SETTINGS = (
    "units activation use_bias kernel_initializer recurrent_initializer bias_initializer "
    "kernel_regularizer recurrent_regularizer bias_regularizer kernel_constraint recurrent_constraint "
    "bias_constraint dropout recurrent_dropout seed implementation"
)


def _cell_name(cell_class: type):
    return {"SimpleRNNCell": "simple_rnn_cell", "GRUCell": "gru_cell"}.get(
        cell_class.__name__, "lstm_cell"
    )


def standardize_args(inputs: TensorLike | KerasTensor, initial_state, constants, num_constants: int):
    """Separates what may come as one list of sequence, states and constants."""
    if isinstance(inputs, list):
        if initial_state is not None or constants is not None:
            raise ValueError(
                "The inputs of an RNN are a list, so that initial_state and constants must be in it."
            )
        if num_constants:
            constants = inputs[-num_constants:]
            inputs = inputs[:-num_constants]
        if len(inputs) > 1:
            initial_state = inputs[1:]
            inputs = inputs[:1]
        if len(inputs) > 1:
            inputs = tuple(inputs)
        else:
            inputs = inputs[0]

    def listed(x: Tensor | None):
        return x if x is None or isinstance(x, list) else list(x) if isinstance(x, tuple) else [x]

    return inputs, listed(initial_state), listed(constants)


def _spec_of_state(x: Tensor | KerasTensor):
    shape = x.shape if isinstance(x, (KerasTensor, Tensor, Variable)) else np.shape(x)
    return InputSpec(shape=[None, *TensorShape(shape).as_list()[1:]])


def _check_states(sizes: Sequence[int], wanted: Sequence[TensorShape], specs: Sequence[Any]):
    found = [TensorShape(spec.shape) for spec in nest.flatten(specs)]
    if len(found) != len(wanted) or not all(
        a.as_list()[1:] == b.as_list()[1:] or (not a.is_fully_defined() and a.is_compatible_with(b))
        for a, b in zip(found, wanted)
    ):
        raise ValueError(
            "An `initial_state` was passed that is not compatible with `cell.state_size`. Received "
            f"`state_spec`={specs}; however `cell.state_size` is {sizes}"
        )


def _pack_sizes(sizes: Sequence[int], values):
    values = iter(values)
    return map_sizes(lambda _: next(values), sizes)
