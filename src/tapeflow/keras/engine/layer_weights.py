"""The weights of layers: how they are made, found, read and set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.checkpoint.following import attached
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.context import executing_eagerly, init_scope, name_scope
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import graph_parts, shared_name_of
from tapeflow.keras import constraints, initializers, regularizers, session
from tapeflow.keras.dtype_names import named_by_python
from tapeflow.keras.engine.autocast import AutoCastVariable
from tapeflow.keras.engine.tracking import OwnWeights, is_metric, unique
from tapeflow.keras.engine.weight import Weight, make_weight
from tapeflow.keras.noise import NoiseSource
from tapeflow.keras.random import SeedGenerator
from tapeflow.ops.state.variable import Variable, VariableAggregation, VariableSynchronization

if TYPE_CHECKING:
    from tapeflow.keras.regularizers import L2

# Arguments of `add_weight` without an effect here.
_ACCEPTED = {"autocast", "caching_device", "collections", "experimental_autocast", "getter", "layout"}


@public_methods
class LayerWeights:
    """What a layer is as the owner of variables."""

    # Whether weights are cast to the compute dtype where that differs.
    _casts_weights = True

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
        """Make a variable that belongs to the layer.

        Args:
          name: its name.
          shape: its shape; None for a scalar.
          dtype: its dtype; None for the layer's `variable_dtype`.
          initializer: first values; an initializer, its name, or None for Glorot-uniform floats, and zeros otherwise.
          regularizer: a penalty on it, added to `losses`; a regularizer, its name or None.
          trainable: whether it is trained; None for True.
          constraint: a function applied to it after each update; a constraint, its name or None.
          use_resource: accepted; all variables are resources.
          synchronization, aggregation: those of the variable; the aggregation also by its name in lower case.
          partitioner: must be None: a weight is one variable.
          **kwargs: `autocast`, `layout`, `caching_device`, `collections`, `experimental_autocast` and `getter`, which
            are accepted.

        Returns:
          The variable.

        Raises:
          ValueError: for a `partitioner`.
          TypeError: for other arguments.
        """
        if name is not None and not isinstance(name, str):  # as in Keras 3: shape, initializer, dtype
            name, shape, dtype, initializer = None, name, initializer if dtype is None else dtype, shape
        if partitioner is not None:
            raise ValueError(f"Layer {self.name}: weights are whole, `partitioner` must be None, got {partitioner}.")
        for argument in kwargs:
            if argument not in _ACCEPTED:
                raise TypeError(f"Unknown keyword argument: {argument}")
        shape = TensorShape(() if shape is None else shape)
        dtype = dtypes.as_dtype(named_by_python(dtype)) if dtype is not None else self._variable_dtype_object
        initializer = initializers.get(initializer) or self._default_initializer(name, dtype)
        on_read = getattr(synchronization, "name", None) == "ON_READ"
        if on_read and trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                "non-trainable variables. You have specified trainable=True and "
                "synchronization=VariableSynchronization.ON_READ."
            )
        variable = make_weight(
            self,
            lambda: initializer(shape, dtype=dtype),
            name,
            trainable=(not on_read) if trainable is None else bool(trainable),
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
            if not keras_2():
                variable.regularizer = regularizer
        casts = kwargs.get("experimental_autocast", kwargs.get("autocast", True))
        casts = casts and self._casts_weights and self._autocast
        if casts and self._is_mixed and dtype.is_floating:
            return AutoCastVariable(variable)
        return variable

    def _default_initializer(self, name, dtype):
        if dtype.is_floating:
            return initializers.GlorotUniform()
        if dtype.is_integer or dtype.is_bool:
            return initializers.Zeros()
        raise ValueError(
            f"An initializer for variable {name} of type {dtype} is required for layer {self.name}. Received: None."
        )

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

    def _set_trainable(self: Any, value: bool):
        """Says whether the layer's own weights are trained; in Keras 3 the weights themselves say so, too."""
        self._trainable = value
        if keras_2():
            return
        for weight in self._own_weights:
            if getattr(weight, "made_trainable", False):
                weight.trainable = value

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
        if self._tracked:
            found += self._gather_held("trainable_weights" if trainable else "non_trainable_weights", trainable)
        return found

    def _gather_held(self, kind, trainable=None):
        """The variables among the attributes, and what the layers among them have as `kind`.

        Args:
          trainable: only variables that are trainable or not; None for all.
        """
        found = []
        for value in self._held():
            if isinstance(value, Variable):
                if trainable is None or value.trainable is trainable:
                    found.append(value)
            elif not is_metric(value):
                found += getattr(value, kind)
        return found

    @property
    def weights(self):
        """All variables but the states of seed generators.

        In Keras 3 those of the layer itself come first and then those of one layer in it after another; in Keras 2
        all to train come first.
        """
        if self._tracked and keras_2():
            return unique(self.trainable_weights + self.non_trainable_weights)
        return unique(self._gather_all("weights")) if self._tracked else self._own_in_order()

    def _own_in_order(self):
        return sorted(self._own_weights, key=lambda weight: not _made_trainable(weight))

    def _gather_all(self, kind):
        """The variables of this layer, those to train first, and then what the layers in it have as `kind`.

        A `tf.Variable`, which Keras 3 does not count among the weights, comes last.
        """
        own = self._own_in_order()
        found = [variable for variable in own if isinstance(variable, Weight)]
        if kind == "variables":
            found += self._seed_states()
        found += self._gather_held(kind)
        return found + [variable for variable in own if not isinstance(variable, Weight)]

    @property
    def _seed_generators(self):
        """The seed generators among the attributes, also those of lists, each once."""
        found = {}
        for value in self.__dict__.values():
            for each in value if type(value) in (list, tuple) else (value,):
                generator = each.generator if isinstance(each, NoiseSource) else each
                if isinstance(generator, SeedGenerator):
                    found[id(generator)] = generator
        return list(found.values())

    def _seed_states(self):
        return [generator.state for generator in self._seed_generators]

    @property
    def variables(self):
        """All variables; in Keras 3 also the states of seed generators."""
        return self.weights if keras_2() else unique(self._gather_all("variables"))

    @property
    def trainable_variables(self):
        """The variables to train."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self):
        """The variables not to train; in Keras 3 also the states of seed generators."""
        if keras_2():
            return self.non_trainable_weights
        trained = {id(variable) for variable in self.trainable_weights}
        return [variable for variable in self.variables if id(variable) not in trained]

    # As layers of Keras 2 read it.
    _compute_dtype = property(lambda self: self.compute_dtype)

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
            name, build = self.name, f"{self.name}.build(batch_input_shape)"
            if not keras_2():
                name, build = f"'{name}'", "layer.build(input_shape)"
            raise ValueError(
                f"You tried to call `count_params` on layer {name}, but the layer isn't built. You can build it "
                f"manually via: `{build}`."
            )
        return int(sum(np.prod(weight.shape.as_list()) for weight in self.weights))


def _made_trainable(weight):
    made = getattr(weight, "made_trainable", None)
    return weight.trainable if made is None else made


def _aggregation(value: Tensor | None):
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


def _penalty(regularizer: L2, variable):
    """The penalty on a variable; in graphs, under the variable's name."""
    if graph_parts(variable) is None and executing_eagerly():
        return regularizer(variable)
    with name_scope(f"{shared_name_of(variable)}/Regularizer/"):
        return regularizer(variable)
