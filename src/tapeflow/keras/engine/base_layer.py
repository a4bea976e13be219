"""`tf.keras.layers.Layer`: weights, and a function of tensors that uses them."""

from __future__ import annotations

import numpy as np

from tapeflow._native import EagerTensor
from tapeflow.core import dtypes, nest
from tapeflow.core.context import current_graph, executing_eagerly, init_scope, name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.keras import (
    constraints,
    dtype_policy,
    initializers,
    regularizers,
    session,
    settings,
)
from tapeflow.keras.engine import calling, masking
from tapeflow.keras.engine.autocast import AutoCastVariable
from tapeflow.keras.engine.connections import Connections
from tapeflow.keras.engine.input_spec import InputSpec, assert_input_compatibility
from tapeflow.keras.engine.protocol import Protocol
from tapeflow.keras.engine.symbolic import KerasTensor
from tapeflow.keras.engine.tracking import OwnWeights, Tracked, unique
from tapeflow.keras.registry import snake_case
from tapeflow.ops.construction import zeros
from tapeflow.ops.variable import Variable, VariableAggregation, VariableSynchronization
from tapeflow.train.trackable import attached

_ARGUMENTS = {
    "input_dim",
    "input_shape",
    "batch_input_shape",
    "batch_size",
    "weights",
    "activity_regularizer",
    "autocast",
    "implementation",
}


@public_methods
class Layer(Connections, Protocol, Tracked):
    """A function of tensors with weights.

    Subclasses define `call(inputs, ...)`, and `build(input_shape)` where weights depend on shapes.

    Args:
      trainable: whether the weights made by it count as trainable.
      name: the layer's name; made from the class's name and a number when None.
      dtype: of the computation and of the weights, floatx when None; None inside `call` for none.
      dynamic: accepted for compatibility; every layer may run Python eagerly.
    """

    # A class sets this where `call` takes one tensor, does not depend on `training`, adds no losses
    # and fails by itself on input that its spec forbids: its calls then skip all bookkeeping.
    _plain_call = False
    _checks_inputs = True
    # Whether any layer of the process has been given a loss tensor: if not, none need be forgotten.
    _losses_exist = False
    _is_metric = False
    # Whether the class has a compute_mask of its own, and whether its call leaves masks on the outputs.
    _computes_mask = False
    _masks_itself = False
    # Whether weights are cast to the compute dtype where that differs.
    _casts_weights = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "call" in cls.__dict__ and "_plain_call" not in cls.__dict__:
            cls._plain_call = False
        if "__call__" in cls.__dict__:
            cls._plain_call = False
        if "compute_mask" in cls.__dict__:
            cls._computes_mask = True

    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False, **kwargs):
        for argument in kwargs:
            if argument not in _ARGUMENTS:
                raise TypeError(("Keyword argument not understood:", argument))
        self._start_tracking()
        attributes = self.__dict__
        attributes["_trainable"] = bool(trainable)
        attributes["_name"] = self._make_name(name)
        attributes["_fast"] = False
        attributes["built"] = False
        attributes["_losses"] = []
        attributes["_updates"] = []
        attributes["_loss_functions"] = []
        attributes["_own_metrics"] = []
        attributes["_nodes"] = []
        attributes["_outbound_nodes"] = []
        attributes["_input_spec"] = None
        attributes["_input_shape_seen"] = None
        attributes["_autocast"] = kwargs.get("autocast", True)
        attributes["_initial_weights"] = kwargs.get("weights")
        attributes["supports_masking"] = self._computes_mask
        attributes["stateful"] = False
        attributes["_dynamic"] = dynamic
        attributes["_activity_regularizer"] = regularizers.get(kwargs.get("activity_regularizer"))
        self._set_dtype(dtype)
        self._set_batch_input_shape(kwargs)

    def _make_name(self, name):
        if name is None:
            return settings.unique_name(snake_case(type(self).__name__))
        if not isinstance(name, str):
            raise TypeError(f"A layer's name must be a string, got {name!r}.")
        return name

    def _set_dtype(self, dtype):
        policy = dtype_policy.get(dtype)
        attributes = self.__dict__
        attributes["_dtype_given"] = dtype is not None
        attributes["_policy"] = policy
        attributes["_compute_dtype_object"] = settings.default_dtype(policy.compute_dtype)
        attributes["_variable_dtype_object"] = settings.default_dtype(policy.variable_dtype)

    def _set_batch_input_shape(self, kwargs):
        if "batch_input_shape" in kwargs:
            shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
        elif kwargs.get("input_dim") is not None:
            shape = (kwargs.get("batch_size"), kwargs["input_dim"])
        else:
            return
        self.__dict__["_batch_input_shape"] = shape

    # What subclasses define

    def build(self, input_shape):
        """Makes the weights; called before the first call with the shape of the inputs."""
        self.built = True

    def call(self, inputs, *args, **kwargs):
        """The layer's function."""
        return inputs

    def compute_output_shape(self, input_shape):
        """The shape of the outputs for a shape of inputs."""
        from tapeflow.keras.engine.inference import infer

        shapes = _as_shapes(input_shape)
        if not self.built:
            with name_scope(self._scope_name()):
                calling.build_for_shapes(self, shapes)
        inputs = nest.map_structure(lambda s: KerasTensor(s, self._compute_dtype_object), shapes)
        outputs = infer(self._call_plainly, inputs, (), {})
        return nest.map_structure(lambda x: x.shape, outputs)

    def compute_output_signature(self, input_signature):
        """TensorSpecs of the outputs for TensorSpecs of inputs."""
        shapes = nest.map_structure(lambda spec: spec.shape, input_signature)
        outputs = _as_shapes(self.compute_output_shape(shapes))
        return nest.map_structure(
            lambda shape: TensorSpec(shape, self._compute_dtype_object), outputs
        )

    def compute_mask(self, inputs, mask=None):
        """The mask of the outputs: none, or the inputs' where masking is supported."""
        if not self.supports_masking and any(m is not None for m in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}"
            )
        return mask

    def get_config(self):
        """The constructor's arguments."""
        config = {"name": self.name, "trainable": self._trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = dtype_policy.serialize(self._policy)
        return config

    @classmethod
    def from_config(cls, config):
        """A layer from the constructor's arguments."""
        return cls(**config)

    # Calls

    def __call__(self, *args, **kwargs):
        if self._fast and len(args) == 1 and not kwargs:
            inputs = args[0]
            if (
                type(inputs) is EagerTensor
                and inputs.dtype is self._compute_dtype_object
                and not (masking.exist and hasattr(inputs, "_keras_mask"))
            ):
                try:
                    return self.call(inputs)
                except Exception as error:
                    assert_input_compatibility(self._input_spec, inputs, self.name)
                    calling._note(error, self)
                    raise
        return calling.call_layer(self, args, kwargs)

    def _after_call(self):
        """Called at the end of every call that was not fast."""
        if not self._fast and type(self)._plain_call:
            self._fast = calling.is_fast(self)

    def _scope_name(self):
        return self._name

    def _symbolic_outputs(self, inputs, args, kwargs):
        """KerasTensors for the outputs of a symbolic call."""
        if self._dynamic and type(self).compute_output_shape is Layer.compute_output_shape:
            raise NotImplementedError(
                "You are passing KerasTensor(s) to a layer that was made with `dynamic=True`, whose output "
                "shapes are unknown unless it defines `compute_output_shape`."
            )
        if self._dynamic:
            shapes = nest.map_structure(lambda x: TensorShape(x.shape), inputs)
            shape = self.compute_output_shape(shapes)
            dtype = self._compute_dtype_object
            return nest.map_structure(lambda s: KerasTensor(s, dtype), _as_shapes(shape))
        from tapeflow.keras.engine.inference import infer

        return infer(self._call_plainly, inputs, args, kwargs)

    def _call_plainly(self, *args, **kwargs):
        return calling.call_layer(self, args, kwargs)

    # Weights

    def add_weight(
        self,
        name=None,
        shape=None,
        dtype=None,
        initializer=None,
        regularizer=None,
        trainable=None,
        constraint=None,
        use_resource=None,
        synchronization=None,
        aggregation=None,
        partitioner=None,
        **kwargs,
    ):
        """Makes a variable that belongs to the layer.

        Floats start Glorot-uniform and everything else with zeros when there is no initializer.

        Args:
          synchronization, aggregation: those of the variable; the aggregation also by its name in lower case.
          use_resource: accepted; all variables are resources.

        Raises ValueError for a `partitioner`: a weight is one variable.
        """
        if partitioner is not None:
            raise ValueError(f"Layer {self.name}: weights are whole, `partitioner` must be None, got {partitioner}.")
        for argument in kwargs:
            if argument not in (
                "collections",
                "experimental_autocast",
                "caching_device",
                "getter",
                "autocast",
                "layout",
            ):
                raise TypeError(f"Unknown keyword argument: {argument}")
        shape = TensorShape(() if shape is None else shape)
        dtype = dtypes.as_dtype(dtype) if dtype is not None else self._variable_dtype_object
        initializer = initializers.get(initializer)
        if initializer is None:
            if dtype.is_floating:
                initializer = initializers.GlorotUniform()
            elif dtype.is_integer or dtype.is_bool:
                initializer = initializers.Zeros()
            else:
                raise ValueError(
                    f"An initializer for variable {name} of type {dtype} is required for layer "
                    f"{self.name}. Received: {initializer}."
                )
        on_read = getattr(synchronization, "name", None) == "ON_READ"
        if on_read and trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                "non-trainable variables. You have specified trainable=True and "
                "synchronization=VariableSynchronization.ON_READ."
            )
        variable = Variable(
            lambda: initializer(shape, dtype=dtype),
            trainable=(not on_read) if trainable is None else bool(trainable),
            name=name,
            dtype=dtype,
            constraint=constraints.get(constraint),
            synchronization=synchronization or VariableSynchronization.AUTO,
            aggregation=_aggregation(aggregation),
        )
        self._own_weights.append(variable)
        if name is not None:
            self.__dict__.setdefault("_named_weights", {})[name] = variable
            if "_pending_restores" in self.__dict__:
                attached(self, name, variable)
        regularizer = regularizers.get(regularizer)
        if regularizer is not None:
            self._loss_functions.append(lambda: _penalty(regularizer, variable))
        casts = kwargs.get("experimental_autocast", kwargs.get("autocast", True))
        casts = casts and self._casts_weights and self._autocast
        if casts and self._is_mixed and dtype.is_floating:
            return AutoCastVariable(variable)
        return variable

    @property
    def _is_mixed(self):
        return self._compute_dtype_object != self._variable_dtype_object

    def add_variable(self, *args, **kwargs):
        """The old name of add_weight."""
        return self.add_weight(*args, **kwargs)

    @property
    def _trainable_weights(self):
        """The layer's own variables to train, as a list that takes more."""
        return OwnWeights(self._own_weights, True)

    @_trainable_weights.setter
    def _trainable_weights(self, weights):
        OwnWeights(self._own_weights, True).extend(weights)

    @property
    def _non_trainable_weights(self):
        return OwnWeights(self._own_weights, False)

    @_non_trainable_weights.setter
    def _non_trainable_weights(self, weights):
        OwnWeights(self._own_weights, False).extend(weights)

    @property
    def trainable_weights(self):
        """The variables to train, of this layer and the layers in it."""
        return unique(self._gather(True)) if self._trainable else []

    @property
    def non_trainable_weights(self):
        """The variables not to train, of this layer and the layers in it."""
        if self._trainable:
            return unique(self._gather(False))
        return unique(self._gather(True) + self._gather(False))

    def _gather(self, trainable):
        """Variables that are trainable or not, those of this layer first."""
        found = [weight for weight in self._own_weights if weight.trainable is trainable]
        if not self._tracked:
            return found
        for value in self._held():
            if isinstance(value, Variable):
                if value.trainable is trainable:
                    found.append(value)
            elif not value._is_metric:
                found += value.trainable_weights if trainable else value.non_trainable_weights
        return found

    @property
    def weights(self):
        """All variables."""
        if self._tracked:
            return unique(self.trainable_weights + self.non_trainable_weights)
        own = self._own_weights
        return [w for w in own if w.trainable] + [w for w in own if not w.trainable]

    @property
    def variables(self):
        """All variables."""
        return self.weights

    @property
    def trainable_variables(self):
        """The variables to train."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self):
        """The variables not to train."""
        return self.non_trainable_weights

    def get_weights(self):
        """The values of all variables as NumPy arrays."""
        return session.values_of(self.weights)

    def set_weights(self, weights):
        """Sets all variables from arrays. Raises ValueError for a wrong number or shape."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights):
            if not TensorShape(variable.shape).is_compatible_with(np.shape(value)):
                raise ValueError(
                    f"Layer {self.name} weight shape {tuple(variable.shape)} is not compatible with "
                    f"provided weight shape {np.shape(value)}."
                )
        session.set_values(zip(variables, weights))

    def _load_initial_weights(self):
        if self._initial_weights is not None:
            with init_scope():
                self.set_weights(self._initial_weights)
            self._initial_weights = None

    def count_params(self):
        """The number of scalars in the weights. Raises ValueError before the layer is built."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on layer {self.name}, but the layer isn't built. "
                f"You can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(np.prod(weight.shape.as_list()) for weight in self.weights))

    # Losses and metrics

    def add_loss(self, losses, **kwargs):
        """Adds scalar tensors, or functions that give them, to what `losses` returns."""
        for loss in nest.flatten(losses):
            if callable(loss):
                self._loss_functions.append(loss)
            elif loss is not None:
                self._losses.append(convert_to_tensor(loss))
                Layer._losses_exist = True

    @property
    def losses(self):
        """The losses added since the last call began, and the regularization of weights."""
        found = []
        for layer in self._all_layers():
            found += layer._losses
            for function in layer._loss_functions:
                loss = function()
                found.append(loss if hasattr(loss, "dtype") else convert_to_tensor(loss))
        return found

    def _clear_losses(self):
        for layer in self._all_layers():
            if layer._losses:
                layer._losses.clear()

    def _all_layers(self):
        """This layer and all layers in it, each once."""
        seen, queue = {}, [self]
        while queue:
            layer = queue.pop(0)
            if id(layer) not in seen:
                seen[id(layer)] = layer
                queue += layer._sublayers()
        return list(seen.values())

    def add_update(self, updates, inputs=None):
        """Runs updates that are functions. In a graph of 1.x, what they add waits in `updates`."""
        graph = current_graph()
        waits = graph is not None and not graph.building_function
        for update in nest.flatten(updates):
            made = update() if callable(update) else update
            if waits and made is not None:
                self._updates.append(getattr(made, "op", made))

    @property
    def updates(self):
        """The operations left to run, of this layer and the layers in it: none but in a graph of 1.x."""
        if executing_eagerly():
            return []
        return [update for layer in self._all_layers() for update in layer._own_updates()]

    def _own_updates(self):
        if not self.trainable and not self.stateful:
            return []
        graph = current_graph()
        if graph is not None and not graph.building_function:
            from tapeflow.keras.engine.graph_tensors import compute_calls

            compute_calls(self._nodes, graph)
        return self._updates

    def get_updates_for(self, inputs):
        """The updates that depend on some tensors; those that depend on none the layer was called on, for None."""
        return _those_that_depend(self.updates, inputs, self._graph_inputs())

    def get_losses_for(self, inputs):
        """The losses that depend on some tensors; those that depend on none the layer was called on, for None."""
        return _those_that_depend(self.losses, inputs, self._graph_inputs())

    def _graph_inputs(self):
        return [x for layer in self._all_layers() for x in layer.__dict__.get("_called_on", ())]

    def add_metric(self, value, name=None, aggregation=None, **kwargs):
        """Keeps the mean of `value` under `name`.

        Raises ValueError for a value without a name that does not come from a metric.
        """
        from tapeflow.keras.metrics import Mean

        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        source = getattr(value, "_metric_obj", None)
        if source is not None:
            if source not in self._own_metrics:
                self._own_metrics.append(source)
            return value
        if name is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), "
                "name='mean_activation', aggregation='mean')`"
            )
        for metric in self._own_metrics:
            if metric.name == name:
                return metric(value)
        metric = Mean(name=name)
        self._own_metrics.append(metric)
        return metric(value)

    @property
    def metrics(self):
        """The metrics of this layer and the layers in it."""
        found = []
        for layer in self._all_layers():
            found += layer._own_metrics
            found += [value for value in layer._held() if getattr(value, "_is_metric", False)]
        return unique(found)

    # Description

    @property
    def name(self):
        """The layer's name."""
        return self._name

    @property
    def trainable(self):
        """Whether the weights count as trainable; setting it sets all layers in this one too."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        for layer in self._all_layers():
            layer._trainable = bool(value)

    @property
    def dtype(self):
        """The dtype of the weights, by name."""
        return self._variable_dtype_object.name

    @property
    def compute_dtype(self):
        """The dtype of the computation, by name."""
        return self._compute_dtype_object.name

    @property
    def variable_dtype(self):
        """The dtype of the weights, by name."""
        return self._variable_dtype_object.name

    @property
    def dynamic(self):
        """Whether this layer, or one in it, was made with dynamic=True."""
        return any(layer._dynamic for layer in self._all_layers())

    @property
    def activity_regularizer(self):
        """The penalty on outputs."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer):
        self._activity_regularizer = regularizer
        self._fast = False

    @property
    def input_spec(self):
        """What the layer asks of its inputs."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value):
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {value}")
        self.__dict__["_input_spec"] = value

    @property
    def name_scope(self):
        """A new context of the scope that the layer's weights and operations are named in."""
        return name_scope(self._scope_name())

    @property
    def submodules(self):
        """All layers inside this one."""
        return tuple(self._all_layers()[1:])


class Unbuilt:
    """A weight that a layer has once it is built: until then, reading it raises AttributeError."""

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, layer, owner=None):
        if layer is None:
            return self
        raise AttributeError(
            f"You must build the layer {layer.name!r} before accessing `{self._name}`."
        )


def _those_that_depend(values, inputs, called_on):
    """Of tensors and operations of a graph, those that can be reached from `inputs`, or from nothing called on."""
    from tapeflow.keras.engine.graph_tensors import graph_tensors, reached_from

    starts = called_on if inputs is None else nest.flatten(graph_tensors(inputs))
    return [value for value in values if reached_from(value, starts) is (inputs is not None)]


def _as_shapes(structure):
    """TensorShapes in a structure in which lists and tuples of sizes stand for shapes."""
    if isinstance(structure, TensorShape):
        return structure
    if isinstance(structure, dict):
        return {key: _as_shapes(value) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)) and any(
        isinstance(item, (list, tuple, TensorShape)) for item in structure
    ):
        return [_as_shapes(item) for item in structure]
    return TensorShape(structure)


def _aggregation(value):
    """An aggregation from itself, its name, or None. Raises ValueError for another name."""
    if not isinstance(value, str):
        return value or VariableAggregation.NONE
    try:
        return VariableAggregation[value.upper()]
    except KeyError:
        names = [kind.name.lower() for kind in VariableAggregation]
        raise ValueError(
            f"Invalid value for argument `aggregation`. Expected None or one of {names}. Received: aggregation={value}"
        ) from None


def _penalty(regularizer, variable):
    """The penalty on a variable; in graphs, under the variable's name."""
    if variable._parts is None and executing_eagerly():
        return regularizer(variable)
    with name_scope(f"{variable.name.partition(':')[0]}/Regularizer/"):
        return regularizer(variable)


def _sample(shape, dtype):
    return zeros([1 if size is None else size for size in shape.as_list()], dtype)
