"""Functions of a loaded SavedModel: concrete ones out of the library, and those that find one for a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import OpError
from tapeflow.core.specs.protocol import from_placeholders
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.core.structures.structure import fields_of
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.graph.interchange.function_bodies import Functions
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.saved_model import structures
from tapeflow.saved_model.function_writing import signature_of
from tapeflow.saved_model.signatures import RestoredConcreteFunction

_Tensor = _native.Tensor
_Variable = _native.Variable


class Captured(NamedTuple):
    """What a function takes from outside.

    Attributes:
      tensor: what it is given: a handle or a value.
      variable: the variable of the handle, if it is that of one.
    """

    tensor: Any
    variable: Any = None


class _Given(NamedTuple):
    """What is known of an argument before the body of a function is built."""

    dtype: Any
    handle_dtype: Any = None
    handle_shape: Any = None


def build(
    functions: Functions,
    name: str,
    message: Any,
    captured: Sequence[Captured],
    keywords: Sequence[str] | None = None,
    kind: type[RestoredConcreteFunction] = RestoredConcreteFunction,
) -> RestoredConcreteFunction:
    """The concrete function of a `FunctionDef`.

    Args:
      message: its `SavedConcreteFunction`.
      keywords: names of the arguments that are tensors.

    Raises ValueError for messages that contradict each other.
    """
    definition = functions.definition(name)
    count = len(definition.signature.input_arg) - len(captured)
    if count < 0:
        raise ValueError(f"Function '{name}' has fewer arguments than it captures")
    given = [_Given(dtypes.float32)] * count + [_given(each) for each in captured]
    graph = functions.fresh(name, given).graph
    pairs = list(zip(captured, graph.inputs[count:], strict=True))
    for (outer, variable), inner in pairs:
        if outer.dtype != inner.dtype:
            raise ValueError(
                f"Function '{name}' takes {inner.dtype.name} where {outer.dtype.name} is captured"
            )
        graph.capture_again(outer, inner)
        if variable is not None:
            graph.variables_by_handle[variable] = inner
            graph.watch_variable(variable)
    args, kwargs = _arguments(message, name)
    graph.structured_outputs = results(message, graph.outputs, name)
    graph.structured_input_signature = (args, kwargs)
    names = _argument_names(args, kwargs, definition, count, keywords)
    made = kind(graph, name, (args, kwargs), names)
    made.output_specs = structures.decode(message.output_signature)
    return made


def _given(captured: Captured) -> _Given:
    variable = captured.variable
    if variable is None:
        return _Given(captured.tensor.dtype)
    shape = variable.shape
    return _Given(
        captured.tensor.dtype, variable.dtype, None if shape.rank is None else tuple(shape.as_list())
    )


def _arguments(message: Any, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    found = structures.decode(message.canonicalized_input_signature)
    if (
        not isinstance(found, tuple)
        or len(found) != 2
        or not isinstance(found[0], (tuple, list))
        or not isinstance(found[1], dict)
    ):
        raise ValueError(f"The signature of function '{name}' is {found}, not arguments by position and name")
    return tuple(found[0]), found[1]


def results(message: Any, outputs: Sequence[SymbolicTensor], name: str) -> Any:
    """The structure of the results in a `SavedConcreteFunction`, with the outputs of function `name` in it.

    Raises ValueError where there are more or fewer outputs.
    """
    flat = iter(outputs)

    def take(*_: Any) -> Any:
        return next(flat)

    def filled(x: TensorLike) -> Any:
        if isinstance(x, TensorSpec):
            return take()
        if isinstance(x, TypeSpec):
            return from_placeholders(x, take)
        return None

    structure = structures.decode(message.output_signature)
    try:
        made = nest.map_structure(filled, structure, expand_composites=False)
    except (StopIteration, RuntimeError):
        raise ValueError(f"Function '{name}' has fewer outputs than its signature") from None
    if next(flat, None) is not None:
        raise ValueError(f"Function '{name}' has more outputs than its signature")
    return made


def _argument_names(
    args: Sequence[Any], kwargs: Mapping[str, Any], definition: Any, count: int, keywords: Sequence[str] | None
) -> list[str]:
    if keywords is not None and len(keywords) == count:
        return list(keywords)
    specs = [
        x for x in nest.flatten((args, kwargs), expand_composites=False) if isinstance(x, TypeSpec)
    ]
    declared = [argument.name for argument in definition.signature.input_arg[:count]]
    if len(specs) == count:
        return [getattr(x, "name", None) or own for x, own in zip(specs, declared, strict=True)]
    return declared


class RestoredFunction(Function):
    """A tf.function of a SavedModel: each call is one of the concrete functions that were saved.

    Args:
      spec: the `FunctionSpec`, or None.
      signatures: the name and the `SavedConcreteFunction` of each concrete function.
      find: gives the concrete function of a name.
    """

    def __init__(
        self,
        name: str,
        spec: Any,
        signatures: Iterable[tuple[str, Any]],
        find: Callable[[str], ConcreteFunction],
    ):
        self._options_of: list[tuple[str, tuple[Any, Any]]] = [
            (each, _arguments(message, each)) for each, message in signatures
        ]
        self._find = find
        input_signature = None

        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            return self._call_matching(args, kwargs)

        if spec is not None and spec.HasField("fullargspec"):
            found = structures.decode(spec.fullargspec)
            if spec.is_method and getattr(found, "args", None):
                found = found._replace(args=list(found.args)[1:])
            restored_function_body.__signature__ = signature_of(found)  # type: ignore[attr-defined]
            if spec.HasField("input_signature"):
                input_signature = structures.decode(spec.input_signature)
        restored_function_body.__name__ = name
        self.__signature__ = getattr(restored_function_body, "__signature__", None)
        compiled = {1: True, 2: False}.get(spec.jit_compile if spec is not None else 0)
        super().__init__(
            restored_function_body, name, input_signature, autograph=False, jit_compile=compiled
        )
        self._quiet_traces = True  # each is of a function that was saved

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The functions that were saved."""
        return [self._find(name) for name, _ in self._options_of]

    @property
    def saved_names(self) -> list[str]:
        """The names that these functions have in the SavedModel."""
        return [name for name, _ in self._options_of]

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return self.concrete_functions

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        return self.concrete_functions

    def _call_matching(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._signature.bind(args, kwargs)
        for convert in (False, True):
            for name, (wanted_args, wanted_kwargs) in self._options_of:
                flat: list[Any] = []
                if _matches((wanted_args, wanted_kwargs), (args, kwargs), convert, flat):
                    return self._find(name).call_flat(flat)
        raise ValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"{_shown(args, kwargs)}\n\n Expected these arguments to match one of the following "
            f"{len(self._options_of)} option(s):\n\n"
            + "\n\n".join(
                f"Option {i}:\n{_shown(*signature)}"
                for i, (_, signature) in enumerate(self._options_of, 1)
            )
        )


def _shown(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    lines = "".join(f"\n    * {x}" for x in args)
    return f"  Positional arguments ({len(args)} total):{lines}\n  Keyword arguments: {kwargs}"


def _matches(wanted: Any, given: Any, convert: bool, flat: list[Any]) -> bool:
    """Whether a call fits a signature; its tensors are added to `flat`, in the order of flattening."""
    if isinstance(wanted, TensorSpec):
        return _tensor_matches(wanted, given, convert, flat)
    if isinstance(wanted, TypeSpec):
        if not nest.is_nested_or_composite(given) or not wanted.is_compatible_with(given):
            return False
        flat += nest.flatten(given, expand_composites=True)
        return True
    if isinstance(wanted, tuple) and hasattr(wanted, "_fields"):
        if getattr(given, "_fields", None) != fields_of(wanted):
            return False
        return _all_match(list(wanted), list(given), convert, flat)
    if isinstance(wanted, (list, tuple)):
        same = isinstance(given, list) if isinstance(wanted, list) else isinstance(given, tuple)
        return same and _all_match(list(wanted), list(given), convert, flat)
    if isinstance(wanted, Mapping):
        if not isinstance(given, Mapping) or given.keys() != wanted.keys():
            return False
        keys = sorted(wanted)
        return _all_match([wanted[k] for k in keys], [given[k] for k in keys], convert, flat)
    return _value_matches(wanted, given)


def _all_match(wanted: list[Any], given: list[Any], convert: bool, flat: list[Any]) -> bool:
    return len(wanted) == len(given) and all(
        _matches(w, g, convert, flat) for w, g in zip(wanted, given, strict=True)
    )


def _tensor_matches(wanted: TensorSpec, given: Any, convert: bool, flat: list[Any]) -> bool:
    if isinstance(given, _Variable):
        given = given.read_value()
    elif not isinstance(given, _Tensor):
        if not convert or given is None or isinstance(given, (dict, TypeSpec)):
            return False
        try:
            given = convert_to_tensor(given, wanted.dtype)
        except (TypeError, ValueError, OpError):
            return False
    if given.dtype != wanted.dtype or not wanted.shape.is_compatible_with(given.shape):
        return False
    flat.append(given)
    return True


def _value_matches(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, (_native.EagerTensor, np.ndarray)):
        if isinstance(given, SymbolicTensor) or not hasattr(given, "__array__"):
            return False
        return np.array_equal(np.asarray(wanted), np.asarray(given))
    if isinstance(given, _Tensor) or isinstance(wanted, bool) != isinstance(given, bool):
        return False
    try:
        return bool(wanted == given) or (wanted != wanted and given != given)
    except (TypeError, ValueError):
        return False
