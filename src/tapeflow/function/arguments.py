"""The arguments of a traced function: bound to its signature, taken apart into tensors and the rest."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes, replicas
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SIZES
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.tensor import SymbolicTensor

_Tensor = _native.Tensor
_Variable = _native.Variable


class Call(NamedTuple):
    """Arguments, taken apart.

    Attributes:
      args, kwargs: bound to the signature, defaults filled in, arrays made tensors.
      leaves: all leaves of both, composites expanded.
      tensors: those of them that are tensors.
      key: what a trace is for, without shapes: hashable.
      specs: (dtype, shape tuple) of each tensor; for the dense shape of a sparse tensor (SIZES, what is known of it).
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: list[Any]
    tensors: list[Any]
    key: Any
    specs: tuple[Any, ...]


class Signature:
    """How a Python function is called.

    Args:
      input_signature: specs of the arguments, or None.

    Raises TypeError or ValueError for an input signature that does not fit the function.
    """

    def __init__(self, function: Callable[..., Any], input_signature: Any, bound: bool = False):
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        try:
            self.signature: inspect.Signature | None = _signature(function)
        except (TypeError, ValueError):
            self.signature = None
        self.input_signature = None
        if input_signature is not None:
            if not isinstance(input_signature, (tuple, list)):
                raise TypeError(
                    f"input_signature must be either a tuple or a list, got {type(input_signature)}."
                )
            self.input_signature = tuple(input_signature)
            for spec in nest.flatten(self.input_signature):
                if not isinstance(spec, TypeSpec):
                    raise TypeError(
                        "Expected `input_signature` to be a possibly nested sequence of TensorSpec, got "
                        f"{type(spec)}."
                    )

    @functools.cached_property
    def names(self) -> list[str]:
        """Names of the positional parameters."""
        if self.signature is None:
            return []
        return [
            p.name for p in self.signature.parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]  # fmt: skip

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional as far as possible, with defaults. Raises TypeError as a call of the function would."""
        if self.signature is None:
            return args, kwargs
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} "
                f"and kwargs: {kwargs} for "
                f"signature: {self.signature}."
            ) from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def take(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The arguments of a call."""
        args, kwargs = self.bind(args, kwargs)
        if self.input_signature is not None:
            args, kwargs = self._fitted(args, kwargs)
        args, kwargs = nest.map_structure(as_argument, (args, kwargs), expand_composites=False)
        return take_apart(args, kwargs)

    def _fitted(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments converted to what the input signature says."""
        specs = self.input_signature
        assert specs is not None
        if len(args) < len(specs):
            # Keyword-only ones may be named by trailing specs; missing ones are an error.
            raise TypeError(
                f"{self.name}() missing arguments for input_signature {specs}: got {args}."
            )
        for value, name in zip(args[len(specs) :], self.names[len(specs) :], strict=False):
            parameter = self.signature.parameters[name] if self.signature else None
            if parameter is None or parameter.default is inspect.Parameter.empty:
                raise TypeError(
                    f"{self.name}(): input_signature {specs} specifies {len(specs)} arguments, but got {len(args)}: "
                    f"{value!r} for '{name}' is not covered."
                )
        fitted = []
        for value, spec in zip(args, specs, strict=False):
            try:
                converted = _fitted(spec, value)
            except (TypeError, ValueError) as error:
                raise TypeError(mismatch(self.name, args, specs, error)) from None
            fitted.append(converted)
        return (*fitted, *args[len(specs) :]), kwargs


def mismatch(name: str, args: Any, specs: Any, error: Any) -> str:
    return (
        f"Binding inputs to tf.function failed due to `{error}`. Python inputs incompatible with input_signature:\n"
        f"inputs: {args}\ninput_signature: {specs}."
    )


def _fitted(spec: Any, value: Any) -> Any:
    """An argument converted to what a spec says; where a tensor is expected, lists of numbers become one."""
    if isinstance(spec, TensorSpec):
        return _converted(spec, value)
    if isinstance(spec, TypeSpec) or not nest.is_nested(spec):
        nest.assert_same_structure(spec, value, expand_composites=False)
        return nest.map_structure(_converted, spec, value)
    if isinstance(spec, dict):
        if not isinstance(value, dict) or spec.keys() != value.keys():
            nest.assert_same_structure(spec, value, expand_composites=False)
        return type(value)({key: _fitted(spec[key], value[key]) for key in value})
    if not isinstance(value, (list, tuple)) or len(value) != len(spec):
        nest.assert_same_structure(spec, value, expand_composites=False)
    items = [_fitted(s, v) for s, v in zip(spec, value, strict=True)]
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def _converted(spec: Any, value: Any) -> Any:
    if isinstance(spec, TensorSpec):
        if not isinstance(value, (_Tensor, _Variable)):
            value = convert_to_tensor(value, spec.dtype if not hasattr(value, "dtype") else None)
        if isinstance(value, _Variable):
            value = value.read_value()
        if value.dtype != spec.dtype:
            raise TypeError(f"Can not cast {TensorSpec(value.shape, value.dtype)!r} to {spec!r}")
        if not spec.shape.is_compatible_with(value.shape):
            raise TypeError(f"Can not cast {TensorSpec(value.shape, value.dtype)!r} to {spec!r}")
        return value
    if not spec.is_compatible_with(value):
        raise TypeError(f"Can not cast {value!r} to {spec!r}")
    return value


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def as_argument(x: Any) -> Any:
    """Arrays are tensors; everything else is what it is."""
    if isinstance(x, (np.ndarray, np.generic)):
        return convert_to_tensor(x)
    return x


def take_apart(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    leaves, tensors, keys, specs = [], [], [], []
    for x in nest.flatten((args, kwargs), expand_composites=False):
        if isinstance(x, _Tensor):
            leaves.append(x)
            tensors.append(x)
            keys.append(int(x.dtype))
            specs.append((x.dtype, shape_of(x)))
        elif not nest.is_nested_or_composite(x):
            leaves.append(x)
            keys.append(_key(x))
        else:
            parts = nest.flatten(x, expand_composites=True)
            leaves += parts
            own = [part for part in parts if isinstance(part, _Tensor)]
            tensors += own
            keys += [int(part.dtype) if isinstance(part, _Tensor) else _key(part) for part in parts]
            known = getattr(x, "_trace_specs", None)
            specs += [(part.dtype, shape_of(part)) for part in own] if known is None else known()
    structure = _structure((args, kwargs))
    return Call(args, kwargs, leaves, tensors, (structure, tuple(keys)), tuple(specs))


def shape_of(x: Any) -> tuple[int | None, ...] | None:
    if isinstance(x, SymbolicTensor):
        return x.shape_tuple
    return tuple(x.shape.as_list())


def _structure(x: Any) -> Any:
    """A nested structure as something hashable, leaves left out."""
    if not nest.is_nested_or_composite(x):
        return None
    if isinstance(x, dict):
        return type(x), tuple((k, _structure(x[k])) for k in sorted(x, key=str))
    if isinstance(x, (list, tuple)):
        return type(x), tuple(_structure(v) for v in x)
    return type(x), len(nest.flatten(x, expand_composites=True)), getattr(x, "_trace_key", None)


class _Identity:
    """A key that is equal to itself only, and knows when its object is gone."""

    __slots__ = ("_id", "_ref")

    def __init__(self, value: Any):
        self._id = id(value)
        try:
            self._ref: Any = weakref.ref(value)
        except TypeError:
            self._ref = lambda: value

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Identity)
            and self._id == other._id
            and self._ref() is other._ref() is not None
        )


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def _key(x: Any) -> Any:
    """What of a Python value a trace depends on."""
    if isinstance(x, _PLAIN):
        return (type(x), x if x == x else "nan", str(x) if isinstance(x, float) else "")
    if isinstance(x, (_Variable, _Tensor)):
        return _Identity(x)
    if isinstance(x, (TensorShape, TypeSpec)) or type(x).__module__.startswith(
        "tapeflow.core.dtypes"
    ):
        return (type(x), x) if getattr(type(x), "__hash__", None) else _Identity(x)
    own = getattr(type(x), "__tf_tracing_type__", None)
    if own is not None:
        return own(x, None)
    try:
        hash(x)
    except TypeError:
        return _Identity(x)
    if callable(x) or type(x).__eq__ is object.__eq__:
        return _Identity(x)
    return (type(x), x)


def context_keys() -> tuple[Any, Any]:
    """What around a call its trace depends on: outside of functions that are traced, and within the innermost one."""
    graph = outside = context.current_graph()
    while isinstance(outside, FuncGraph):
        outside = outside.enclosing_graph
    strategy, replica = replicas.strategy(), replicas.state.replica
    place = (
        context.device_name(),
        None if strategy is None else _Identity(strategy),
        None if replica is None else _of_replica(replica),
    )
    shared = (None if outside is None else _Identity(outside)), place
    return shared, (shared if graph is outside else (_Identity(graph), place))


def _of_replica(replica: Any) -> Any:
    """What a trace in a replica depends on: its number, or the graph of the step of all."""
    number = replica.replica_id_in_sync_group
    return number if isinstance(number, int) else _Identity(number)


def of_input(spec: Any) -> tuple[Any, tuple[int | None, ...] | None]:
    """The dtype and shape of the tensor that a spec of a `Call` describes."""
    dtype, shape = spec
    if dtype is not SIZES:
        return dtype, shape
    return dtypes.int64, (None if shape is None else len(shape),)


def relaxed(specs: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
    """Specs that are true of both calls."""
    result: list[Any] = []
    for (dtype, a), (_, b) in zip(specs, others, strict=True):
        if a is None or b is None or len(a) != len(b):
            result.append((dtype, None))
        else:
            result.append((dtype, tuple(x if x == y else None for x, y in zip(a, b, strict=True))))
    return tuple(result)


def covers(general: Sequence[Any], specs: Sequence[Any]) -> bool:
    """Whether a trace for `general` serves a call with `specs`."""
    for (_, a), (_, b) in zip(general, specs, strict=True):
        if a is None:
            continue
        if (
            b is None
            or len(a) != len(b)
            or any(x is not None and x != y for x, y in zip(a, b, strict=True))
        ):
            return False
    return True
