"""`Variable`: a cell that holds a tensor, and takes part in operations as that tensor.

Reading, identity and updates of the whole value in place are native; here are creation, checks and the
many ways to assign.
"""

from __future__ import annotations

import abc
import contextlib
import copy
import enum
import functools
import operator
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, dtypes, promotion, tensor_shape
from tapeflow.core.annotations import DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.display import notebook, printing
from tapeflow.core.dtensor import placed
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.log import get_logger
from tapeflow.core.public import public_methods
from tapeflow.core.structures.object_identity import Reference
from tapeflow.core.tracking.trackable import Trackable
from tapeflow.core.variables import creators, dtype_of, has_cell
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.control import flow as control
from tapeflow.ops.indexing import slicing
from tapeflow.ops.io.save_slice import SaveSliceInfo
from tapeflow.ops.state import rows as state
from tapeflow.ops.state import scatter_rows
from tapeflow.ops.state.variable_attributes import (
    VariableAttributes,
    delegating_getattribute,
    reads_by_class,
)


def _variable_parts() -> ModuleType:
    from tapeflow.ops.state import variable_parts  # start-up time

    return variable_parts


# What makes variables while a graph is built; set by the `graph` package.
creation: Any = None


def register_creation(nodes: type) -> None:
    """Say what makes variables while a graph is built."""
    global creation
    creation = nodes


# Whether variables of 1.x are resources unless they say so: whoever feeds another one feeds all that reads it.
resources_by_default = True


@api("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several devices are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


@api("VariableAggregation")
class VariableAggregation(enum.Enum):
    """How the copies of a variable on several devices are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


@api("variable_creator_scope")
@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]):
    """Let `variable_creator(next_creator, **kwargs)` make the variables created inside."""
    creators.stack.append(variable_creator)
    try:
        yield
    finally:
        creators.stack.pop()


class _Creation(abc.ABCMeta):
    """Hands the creation of variables to the creators in scope, the innermost first."""

    # Abstract bases, such as that of all kinds of tensors, may be bases of classes of variables besides; what is a
    # variable is asked without them.
    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def __call__(cls, *args, **kwargs):
        stack = creators.stack
        if not stack or not cls._by_creators:
            return super().__call__(*args, **kwargs)
        named = dict(zip(cls._parameters, args))
        repeated = named.keys() & kwargs.keys()
        if repeated:
            raise TypeError(f"Variable() got multiple values for argument {min(repeated)!r}")
        make: Any = super().__call__
        for creator in stack:
            make = functools.partial(creator, make)
        # A creator may make variables of its own, which the creators around it see.
        creators.stack = stack[:-1]
        try:
            return make(**named, **kwargs)
        finally:
            creators.stack = stack


_IN_PLACE = {
    "+": (
        "`variable += value` with `tf.Variable`s is not supported. Use `variable.assign_add(value)` to "
        "modify the variable, or `out = variable + value` if you need to get a new output Tensor."
    ),
    "-": (
        "`variable -= value` with `tf.Variable`s is not supported. Use `variable.assign_sub(value)` to "
        "modify the variable, or `out = variable - value` if you need to get a new output Tensor."
    ),
}


_PLAIN = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul,
}  # fmt: skip


def _no_in_place(sign: str):
    def refuse(self, other: float):
        if self._is_reference and self._parts is not None:
            get_logger().warning(
                f"Variable {sign}= will be deprecated. Use `var.assign(var {sign} other)` if you want assignment to "
                f"the variable value or `x = x {sign} y` if you want a new python Tensor object."
            )
            return _PLAIN[sign](self, other)
        raise RuntimeError(
            _IN_PLACE.get(sign)
            or f"`var {sign}= value` with `tf.Variable`s is not supported. Use "
            f"`var.assign(var {sign} value)` to modify the variable or `var = var {sign} value` to get "
            "a new Tensor object."
        )

    return refuse


def variable_behind(value: Any) -> Any:
    """The variable that a value of a library's class stands for, by its handle; any other value as it is."""
    if isinstance(value, _native.Variable):
        if has_cell(value):
            return value
    elif isinstance(value, _native.Tensor) or not is_resource_variable(value):
        return value
    handle = getattr(value, "handle", None)
    found = handle.numpy() if isinstance(handle, _native.EagerTensor) else None
    return found() if isinstance(found, weakref.ref) else value


def is_resource_variable(var: Any) -> bool:
    """Whether a value is a variable: all of them are resources here."""
    return isinstance(var, _native.Variable) or hasattr(var, "_should_act_as_resource_variable")


@api(v2="Variable")
@public_methods
class Variable(_native.Variable, VariableAttributes, Trackable, metaclass=_Creation):
    """A value that can be replaced and updated, and that tapes watch by themselves if trainable.

    Args:
      initial_value: whatever converts to a tensor, or a callable without arguments that returns it.
      trainable: whether tapes watch it; None: yes, unless synchronization is ON_READ.
      name: by default `Variable`; the name gets the prefix of the name scope and the suffix `:0`.
      dtype: of the value, which is converted; None: that of the initial value.
      constraint: a function that optimizers apply to the value after each update.
      shape: what values may be assigned, possibly partial; None: that of the initial value.

    Raises ValueError without an initial value, and for one that does not have dtype and shape.
    """

    _reads_by_class = False

    _parameters: tuple[str, ...] = (
        "initial_value", "trainable", "validate_shape", "caching_device", "name", "variable_def",
        "dtype", "import_scope", "constraint", "synchronization", "aggregation", "shape",
    )  # fmt: skip
    __array_priority__ = 100
    SaveSliceInfo = SaveSliceInfo
    _declared: Any = None
    _collections: Any = None
    _is_reference = False
    # The nodes of a variable of a graph.
    _parts: Any = None

    def __init__(
        self, initial_value: Callable[..., Any] | TensorLike | None = None, trainable: bool | None = None,
        validate_shape: bool = True, caching_device=None, name: str | None = None, variable_def=None,
        dtype: DTypeLike | None = None, import_scope: str | None = None, constraint=None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE, shape: ShapeLike | None = None,
        experimental_enable_variable_lifting: bool = True,
    ):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            if context.executing_eagerly():
                raise ValueError(
                    "Creating a `tf.Variable` with a `variable_def` arg is not supported when eager execution is "
                    "enabled."
                )
            known = creation.from_proto(variable_def, import_scope)
            self._init(dtype_of(known), known.trainable)
            self.__dict__.update(known.__dict__)
            return
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                "providing a `variable_def`. You provided neither."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(
                "Argument `constraint` must be None or a callable. a callable. Got a "
                f"{type(constraint)}:  {constraint}"
            )
        if trainable is None:
            trainable = synchronization is not VariableSynchronization.ON_READ
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
        given = {
            "initial_value": initial_value, "trainable": trainable, "validate_shape": validate_shape,
            "name": None if name is None else str(name), "dtype": dtype, "constraint": constraint,
            "synchronization": synchronization, "aggregation": aggregation, "shape": shape,
            "collections": self._collections,
        }  # fmt: skip
        self._create(given)

    def _create(self, given: dict[str, Any]):
        """Makes the variable of checked arguments: at once, or as nodes of the graph being built."""
        if not context.executing_eagerly():
            creation.create(self, given)
            return
        initial_value, dtype, shape = given["initial_value"], given["dtype"], given["shape"]
        if callable(initial_value):
            with context.name_scope("Initializer"):
                initial_value = initial_value()
        value = convert_to_tensor(initial_value, dtype)
        self._init(value.dtype, bool(given["trainable"]))
        if shape is not None:
            declared = tensor_shape.as_shape(shape)
            if not declared.is_compatible_with(value.shape):
                raise ValueError(
                    f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not "
                    f"compatible with the explicitly supplied `shape` argument ({shape})."
                )
            self._declared = declared
        elif not given["validate_shape"]:
            self._declared = tensor_shape.as_shape(None)
        self._set(value)
        self._finish(given)

    def _finish(self, given: dict[str, Any]):
        """What every variable has besides its value."""
        base = given["name"] or "Variable"
        name = given.get("full_name") or f"{context.current_name_scope()}{base}"
        self.name = f"{name}:0"
        self.constraint = given["constraint"]
        self.synchronization = given["synchronization"]
        self.aggregation = given["aggregation"]

    @property
    def shape(self):
        """The shape that values have, a `TensorShape`; partial if it was declared so."""
        declared = self._declared
        return self._value_shape if declared is None else declared

    def get_shape(self):
        """The same as `shape`."""
        return self.shape

    def set_shape(self, shape: ShapeLike):
        """Adds what `shape` knows to the declared shape."""
        self._declared = self.shape.merge_with(shape)

    @property
    def handle(self):
        """A scalar resource tensor that stands for the variable."""
        parts = self._parts
        return _native.Variable.handle.__get__(self) if parts is None else parts.handle

    @property
    def device(self):
        """Name of the device that holds the value."""
        return self._peek().device if self._parts is None else self._parts.handle.device

    def _part(self, name: str, error: type, text: str):
        parts = self._parts
        if parts is None:
            raise error(text)
        return getattr(parts, name)

    @property
    def initial_value(self):
        """The tensor of the value to begin with; only there in a graph."""
        return self._part(
            "initial_value", RuntimeError, "This property is not supported when eager execution is enabled."
        )

    @property
    def initializer(self):
        """The operation that initialises the variable; None eagerly, where it happens on creation."""
        return None if self._parts is None else self._parts.initializer

    @property
    def op(self):
        """The operation of the handle in a graph. Else None, as of the results of eager assignments in TensorFlow."""
        parts = self._parts
        return None if parts is None else parts.handle.op

    @property
    def graph(self):
        """Only there in a graph."""
        return self._part(
            "graph", AttributeError, "Tensor.graph is undefined when eager execution is enabled."
        )

    @property
    def create(self):
        """The operation that initialises the variable; only there in a graph."""
        return self._part(
            "initializer", RuntimeError, "This operation is not supported when eager execution is enabled."
        )

    def _as_graph_element(self):
        """What a session fetches for the variable."""
        return None if self._parts is None else self._parts.element

    # Whether creators in scope make the variables that are asked of this class.
    _by_creators = True

    def __init_subclass__(cls, by_creators=False, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._by_creators = by_creators
        cls._reads_by_class = reads_by_class(cls)
        if "__getattr__" in cls.__dict__:
            cls.__getattribute__ = delegating_getattribute

    @property
    def _shared_name(self):
        return self.name[:-2]

    # Which part of a larger variable this one is; None: it is whole.
    _save_slice_info: Any = None

    def _set_save_slice_info(self, save_slice_info):
        """Says which part of a larger variable this one is; checkpoints keep it as that."""
        self._save_slice_info = save_slice_info

    def is_initialized(self, name: str | None = None):
        """A bool scalar tensor: whether there is a value."""
        if not context.executing_eagerly():
            return state.VarIsInitializedOp(self)
        return convert_to_tensor(self._is_set)

    def initialized_value(self):
        """The value; in a graph the initial one as long as there is no other."""
        if self._parts is None:
            return self.read_value()

        return control.cond(self.is_initialized(), self.read_value, lambda: self.initial_value)

    def eval(self, session=None):
        """The value as a NumPy array; in a graph that in `session` or the default one."""
        return self.numpy() if self._parts is None else self._parts.element.eval(session=session)

    def _peek(self):
        """The value, without telling tapes."""
        with _native.PausedTapes():
            return self.read_value()

    def _ref(self):
        """What stood for the place of the value in 1.x: the variable, which is read where it is used."""
        return self

    def to_proto(self, export_scope: str | None = None):
        """The `VariableDef` of a variable of a graph; None if it is not in `export_scope`.

        Raises RuntimeError eagerly.
        """
        if self._parts is None:
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        return creation.to_proto(self, export_scope)

    @staticmethod
    def from_proto(variable_def, import_scope: str | None = None):
        """The variable of the default graph that a `VariableDef` names. Raises ValueError if it names none."""
        if context.executing_eagerly():
            raise RuntimeError("This operation is not supported when eager execution is enabled.")
        return creation.from_proto(variable_def, import_scope)

    def ref(self):
        """A hashable `Reference` to this variable."""
        return Reference(self)

    experimental_ref = ref

    # Comparison: by elements as of 2.x, by identity in graphs of 1.x.

    def __eq__(self, other):
        if context.compares_elements():
            return _native.Variable.__eq__(self, other)
        return self is other

    def __ne__(self, other):
        if context.compares_elements():
            return _native.Variable.__ne__(self, other)
        return self is not other

    def __hash__(self):
        if context.tensor_equality() and context.executing_eagerly():
            raise TypeError(
                "Variable is unhashable. Instead, use variable.ref() as the key. "
                f"(Variable: {self!r})"
            )
        return id(self)

    # Assignment.

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ):
        """Replaces the value. Returns the variable.

        Raises ValueError for a value of another dtype or a shape that is not the variable's.
        """
        after = self._try_assign(value)
        if after is None:
            if not context.executing_eagerly():
                value = promotion.assigned(self, value, "assign")
                return self._assign_in_graph(state.AssignVariableOp, value, read_value, name)
            self._assign_converted(promotion.assigned(self, value, "assign"))
            after = self._assigned()
        return after if read_value else None

    def _assign_in_graph(
        self, row: Callable[..., Any], value: TensorLike, read_value: bool = True, name: str | None = None
    ):
        """The assignment as an operation; returns the variable as it is after it."""
        value = convert_to_tensor(value, self._dtype)
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
                f"{self.shape}, and the assigned value shape {value.shape} are incompatible."
            )
        strict = row is state.AssignVariableOp and self.shape.is_fully_defined()
        attrs = {"validate_shape": True} if strict else {}
        return creation.assigned(self, creation.call(row, (self, value), name, attrs), read_value)

    def _assign_any_shape(self, value: Tensor, name: str | None = None):
        """`assign` of a value whose shape may be another than the declared one; of variables of graphs."""
        value = convert_to_tensor(value, self._dtype)
        creation.expect_shape(self, value.shape)
        op = creation.call(state.AssignVariableOp, (self, value), name)
        return creation.reshaped(self, op, value.shape)

    def _assign_converted(self, value: TensorLike):
        tensor = convert_to_tensor(value, self._dtype)
        if not self.shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
                f"{self.shape}, and the assigned value shape {tensor.shape} are incompatible."
            )
        self._set(placed.like(tensor, self))

    def assign_add(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None,
        read_value: bool = True,
    ):
        """Adds `delta`, of the variable's dtype and shape, to the value. Returns the variable."""
        after = self._assign_add(delta)
        if after is None:
            if not context.executing_eagerly():
                delta = promotion.assigned(self, delta, "assign_add")
                return self._assign_in_graph(state.AssignAddVariableOp, delta, read_value is not False, name)
            delta = promotion.assigned(self, delta, "assign_add")
            state.AssignAddVariableOp(self, convert_to_tensor(delta, self._dtype))
            after = self._assigned()
        return after if read_value else None

    def assign_sub(
        self, delta: TensorLike, use_locking: bool | None = None, name: str | None = None,
        read_value: bool = True,
    ):
        """Subtracts `delta`, of the variable's dtype and shape, from the value. Returns the variable."""
        after = self._assign_sub(delta)
        if after is None:
            if not context.executing_eagerly():
                delta = promotion.assigned(self, delta, "assign_sub")
                return self._assign_in_graph(state.AssignSubVariableOp, delta, read_value is not False, name)
            delta = promotion.assigned(self, delta, "assign_sub")
            state.AssignSubVariableOp(self, convert_to_tensor(delta, self._dtype))
            after = self._assigned()
        return after if read_value else None

    def load(self, value: Any, session=None):
        """The same as `assign`, of the 1.x API; in a graph it is done at once, in `session` or the default one."""
        if self._parts is None:
            self.assign(value)
        else:
            initializer = self._parts.initializer
            initializer.run({initializer.inputs[1]: value}, session)

    def _scatter(self, row: Callable[..., Any], sparse_delta: IndexedSlices):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}"
            )
        op = row(self, sparse_delta.indices, convert_to_tensor(sparse_delta.values, self._dtype))
        return self._after(op)

    def _after(self, op):
        """What an assignment returns: the variable as it is after it."""
        return self._assigned() if op is None else creation.assigned(self, op, True)

    def scatter_add(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None):
        """Adds slices of an `IndexedSlices` to rows of the value. Returns the variable."""
        return self._scatter(scatter_rows.ResourceScatterAdd, sparse_delta)

    def scatter_sub(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None):
        """Subtracts slices of an `IndexedSlices` from rows of the value. Returns the variable."""
        return self._scatter(scatter_rows.ResourceScatterSub, sparse_delta)

    def scatter_mul(self, sparse_delta, use_locking: bool = False, name: str | None = None):
        """Multiplies rows of the value by slices of an `IndexedSlices`. Returns the variable."""
        return self._scatter(scatter_rows.ResourceScatterMul, sparse_delta)

    def scatter_div(self, sparse_delta, use_locking: bool = False, name: str | None = None):
        """Divides rows of the value by slices of an `IndexedSlices`. Returns the variable."""
        return self._scatter(scatter_rows.ResourceScatterDiv, sparse_delta)

    def scatter_max(self, sparse_delta, use_locking: bool = False, name: str | None = None):
        """Raises rows of the value to slices of an `IndexedSlices` at least. Returns the variable."""
        return self._scatter(scatter_rows.ResourceScatterMax, sparse_delta)

    def scatter_min(self, sparse_delta, use_locking: bool = False, name: str | None = None):
        """Lowers rows of the value to slices of an `IndexedSlices` at most. Returns the variable."""
        return self._scatter(scatter_rows.ResourceScatterMin, sparse_delta)

    def scatter_update(self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None):
        """Replaces rows of the value by slices of an `IndexedSlices`. Returns the variable."""
        return self._scatter(scatter_rows.ResourceScatterUpdate, sparse_delta)

    def batch_scatter_update(self, sparse_delta, use_locking: bool = False, name: str | None = None):
        """Replaces rows in each batch: `value[i.., indices[i.., j]] = values[i.., j]`."""
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}"
            )
        batch_coordinates = _variable_parts().batch_coordinates
        where = batch_coordinates(sparse_delta.indices)
        return self.scatter_nd_update(where, sparse_delta.values)

    def scatter_nd_add(self, indices: Sequence[Any], updates: Sequence[float], name: str | None = None):
        """Adds `updates` to the slices that the rows of `indices` name. Returns the variable."""
        return self._scatter_nd(scatter_rows.ResourceScatterNdAdd, indices, updates)

    def scatter_nd_sub(self, indices: Sequence[Any], updates: Sequence[float], name: str | None = None):
        """Subtracts `updates` from the slices that the rows of `indices` name. Returns the variable."""
        return self._scatter_nd(scatter_rows.ResourceScatterNdSub, indices, updates)

    def scatter_nd_update(self, indices: Sequence[Any], updates: Sequence[float], name: str | None = None):
        """Replaces the slices that the rows of `indices` name. Returns the variable."""
        return self._scatter_nd(scatter_rows.ResourceScatterNdUpdate, indices, updates)

    def scatter_nd_max(self, indices, updates, name: str | None = None):
        """Raises the slices that the rows of `indices` name to `updates` at least."""
        return self._scatter_nd(scatter_rows.ResourceScatterNdMax, indices, updates)

    def scatter_nd_min(self, indices, updates, name: str | None = None):
        """Lowers the slices that the rows of `indices` name to `updates` at most."""
        return self._scatter_nd(scatter_rows.ResourceScatterNdMin, indices, updates)

    def _scatter_nd(self, row: Callable[..., Any], indices: Sequence[Any], updates: Sequence[float]):
        return self._after(row(self, indices, convert_to_tensor(updates, self._dtype)))

    def sparse_read(self, indices: TensorLike, name: str | None = None):
        """The rows of the value at `indices`; its gradient is an `IndexedSlices`."""
        return state.ResourceGather(self, indices, dtype=self._dtype)

    def gather_nd(self, indices, name: str | None = None):
        """The slices of the value that the rows of `indices` name."""
        return Identity(state.ResourceGatherNd(self, indices, dtype=self._dtype))

    def count_up_to(self, limit: int):
        """Adds one to an integer scalar, and returns what it was.

        Raises OutOfRangeError if it has reached `limit`.
        """
        return _variable_parts().count_up_to(self, limit)

    # Parts of the value.

    def _read(self):
        """The value as the class has it."""
        return self.value() if self._reads_by_class else self.read_value()

    def __getitem__(self, key: Any):
        part = slicing.getitem(self._read(), key)
        part.assign = functools.partial(self._assign_part, key)
        return part

    def _assign_part(self, key, value, name: str | None = None):
        """`variable[key].assign(value)`. Returns the variable."""
        return _variable_parts().assign_part(self, key, value)

    def __iter__(self):
        return iter(self._read())

    # Text and copies.

    def __repr__(self):
        if not self._has_cell:
            return object.__repr__(self)
        if self._parts is not None or not context.executing_eagerly():
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
        if not self._is_set:
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, numpy=<uninitialized>>"
        held = placed.mesh_array(self._peek())
        if held is not None:
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, value={held.text()}>"
        return printing.variable_to_str(self.name, self.numpy(), self.shape, self.dtype)

    def _repr_html_(self):
        if not self._has_cell or self._parts is not None or not context.executing_eagerly() or not self._is_set:
            return notebook.caption(repr(self))
        facts = f"tf.Variable: name={self.name!r}, shape={self.shape}, dtype={self.dtype.name}"
        return notebook.array(facts, self.numpy())

    def __str__(self):
        return repr(self)  # that of the class

    def __format__(self, spec):
        return format(self._peek(), spec) if spec else str(self)

    def __array__(self, dtype=None, copy=None):
        if self._parts is not None and self._is_reference and not context.executing_eagerly():
            whole = np.empty((), object)  # the variable itself, as of any object that is no array
            whole[()] = self
            return whole
        array = np.asarray(self._peek())
        return array if dtype is None else array.astype(dtype, copy=bool(copy))

    def __copy__(self):
        return self._twin(self._peek())

    def __deepcopy__(self, memo: dict[Any, Any]):
        value = self._peek()
        if value.dtype.is_numpy_compatible and value.dtype != dtypes.string:
            value = convert_to_tensor(np.array(self), self._dtype)
        twin = self._twin(value)
        memo[id(self)] = twin
        known = {"name", "constraint", "synchronization", "aggregation", "_declared"}
        for key, item in self.__dict__.items():
            if key not in known:
                twin.__dict__[key] = copy.deepcopy(item, memo)
        return twin

    @property
    def _class_of_copies(self):
        return type(self)

    def _twin(self, value: Tensor):
        return _make(
            self._class_of_copies, value, self.trainable, self._handle_name, self._dtype, self.constraint,
            self.synchronization, self.aggregation, self._declared,
        )  # fmt: skip

    def __reduce_ex__(self, protocol):
        return _make, (
            self._class_of_copies, self.numpy(), self.trainable, self._handle_name, self._dtype, self.constraint,
            self.synchronization, self.aggregation, self._declared,
        )  # fmt: skip

    __iadd__ = _no_in_place("+")
    __isub__ = _no_in_place("-")
    __imul__ = _no_in_place("*")
    __itruediv__ = __idiv__ = _no_in_place("/")
    __ifloordiv__ = _no_in_place("//")
    __imod__ = _no_in_place("%")
    __ipow__ = _no_in_place("**")


def _make(
    kind: type, value: Tensor, trainable: bool, name: str, dtype: DType, constraint,
    synchronization: VariableSynchronization, aggregation: VariableAggregation, shape: ShapeLike | None,
):
    made = kind(
        value, trainable=trainable, dtype=dtype, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation, shape=shape,
    )  # fmt: skip
    made.name = name
    return made


@api(v1="Variable")
class VariableV1(Variable, by_creators=True):
    """`Variable` with the arguments of 1.x."""

    _parameters = (
        "initial_value", "trainable", "collections", "validate_shape", "caching_device", "name",
        "variable_def", "dtype", "expected_shape", "import_scope", "constraint", "use_resource",
        "synchronization", "aggregation", "shape", "experimental_enable_variable_lifting",
    )  # fmt: skip

    def __init__(
        self, initial_value: Callable[..., Any] | TensorLike | None = None, trainable: bool | None = None,
        collections: Sequence[str] | None = None, validate_shape: bool = True, caching_device=None,
        name: str | None = None, variable_def=None, dtype: DTypeLike | None = None, expected_shape=None,
        import_scope: str | None = None, constraint=None, use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE, shape: ShapeLike | None = None,
        experimental_enable_variable_lifting=None,
    ):
        self._collections = collections
        self._is_reference = not (resources_by_default if use_resource is None else use_resource)
        super().__init__(
            initial_value,
            trainable,
            validate_shape,
            caching_device,
            name,
            variable_def,
            dtype,
            import_scope,
            constraint,
            synchronization,
            aggregation,
            shape,
        )


class _UnreadVariable(Variable):
    """What an eager assignment returns: the same variable, with its cell and attributes, under another name.

    The name is what TensorFlow shows.
    """

    _class_of_copies = Variable

    @property
    def name(self):
        """The same for all of them."""
        return "UnreadVariable"

    @property
    def _shared_name(self):
        return self.__dict__["name"][:-2]

    @property
    def _parent(self):
        """The variable itself."""
        return self.handle.numpy()()


_native.set_unread_type(_UnreadVariable, (Variable, VariableV1))
