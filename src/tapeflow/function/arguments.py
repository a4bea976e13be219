"""The arguments of a traced function: bound to its signature, taken apart into tensors and the rest."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core import context, dtypes, replicas
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SIZES
from tapeflow.core.specs.tensor_spec import TypeSpec
from tapeflow.core.specs.trace_type import TraceType
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.function import function_type
from tapeflow.function.casting import cast
from tapeflow.function.function_type import FunctionType
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

    def __init__(self, function: Callable[..., Any], input_signature: Any):
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        try:
            self.signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None
        self.input_signature = None
        # With an input signature: the type of the function, and what it wants of each argument.
        self.declared: FunctionType | None = None
        self._wanted: Mapping[str, Any] = {}
        if input_signature is not None:
            self.input_signature = _checked(input_signature)
            self.declared, self._wanted = FunctionType.declared(self.signature, self.input_signature)

    @functools.cached_property
    def names(self) -> list[str]:
        """Names of the positional parameters."""
        if self.signature is None:
            return []
        return [
            p.name for p in self.signature.parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]  # fmt: skip

    @functools.cached_property
    def variadic(self) -> str | None:
        """The name of the parameter for any number of positional arguments; None if there is none."""
        parameters = () if self.signature is None else self.signature.parameters.values()
        return next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)

    @property
    def fullargspec(self) -> inspect.FullArgSpec:
        """The parameters as `inspect.getfullargspec` gives them."""
        return inspect.getfullargspec(self.function)

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional as far as possible, with defaults, made what the input signature wants.

        Raises TypeError as a call of the function would.
        """
        signature = self.signature if self.declared is None else self.declared
        if signature is None:
            return args, kwargs
        try:
            bound = signature.bind(*args, **kwargs)
            if self.declared is not None:
                self._cast(bound)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} "
                f"and kwargs: {kwargs} for "
                f"signature: {signature if self.declared is None else self.declared.text_of_parameters()}."
            ) from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _cast(self, bound: inspect.BoundArguments) -> None:
        parameters = bound.signature.parameters
        for name, wanted in self._wanted.items():
            given = bound.arguments
            given[name] = cast(wanted, given[name] if name in given else parameters[name].default.value)

    def of_specs(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """As `bind`, of specs in place of values; with an input signature, its own specs.

        Raises TypeError if they do not fit.
        """
        if self.declared is None:
            return self.bind(args, kwargs)
        if args or kwargs:
            args, kwargs = self.bind(args, kwargs)
            owner = args[:1] if next(iter(self.declared.parameters), "") == "self" else ()
        else:
            owner = ()
        bound = self.declared.bind_partial(*owner)
        bound.arguments.update(self._wanted)
        return bound.args, bound.kwargs

    def check_unchanged(self, before: Any, after: Any) -> None:
        """Raises ValueError if lists or dicts among the arguments, (args, kwargs), were changed by a trace."""
        named = [*function_type.labels(self.names, self.variadic, len(after[0])), *after[1]]
        each = zip([*before[0], *before[1].values()], [*after[0], *after[1].values()], strict=True)
        changed = [name for name, pair in zip(named, each, strict=True) if not _is_same(*pair)]
        if changed:
            raise ValueError(
                f"{self.name}{self.signature} should not modify its Python input arguments. "
                f"Modifying a copy is allowed. The following parameter(s) were modified: {', '.join(changed)}"
            )

    def take(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The arguments of a call."""
        args, kwargs = self.bind(args, kwargs)
        args, kwargs = nest.map_structure(as_argument, (args, kwargs), expand_composites=False)
        return take_apart(args, kwargs)


def _is_same(before: Any, after: Any) -> bool:
    """Whether two structures hold the same leaves in the same places."""
    try:
        nest.assert_same_structure(before, after)
    except (TypeError, ValueError):
        return False
    return all(a is b for a, b in zip(nest.flatten(before), nest.flatten(after), strict=True))


def _checked(input_signature: Any) -> tuple[Any, ...]:
    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(f"input_signature must be either a tuple or a list, got {type(input_signature)}.")
    leaves = nest.flatten(input_signature)
    wrong = [x for x in leaves if not isinstance(x, (TypeSpec, TraceType))]
    if wrong:
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
            f"{wrong} with types {[type(x) for x in wrong]}."
        )
    return tuple(input_signature)


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

    __slots__ = ("number", "ref")

    def __init__(self, value: Any):
        self.number = id(value)
        try:
            self.ref: Any = weakref.ref(value)
        except TypeError:
            self.ref = lambda: value

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Identity)
            and self.number == other.number
            and self.ref() is other.ref() is not None
        )


_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def _key(x: Any) -> Any:
    """What of a Python value a trace depends on."""
    if isinstance(x, _PLAIN):
        return (type(x), x if x == x else "nan", str(x) if isinstance(x, float) else "")
    if isinstance(x, (_Variable, _Tensor)):
        return _Identity(x)
    if isinstance(x, (TensorShape, TypeSpec, dtypes.DType)):
        return (type(x), x) if getattr(type(x), "__hash__", None) else _Identity(x)
    own = getattr(type(x), "__tf_tracing_type__", None)
    if own is not None:
        return own(x, None)
    if isinstance(x, weakref.ref):
        raise TypeError(f"weakref input {x!r} not supported for tf.function.")
    try:
        hash(x)
    except TypeError:
        raise TypeError(
            f"Could not generate a generic TraceType for {x!r}. Please verify that it is immutable/hashable. "
            "Otherwise, consider implementing the Tracing Protocol for it."
        ) from None
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
