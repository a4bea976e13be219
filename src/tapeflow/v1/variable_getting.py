"""`tf.get_variable` of 1.x: variables found by their names.

Eagerly it makes a new variable on every call: variables are only shared by name while an `EagerVariableStore` is
the default. Each graph has a store of its own.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike, Tensor, Variable
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public, public_methods
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import graph_parts
from tapeflow.function import template
from tapeflow.function.template import make_template  # noqa: F401 (which finds its scopes here)
from tapeflow.graph.build.collections import add_to_collections
from tapeflow.ops.state.variable import VariableAggregation, VariableSynchronization, VariableV1
from tapeflow.v1 import initializers
from tapeflow.v1.loss_reduction import REGULARIZATION_LOSSES
from tapeflow.v1.partitioned import partitioned_variable, whole_in
from tapeflow.v1.variable_scoping import scopes, variable_scope, wrapped

if TYPE_CHECKING:
    from tapeflow.v1.initializers import constant_initializer, zeros_initializer


@public_methods
class EagerVariableStore:
    """Keeps the variables that `get_variable` makes, and gives them again to those who ask for their name."""

    def __init__(self, store=None):
        self._store: dict[str, Any] = {} if store is None else store.by_name

    @property
    def by_name(self) -> dict[str, Any]:
        """The variables themselves by name, which stores of one origin share."""
        return self._store

    @contextlib.contextmanager
    def as_default(self) -> Iterator[None]:
        """A context in which `get_variable` finds and keeps variables here."""
        state = scopes.state()
        before, state.store = state.store, self._store
        try:
            yield
        finally:
            state.store = before

    def variables(self):
        """All variables, by name."""
        return sorted(self._store.values(), key=lambda variable: variable.name)

    def trainable_variables(self):
        """The trainable ones of `variables`."""
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self):
        """The others of `variables`."""
        return [v for v in self.variables() if not v.trainable]

    def put(self, name: str, variable: Variable):
        """Lets `get_variable` find a variable under a name, in the place of one that it found there."""
        self._store[name] = variable

    def drop(self, name: str):
        """Forgets the variable of a name. Raises KeyError for a name that is not known."""
        del self._store[name]

    def copy(self):
        """A store of new variables with the same names and values."""
        other = EagerVariableStore()
        with name_scope(""):
            for key, v in self._store.items():
                other.put(key, VariableV1(v.read_value(), trainable=v.trainable, name=key))
        return other


@api(v1="get_variable")
@public
def get_variable(
    name: str | None, shape: ShapeLike | None = None, dtype: DTypeLike | None = None, initializer: Any = None,
    regularizer: Callable[..., Any] | None = None, trainable: bool | None = None, collections=None,
    caching_device=None, partitioner=None, validate_shape: bool = True, use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None, constraint=None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
):
    """A variable whose name is `name` in the current variable scope.

    It is new, unless an `EagerVariableStore` is the default and has one of that name. `initializer` is a
    value, or a function of shape and dtype; by default Glorot's for floating dtypes, else zeros. What
    `regularizer` says joins the losses of a graph; eagerly there is nowhere to collect it.

    Raises ValueError where the shape is not known, or a found variable has another shape or dtype.

    Args:
      name: the name.
      shape: the shape; None where the initializer knows it.
      dtype: the dtype; None: that of the scope, or float32.
      initializer: an initializer, or a tensor; None: that of the scope.
      regularizer: a function of the variable whose result is added to the regularization losses.
      trainable: whether optimizers update it.
      collections: names of collections of the graph that it is added to.
      caching_device: has no effect on the result.
      partitioner: a function of shape and dtype that says into how many parts it is split.
      validate_shape: whether the shape has to be known.
      use_resource: whether it is a resource variable; None: as the scope says.
      custom_getter: a function that is called in place of this one, with it as the first argument.
      constraint: a function of the value, applied after an update.
      synchronization: when copies on several devices are brought together.
      aggregation: how copies on several devices are combined.
    """
    scope = scopes.current
    for given in (custom_getter, scope.custom_getter):
        if given is not None and not callable(given):
            raise ValueError(f"Passed a custom_getter which is not callable: {given}")
    if initializer is not None and not callable(initializer):
        initializer = convert_to_tensor(initializer)
        if dtype is not None and initializer.dtype != dtypes.as_dtype(dtype):
            raise ValueError(
                f"Initializer type '{initializer.dtype!s}' and explicit dtype "
                f"'{dtypes.as_dtype(dtype)!s}' don't match."
            )
        dtype = initializer.dtype
    getter = wrapped(custom_getter, scope.custom_getter)
    arguments = {
        "name": f"{scope.name}/{name}" if scope.name else name,
        "shape": shape,
        "dtype": scope.dtype if dtype is None else dtypes.as_dtype(dtype),
        "initializer": scope.initializer if initializer is None else initializer,
        "regularizer": scope.regularizer if regularizer is None else regularizer,
        "reuse": scope.reuse,
        "trainable": trainable,
        "collections": collections,
        "caching_device": scope.caching_device if caching_device is None else caching_device,
        "partitioner": scope.partitioner if partitioner is None else partitioner,
        "validate_shape": validate_shape,
        "use_resource": scope.stated_resource if use_resource is None else use_resource,
        "constraint": scope.constraint if constraint is None else constraint,
        "synchronization": synchronization,
        "aggregation": aggregation,
    }
    # Without a variable scope of its own, what a getter makes does not fall into the name scope.
    with name_scope(""):
        if getter is None:
            return _made(**arguments)
        if trainable is None:  # custom getters expect a bool
            arguments["trainable"] = synchronization is not VariableSynchronization.ON_READ
        return getter(getter=_made, **arguments)


def _made(
    name: str, shape: ShapeLike | None = None, dtype: DType = dtypes.float32,
    initializer: Tensor | constant_initializer | zeros_initializer | None = None,
    regularizer: Callable[..., Any] | None = None, reuse: Any = None, trainable: bool | None = None,
    collections: Sequence[str] | None = None, caching_device=None, partitioner=None, validate_shape: bool = True,
    use_resource: bool | None = None, constraint=None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE, partition_info=None,
):  # fmt: skip
    """The variable of that whole name in the store, or a new one; `partition_info`: which part of a whole it is."""
    store = scopes.store
    dtype = dtypes.as_dtype(dtype)
    wanted = TensorShape(shape)
    split = partitioner is not None and wanted.rank != 0
    whole = whole_in(store, name, split, reuse)
    if whole is not None:
        return whole.reused(wanted, dtype, partitioner, reuse)
    if split:
        make = functools.partial(
            _made, dtype=dtype, reuse=reuse, trainable=trainable, collections=collections,
            validate_shape=validate_shape, constraint=constraint, synchronization=synchronization,
            aggregation=aggregation, use_resource=use_resource,
        )  # fmt: skip
        return partitioned_variable(make, name, wanted, dtype, initializer, regularizer, partitioner, reuse)
    if store is not None and name in store:
        found = store[name]
        if reuse is False:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at: {_origin(found)}"
            )
        if not wanted.is_compatible_with(found.shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {wanted} and found shape "
                f"{found.shape}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found dtype "
                f"{found.dtype.name}."
            )
        return found
    if reuse is True:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
            "set reuse=tf.AUTO_REUSE in VarScope?"
        )
    if initializer is None:
        if shape is None:
            raise ValueError(
                f"Variable {name} did not get an initializer, so its `shape` argument must be "
                "specified."
            )
        initializer = _default_initializer(name, dtype)
    value, kept = _initial_value(shape, wanted, dtype, initializer, partition_info)
    variable = VariableV1(
        value, trainable, collections, validate_shape, caching_device, name, dtype=kept,
        constraint=constraint, synchronization=synchronization, aggregation=aggregation,
        use_resource=True if context.executing_eagerly() else use_resource,
    )  # fmt: skip
    if store is not None:
        store[name] = variable
        if context.executing_eagerly():  # those of templates and stores are found by collections all the same
            keys = [*(collections or ["variables"]), *(["trainable_variables"] if variable.trainable else [])]
            add_to_collections(keys, variable)
    if regularizer:
        penalty = _Penalty(regularizer, variable, name)
        loss = penalty.value()
        if loss is not None:  # eagerly it follows the variable
            add_to_collections(REGULARIZATION_LOSSES, penalty if context.executing_eagerly() else loss)
    return variable


class _Penalty:
    """The penalty of a variable by its regularizer, computed whenever it is used as a tensor."""

    def __init__(self, regularizer: Callable[[Any], Any], variable: Variable, name: str):
        self._regularizer, self._variable, self._name = regularizer, variable, name

    def value(self) -> Any:
        with name_scope(f"{self._name}/Regularizer/"):
            return self._regularizer(self._variable)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return convert_to_tensor(self.value(), dtype, name=name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(convert_to_tensor(self.value()), name)

    def __repr__(self) -> str:
        return repr(self.value())


def _overload(operator: str) -> None:
    """Give penalties an operator of tensors."""
    setattr(_Penalty, operator, lambda self, *args: getattr(convert_to_tensor(self.value()), operator)(*args))


for _operator in Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__"}:  # type: ignore[attr-defined]
    if hasattr(Tensor, _operator):
        _overload(_operator)


def _origin(variable) -> str:
    parts = graph_parts(variable)
    if parts is None:
        return "an eager variable"
    file, line, function = parts.handle.op.defined_at
    return f"{file}:{line}, in {function}"


def _default_initializer(name: str, dtype: DType) -> Any:
    if dtype.is_floating:
        return initializers.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool or dtype == dtypes.string:
        return initializers.zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype!r} is required")


def _initial_value(
    shape: ShapeLike | None, wanted: TensorShape, dtype: DType, initializer: Any, partition_info
) -> tuple[Any, Any]:
    """What a variable starts from, and the dtype to give to it (None: the value's own)."""
    if not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return convert_to_tensor(initializer), None
    if inspect.isclass(initializer):
        initializer = initializer()
    named = inspect.signature(initializer).parameters
    if wanted.is_fully_defined():
        # Initializers of 1.x take which part they fill.
        part = {"partition_info": partition_info} if "partition_info" in named else {}
        return functools.partial(initializer, wanted.as_list(), dtype=dtype, **part), dtype
    parameters = named.values()
    free = all(
        p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )
    if free:
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the "
        "shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` should "
        "be fully defined."
    )


@api(v1="get_local_variable")
@public
def get_local_variable(
    name: str | None, shape: ShapeLike | None = None, dtype: DTypeLike | None = None, initializer=None,
    regularizer: Callable[..., Any] | None = None, trainable: bool = False, collections=None, caching_device=None,
    partitioner=None, validate_shape: bool = True, use_resource=None, custom_getter: Callable[..., Any] | None = None,
    constraint=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
):
    """`get_variable` of a variable that is not trainable, in the collection of local variables.

    Args:
      name: the name.
      shape: the shape; None where the initializer knows it.
      dtype: the dtype; None: that of the scope, or float32.
      initializer: an initializer, or a tensor; None: that of the scope.
      regularizer: a function of the variable whose result is added to the regularization losses.
      trainable: whether optimizers update it.
      collections: names of collections of the graph that it is added to.
      caching_device: has no effect on the result.
      partitioner: a function of shape and dtype that says into how many parts it is split.
      validate_shape: whether the shape has to be known.
      use_resource: whether it is a resource variable; None: as the scope says.
      custom_getter: a function that is called in place of this one, with it as the first argument.
      constraint: a function of the value, applied after an update.
      synchronization: when copies on several devices are brought together.
      aggregation: how copies on several devices are combined.
    """
    collections = [*(collections or []), "local_variables"]
    return get_variable(
        name, shape, dtype, initializer, regularizer, False, collections, caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation,
    )  # fmt: skip


@api(v1="no_regularizer")
@public
def no_regularizer(_):
    """The regularizer that keeps `get_variable` from the one of the scope: None for every variable."""


class _TemplateScoping:
    """What templates need of scopes and stores."""

    new_store = EagerVariableStore
    variable = staticmethod(get_variable)

    @staticmethod
    def scope(unique_name, name: str, custom_getter: Callable[..., Any]):
        return variable_scope(unique_name, default_name=name, custom_getter=custom_getter)

    @staticmethod
    def again(scope):
        return variable_scope(scope)

    @staticmethod
    def trainable_variables():
        graph = context.current_graph()
        return [] if graph is None else list(graph.get_collection("trainable_variables"))


template.register_scoping(_TemplateScoping)
