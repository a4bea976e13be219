"""The classes of `tf.layers`: Keras layers with the argument names and defaults of 1.x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from tapeflow.checkpoint.following import attached
from tapeflow.core.annotations import DTypeLike, TensorLike, Variable
from tapeflow.core.context import current_graph, executing_eagerly, init_scope, name_scope
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.spelling import snake_case
from tapeflow.core.structures import nest
from tapeflow.keras import initializers
from tapeflow.keras import layers as keras_layers
from tapeflow.ops.state.variable import VariableAggregation, VariableSynchronization
from tapeflow.v1.layers import style
from tapeflow.v1.loss_reduction import REGULARIZATION_LOSSES
from tapeflow.v1.partitioned import PartitionedVariable
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope


def _regularized(regularizer: Callable[..., Any], name: str, variable: Variable):
    with name_scope(f"{name}/Regularizer"):
        return regularizer(variable)


class Layer(keras_layers.Layer):
    """Base of the layers of 1.x: variables come from `get_variable`, in a variable scope of the layer's own.

    Weights have the dtype of the first input, where none was given.
    """

    _is_legacy_layer = True

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self._start_tracking()  # attributes may be set before `__init__` runs, or without it
        return self

    def _start_tracking(self):
        if "_tracked" not in self.__dict__:
            super()._start_tracking()

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | None = None, **kwargs
    ):
        scope, reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        kwargs["autocast"] = False
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self.__dict__["_keras_style"] = style.keras
        self.__dict__["_base_name"] = name or snake_case(type(self).__name__)
        self.__dict__["_reuse"] = reuse
        self.__dict__["_scope"] = None
        if scope is not None:
            with variable_scope(scope) as found:
                self.__dict__["_scope"] = found

    @property
    def dtype(self):
        """The dtype of the weights, by name; None before the first call of a layer without a dtype of its own."""
        return super().dtype if self.built or self._dtype_given or self._dtype_found else None

    _dtype_found = False

    @property
    def scope_name(self):
        """The name of the scope of the layer's variables. Raises ValueError before the first call."""
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self.name}" has not been used '
                "yet. The scope name  is determined the first time the layer instance is called. You "
                "must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    @property
    def graph(self):
        """The graph that the layer belongs to: none, eagerly."""
        raise RuntimeError("Layer.graph not supported when executing eagerly.")

    def _enter_scope(self, scope=None):
        """The context of the layer's variable scope, which the first call finds."""
        if self._scope is None:
            if self._reuse:
                with variable_scope(self._base_name if scope is None else scope) as found:
                    self.__dict__["_scope"] = found
            else:
                with variable_scope(scope, default_name=self._base_name) as found:
                    self.__dict__["_scope"] = found
        reuse = True if self.built else self._reuse
        return variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False)

    def _scope_name(self):
        if self._keras_style:
            return super()._scope_name()
        # Names of variables come from the variable scope; those of operations from the name scope that it opened.
        if executing_eagerly() or self._scope is None:
            return ""
        return self._scope.original_name_scope

    def __call__(self, *args, **kwargs):
        if self._keras_style or (self.built and executing_eagerly()):
            if self._keras_style and kwargs.get("scope") is not None:
                raise ValueError(
                    "scope argument not allowed when keras style layers are enabled, but saw: "
                    f"{kwargs['scope']}"
                )
            kwargs.pop("scope", None)
            return super().__call__(*args, **kwargs)
        if not self.built and not self._dtype_given:
            dtype = getattr(nest.flatten(args[0])[0] if args else None, "dtype", None)
            if dtype is not None:
                self._set_dtype(as_dtype(dtype))
                self.__dict__.update(_dtype_given=False, _dtype_found=True)
        with self._enter_scope(kwargs.pop("scope", None)):
            return super().__call__(*args, **kwargs)

    def add_weight(
        self,
        name,
        shape,
        dtype=None,
        initializer=None,
        regularizer=None,
        trainable=None,
        constraint=None,
        use_resource=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        partitioner=None,
        **kwargs,
    ):
        """Makes, or finds by name, a variable that belongs to the layer: see `get_variable`."""

        if self._keras_style:
            return super().add_weight(
                name, shape, dtype, initializer, regularizer, trainable, constraint,
                synchronization=synchronization, aggregation=aggregation, **kwargs,
            )  # fmt: skip
        if synchronization is VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(
                    "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                    "non-trainable variables. You have specified trainable=True and "
                    "synchronization=VariableSynchronization.ON_READ."
                )
            trainable = False
        elif trainable is None:
            trainable = True
        dtype = self._variable_dtype_object if dtype is None else as_dtype(dtype)
        graph = current_graph()
        before = [] if graph is None else graph.get_collection("variables")
        lifted = init_scope if graph is not None and graph.building_function else nullcontext
        with lifted(), self._enter_scope():
            variable = get_variable(
                name,
                shape=shape,
                dtype=dtype,
                initializer=initializers.get(initializer),
                constraint=constraint,
                trainable=trainable and self.trainable,
                partitioner=partitioner,
                use_resource=use_resource,
                synchronization=synchronization,
                aggregation=aggregation,
            )
        self._own_weights.append(variable)
        self.__dict__.setdefault("_named_weights", {})[name] = variable
        if "_pending_restores" in self.__dict__:
            attached(self, name, variable)
        parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
        if regularizer is not None and not any(part is known for part in parts for known in before):
            self.add_loss([partial(_regularized, regularizer, name, part) for part in parts])
        return variable

    def add_loss(self, losses: Sequence[Callable[..., Any]], **kwargs):
        """Adds scalar tensors, or functions that give them, to what `losses` returns; in graphs they are collected."""
        super().add_loss(losses, **kwargs)
        graph = current_graph()
        if graph is None:
            return
        for loss in nest.flatten(losses):
            loss = loss() if callable(loss) else loss
            if loss is not None and all(
                loss is not known for known in graph.get_collection_ref(REGULARIZATION_LOSSES)
            ):
                graph.add_to_collection(REGULARIZATION_LOSSES, loss)

    def add_update(self, updates, inputs=None):
        """Runs updates that are functions; what they do in a graph joins the collection of updates."""
        before = len(self._updates)
        super().add_update(updates, inputs)
        graph = current_graph()
        for update in self._updates[before:]:
            if all(update is not known for known in graph.get_collection_ref("update_ops")):
                graph.add_to_collection("update_ops", update)

    def apply(self, inputs: TensorLike, *args, **kwargs):
        """Calls the layer."""
        return self(inputs, *args, **kwargs)


class Dense(keras_layers.Dense, Layer):
    """See keras.layers.Dense; kernels start as the variable scope says, where it does."""

    _plain_call = True

    def __init__(
        self, units: int, activation: Callable[..., Any] | None = None, use_bias: bool = True,
        kernel_initializer=None, **kwargs,
    ):
        super().__init__(units, activation, use_bias, kernel_initializer, **kwargs)


class Conv1D(keras_layers.Conv1D, Layer):
    """See keras.layers.Conv1D; kernels start as the variable scope says, where it does."""

    def __init__(self, filters: int, kernel_size: int, strides: int = 1, padding: str = "valid", **kwargs):
        kwargs.setdefault("kernel_initializer", None)
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class Conv2D(keras_layers.Conv2D, Layer):
    """See keras.layers.Conv2D."""

    def __init__(
        self, filters: int, kernel_size: Any, strides: int | Sequence[int] = (1, 1), padding: str = "valid", **kwargs
    ):
        kwargs.setdefault("kernel_initializer", None)
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class Conv3D(keras_layers.Conv3D, Layer):
    """See keras.layers.Conv3D; kernels start as the variable scope says, where it does."""

    def __init__(
        self, filters: int, kernel_size: int, strides: Sequence[int] = (1, 1, 1), padding: str = "valid",
        **kwargs,
    ):
        kwargs.setdefault("kernel_initializer", None)
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class Conv2DTranspose(keras_layers.Conv2DTranspose, Layer):
    """See keras.layers.Conv2DTranspose; kernels start as the variable scope says, where it does."""

    def __init__(
        self, filters: int, kernel_size: int, strides: int | Sequence[int] = (1, 1), padding: str = "valid", **kwargs
    ):
        kwargs.setdefault("kernel_initializer", None)
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class Conv3DTranspose(keras_layers.Conv3DTranspose, Layer):
    """See keras.layers.Conv3DTranspose; kernels start as the variable scope says, where it does."""

    def __init__(
        self, filters: int, kernel_size: int, strides: Sequence[int] = (1, 1, 1), padding: str = "valid",
        **kwargs,
    ):
        kwargs.setdefault("kernel_initializer", None)
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class SeparableConv1D(keras_layers.SeparableConv1D, Layer):
    """See keras.layers.SeparableConv1D; kernels start as the variable scope says, where it does."""

    def __init__(self, filters: Any, kernel_size, strides=1, padding: str = "valid", **kwargs):
        kwargs.setdefault("depthwise_initializer", None)
        kwargs.setdefault("pointwise_initializer", None)
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class SeparableConv2D(keras_layers.SeparableConv2D, Layer):
    """See keras.layers.SeparableConv2D; kernels start as the variable scope says, where it does."""

    def __init__(
        self, filters: int, kernel_size: int, strides: int | Sequence[int] = (1, 1), padding: str = "valid", **kwargs
    ):
        kwargs.setdefault("depthwise_initializer", None)
        kwargs.setdefault("pointwise_initializer", None)
        super().__init__(filters, kernel_size, strides, padding, **kwargs)


class BatchNormalization(keras_layers.BatchNormalization, Layer):
    """See keras.layers.BatchNormalization. In a graph the moving averages move when the operations in the collection
    of updates run.
    """

    _frozen_is_at_rest = False

    def __init__(
        self, axis: int = -1, momentum: float = 0.99, epsilon: float = 0.001, center: bool = True, scale: bool = True,
        beta_initializer: str = "zeros", gamma_initializer: str = "ones", moving_mean_initializer: str = "zeros",
        moving_variance_initializer: str = "ones", beta_regularizer: Callable[..., Any] | None = None,
        gamma_regularizer: Callable[..., Any] | None = None, beta_constraint: Callable[..., Any] | None = None,
        gamma_constraint: Callable[..., Any] | None = None, renorm: bool = False, renorm_clipping=None,
        renorm_momentum: float = 0.99, fused: bool | None = None, trainable: bool = True, virtual_batch_size=None,
        adjustment=None, name: str | None = None, **kwargs,
    ):
        super().__init__(
            axis,
            momentum,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            moving_mean_initializer,
            moving_variance_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            renorm,
            renorm_clipping,
            renorm_momentum,
            fused=fused,
            trainable=trainable,
            virtual_batch_size=virtual_batch_size,
            adjustment=adjustment,
            name=name,
            **kwargs,
        )

    def call(self, inputs: TensorLike, training: Any = False, mask: Any = None):
        return super().call(inputs, training=training, mask=mask)


class Dropout(keras_layers.Dropout, Layer):
    """See keras.layers.Dropout."""

    def __init__(
        self, rate: float = 0.5, noise_shape=None, seed: int | None = None, name: str | None = None, **kwargs
    ):
        super().__init__(rate, noise_shape, seed, name=name, **kwargs)

    def call(self, inputs: Any, training=False):
        return super().call(inputs, training=training)


class Flatten(keras_layers.Flatten, Layer):
    """See keras.layers.Flatten."""

    _plain_call = True
