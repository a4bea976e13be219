"""Arguments, made what a signature or a trace wants in their places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow import _native
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.specs.trace_type import TraceType, of_structure
from tapeflow.core.structures import nest
from tapeflow.core.structures.structure import LEAF, children_of, kind_of, rebuild

_Tensor = _native.Tensor
_Variable = _native.Variable
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def cast(wanted: Any, value: Any) -> Any:
    """`value` as `wanted`, a structure of specs and Python values, describes it.

    Numbers, lists and arrays become tensors of the wanted dtype where a tensor is expected. A spec may stand for a
    value; the wanted one then takes its place.

    Raises:
      TypeError or ValueError: for what does not fit.
    """
    if isinstance(wanted, TensorSpec):
        return _tensor(wanted, value)
    if isinstance(wanted, TypeSpec) and isinstance(value, TypeSpec):
        if not value.is_subtype_of(wanted):
            raise _misfit(wanted, value)
        return wanted
    if isinstance(wanted, (TypeSpec, TraceType)):
        return wanted.cast(value, None)
    if kind_of(wanted) == LEAF:
        return _python_value(wanted, value)
    return _structure(wanted, value)


def tensors_of(wanted: Any, value: Any) -> list[Any]:
    """The tensors of an argument, in the order in which a trace takes them. Raises as `cast` does."""
    made = cast(wanted, value)
    if kind_of(wanted) == LEAF and not isinstance(wanted, (TypeSpec, TraceType)):
        return []
    return [x for x in nest.flatten(made, expand_composites=True) if isinstance(x, _Tensor)]


def _misfit(wanted: Any, value: Any) -> TypeError:
    return TypeError(f"Can not cast {value!r} to {of_structure(wanted)!r}")


def _tensor(wanted: TensorSpec, value: Any) -> Any:
    if isinstance(value, TypeSpec):
        # The name of a spec says nothing of what fits.
        if not isinstance(value, TensorSpec) or not TensorSpec(
            value.shape, value.dtype, wanted.name
        ).is_subtype_of(wanted):
            raise _misfit(wanted, value)
        return wanted
    if isinstance(value, _Variable):
        value = value.handle if wanted.dtype.name == "resource" else value.read_value()
    elif not isinstance(value, _Tensor):
        value = convert_to_tensor(value, wanted.dtype)
    if value.dtype != wanted.dtype or not wanted.shape.is_compatible_with(value.shape):
        raise _misfit(wanted, TensorSpec(value.shape, value.dtype, wanted.name))
    return value


def _python_value(wanted: Any, value: Any) -> Any:
    """Plain values have to be equal; of other objects, a trace takes whichever is given."""
    if value is wanted or not isinstance(wanted, _PLAIN):
        return value
    if type(value) is not type(wanted) or value != wanted:
        raise _misfit(wanted, value)
    return wanted


def _structure(wanted: Any, value: Any) -> Any:
    kind = kind_of(wanted)
    if isinstance(wanted, Mapping):
        if not isinstance(value, Mapping):
            raise TypeError(f"Can not cast {value!r} to a Dict type.")
        if value.keys() != wanted.keys():
            raise TypeError(f"{value!r} has different keys with the TraceType {of_structure(wanted)!r}.")
    elif isinstance(wanted, (list, tuple)):
        base = list if isinstance(wanted, list) else tuple
        if not isinstance(value, base):
            raise TypeError(f"Can not cast {value!r} to {base.__name__} type.")
        if len(value) != len(wanted):
            raise TypeError(f"Expected {value!r} to have length of {len(wanted)}")
    else:
        nest.assert_same_structure(wanted, value)
    parts = zip(children_of(wanted, kind), children_of(value, kind), strict=True)
    return rebuild(value, kind_of(value), [cast(*pair) for pair in parts])
