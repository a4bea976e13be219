"""What libraries of TensorFlow ask a variable beside its public attributes, under TensorFlow's names."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.convert import convert_to_tensor

_has_cell = _native.Variable._has_cell.__get__  # type: ignore[attr-defined]

# A class that defines one of these has a say in what reading its variables gives.
_READERS = ("value", "__tf_tensor__", "_dense_var_to_tensor")

# What a variable has because it has a cell: `tf.Variable` of TensorFlow, which has none, lacks it, so that
# `__getattr__` of a class that wraps another variable finds that one's.
_OF_CELLS = {
    "_aggregation", "_cached_value", "_caching_device", "_constraint", "_declared", "_distribute_strategy",
    "_dtype", "_graph_element", "_graph_key", "_handle", "_handle_name", "_in_graph_mode", "_initial_value",
    "_initializer_op", "_is_set", "_parts", "_read_variable_op", "_save_slice_info", "_shape", "_shape_tuple",
    "_synchronization", "_trainable", "_type_spec", "_unique_id", "_validate_shape", "create", "handle",
    "is_initialized", "scatter_nd_max", "scatter_nd_min",
}  # fmt: skip


def delegating_getattribute(self: Any, name: str) -> Any:
    """`__getattribute__` of a class of variables with a `__getattr__`, which finds what belongs to a cell elsewhere."""
    if name in _OF_CELLS and not _has_cell(self):
        raise AttributeError(name)
    return object.__getattribute__(self, name)


def reads_by_class(cls: type) -> bool:
    """Whether a class of variables says what reading gives, rather than leaving it to the cell."""
    for base in cls.__mro__:
        if "_reads_by_class" in base.__dict__:
            return bool(base.__dict__["_reads_by_class"])
        if any(name in base.__dict__ for name in _READERS):
            return True
    return False


class VariableAttributes:
    """Mixin of variables: their half-public attributes."""

    __slots__ = ()

    # Whether its class says what reading gives; set for each class.
    _reads_by_class = False
    _shape = property(lambda self: self.shape)
    _dtype = property(_native.Variable.dtype.__get__)  # a DType, whatever a class shows as `dtype`
    _synchronization = property(lambda self: self.synchronization)
    _aggregation = property(lambda self: self.aggregation)
    _constraint = property(lambda self: self.constraint)
    _handle = property(lambda self: self.handle)
    _caching_device = None
    _validate_shape = True
    _cached_value = None
    _distribute_strategy: Any = None  # the one in whose scope it was made
    _graph_element = property(lambda self: self._as_graph_element())
    _initializer_op = property(lambda self: self.initializer)
    _initial_value = property(lambda self: None if self._parts is None else self.initial_value)

    @property
    def _trainable(self) -> bool:
        return self.trainable  # type: ignore[attr-defined]

    @_trainable.setter
    def _trainable(self, value: bool) -> None:
        self._init(self._dtype, value)  # type: ignore[attr-defined]

    @property
    def _unique_id(self) -> str:
        """A name that no other variable of the process has."""
        return f"{self._handle_name.rpartition(':')[0]}_{id(self)}"

    @property
    def _handle_name(self) -> str:
        return f"{self._shared_name}:0"  # type: ignore[attr-defined]

    @_handle_name.setter
    def _handle_name(self, name: str) -> None:
        self.name = name  # type: ignore[misc]

    @property
    def _graph_key(self) -> Any:
        """What says which graph a variable belongs to."""
        return id(self.graph) if self._in_graph_mode else context.__name__  # type: ignore[attr-defined]

    @property
    def _in_graph_mode(self) -> bool:
        return self._parts is not None  # type: ignore[attr-defined]

    def _shape_tuple(self) -> tuple[Any, ...]:
        return tuple(self.shape.as_list())  # type: ignore[attr-defined]

    def _dense_var_to_tensor(self, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
        """The value as a tensor."""
        return convert_to_tensor(self._read(), dtype, name=name)  # type: ignore[attr-defined]

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return self._dense_var_to_tensor(dtype, name)

    def _read_variable_op(self) -> Any:
        return self.read_value()  # type: ignore[attr-defined]

    def _convert_variables_to_tensors(self) -> Any:
        return self.read_value()  # type: ignore[attr-defined]

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """What a checkpoint holds of it: a function that reads the value."""
        return {"VARIABLE_VALUE": self.read_value}  # type: ignore[attr-defined]

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Takes what `_serialize_to_tensors` gave, read."""
        return self.assign(restored_tensors["VARIABLE_VALUE"], read_value=False)  # type: ignore[attr-defined]

    @classmethod
    def _OverloadAllOperators(cls) -> None:
        """Gives a subclass the operators of tensors, applied to what its `value()` is."""
        for operator in _native.Tensor.OVERLOADABLE_OPERATORS:  # type: ignore[attr-defined]
            if hasattr(_native.Tensor, operator):  # those of Python 2 are there for libraries only
                cls._OverloadOperator(operator)

    @classmethod
    def _OverloadOperator(cls, operator: str) -> None:
        of_tensors = getattr(_native.Tensor, operator)

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return of_tensors(self.value(), *args, **kwargs)

        method.__name__, method.__doc__ = operator, of_tensors.__doc__
        setattr(cls, operator, method)
