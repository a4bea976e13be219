"""Signatures: functions of named tensors that return named tensors, by which others call a model."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.function.function_type import sanitized
from tapeflow.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

# An object with a function of this name has it for its signature.
DEFAULT = "_default_save_signature"


class SignatureMap(Mapping):
    """The signatures of a model by their keys; cannot be changed."""

    def __init__(self, signatures: Mapping[str, Any] | None = None):
        self._signatures = dict(signatures or {})

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"


class RestoredConcreteFunction(ConcreteFunction):
    """A concrete function of a SavedModel, which tells its results as they were written."""

    output_specs: Any = None

    @property
    def structured_outputs(self) -> Any:
        """The results with specs for tensors."""
        return self._graph.structured_outputs if self.output_specs is None else self.output_specs


class SignatureFunction(RestoredConcreteFunction):
    """A signature: called by the names of its tensors, a single one also by position.

    A name may be given as the identifier that is made of it.

    Attributes:
      defaults: tensors that servers take for inputs which a request leaves out, by name.
    """

    defaults: Mapping[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raises TypeError for arguments that are missing, too many or no tensors."""
        names = self.argument_names
        allowed = len(names) if len(names) == 1 else 0
        if len(args) > allowed:
            raise TypeError(
                f"{self.pretty_printed_signature()} takes {allowed} positional arguments, got {len(args)}: "
                f"signatures take their tensors by name, {', '.join(names)}."
            )
        given = dict(zip(names, args, strict=False))
        twice = given.keys() & kwargs.keys()
        if twice:
            raise TypeError(f"{self.function_name}() got two values for {', '.join(sorted(twice))}")
        given.update(kwargs)
        keys = self._structured_input_signature[1]
        spelled = {sanitized(key): key for key in keys}
        given = {key if key in keys else spelled.get(sanitized(key), key): x for key, x in given.items()}
        missing = [name for name in names if name not in given and spelled.get(sanitized(name)) not in given]
        if missing:
            raise TypeError(
                f"{self.pretty_printed_signature()} missing required arguments: {', '.join(missing)}."
            )
        return super().__call__(**given)


def default_function(children: Mapping[str, Any]) -> Any:
    """The function to make a signature of where none was given; None if there is none, or more than one."""
    found = []
    for name, child in children.items():
        if not isinstance(child, (Function, ConcreteFunction)):
            continue
        if name == DEFAULT:
            return child
        concrete = _concrete(child)
        if concrete is not None and _is_valid(concrete):
            found.append(concrete)
    return found[0] if len(found) == 1 else None


def _concrete(function: Any) -> Any:
    if isinstance(function, ConcreteFunction):
        return function
    if isinstance(function, Function) and function.input_signature is not None:
        return function.get_concrete_function()
    return None


def _is_valid(concrete: Any) -> bool:
    if not concrete.graph.outputs:  # there is nothing to fetch
        return False
    try:
        _named(concrete.graph.structured_outputs, concrete.graph_name, "")
    except ValueError:
        return False
    return True


def canonical(signatures: Any) -> SignatureMap:
    """The signatures as functions of named tensors that return dicts.

    Raises ValueError for functions that cannot be signatures.
    """
    if signatures is None:
        return SignatureMap()
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    made = {}
    for key, function in signatures.items():
        concrete = _concrete(function)
        if concrete is None:
            raise ValueError(
                "Expected a TensorFlow function for which to generate a signature, but got "
                f"{function}. Only `tf.functions` with an input signature or concrete functions can be "
                "used as a signature."
            )
        made[key] = concrete if type(concrete) is SignatureFunction else _wrapped(key, concrete)
        if isinstance(function, Function) and made[key] is not concrete:
            made[key].defaults = _defaults(function, concrete.argument_names)
    return SignatureMap(made)


def _defaults(function: Function, names: Sequence[str]) -> dict[str, Any]:
    """The tensors that arguments of a function have by default, by the names of the last ones."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function.python_function).parameters.values()
    given = [p.default for p in parameters if p.kind in positional and p.default is not p.empty]
    flat = nest.flatten(given)
    if not flat:
        return {}
    pairs = zip(names[-len(flat) :], flat, strict=False)
    return {name: value for name, value in pairs if isinstance(value, _native.Tensor)}


def _specs(concrete: Any, names: Sequence[str]) -> list[TensorSpec]:
    """What a function was traced for: `set_shape` in it says more of its inputs, but not of what callers may give."""
    specs = nest.flatten(concrete.structured_input_signature, expand_composites=False)
    specs = [each for each in specs if isinstance(each, TypeSpec)]
    if len(specs) != len(names) or not all(isinstance(each, TensorSpec) for each in specs):
        specs = concrete.graph.inputs[: len(names)]
    return [TensorSpec(each.shape, each.dtype, name) for each, name in zip(specs, names, strict=True)]


def _wrapped(key: str, concrete: Any) -> SignatureFunction:
    names = list(concrete.argument_names)
    keys = [sanitized(name) for name in names]

    def signature_wrapper(**tensors: Any) -> Any:
        outputs = concrete.call_flat([tensors[each] for each in keys])
        return _named(outputs, concrete.graph_name, key)

    own = getattr(concrete, "function_name", "")
    if own.isidentifier():
        signature_wrapper.__name__ = f"signature_wrapper_{own}"
    specs = dict(zip(keys, _specs(concrete, names), strict=True))
    named = dict(zip(keys, names, strict=True))
    traced = Function(signature_wrapper, autograph=False).get_concrete_function(**specs)
    # What was captured by the function alone must be known to be reached by it.
    ordered = [named[each] for each in sorted(named)]
    made = SignatureFunction(traced.graph, traced.function_name, traced.structured_input_signature, ordered)
    made.parameter_names = ()
    made.graph.function_attrs = concrete.graph.function_attrs
    return made


def _named(outputs: Any, function_name: str, key: str) -> dict[str, Any]:
    """The outputs of a function by names. Raises ValueError for those that are nested."""
    if not isinstance(outputs, Mapping):
        if not isinstance(outputs, (list, tuple)):
            outputs = [] if outputs is None else [outputs]
        outputs = {f"output_{i}": output for i, output in enumerate(outputs)}
    for name, value in outputs.items():
        if not isinstance(name, (str, bytes)):
            raise ValueError(
                f"Got a dictionary with a non-string key {name!r} in the output of the function "
                f"{function_name} used to generate the SavedModel signature {key!r}."
            )
        composite = not isinstance(value, _native.Tensor) and nest.is_nested_or_composite(value)
        if not isinstance(value, _native.Tensor) and not (
            composite and not isinstance(value, (list, tuple, Mapping))
        ):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {name!r} in the output of the function "
                f"{function_name} used to generate the SavedModel signature {key!r}. Outputs for functions "
                "used as signatures must be a single Tensor, a sequence of Tensors, or a dictionary from "
                "string to Tensor."
            )
    return dict(outputs)
