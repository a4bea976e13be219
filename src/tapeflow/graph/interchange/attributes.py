"""Attrs as `AttrValue` messages, and back.

The kind of an attr is what an `OpDef` calls its type: "int", "type", "list(shape)" and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow import _native, protos
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.files import tensor_proto
from tapeflow.core.tensor_shape import TensorShape, as_shape

# The field of an AttrValue that holds each kind.
_FIELDS = {
    "string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape", "tensor": "tensor",
    "func": "func",
}  # fmt: skip
_KINDS = {field: kind for kind, field in _FIELDS.items()}


def is_list(kind: str) -> bool:
    return kind.startswith("list(")


def element(kind: str) -> str:
    """The kind of the elements of a list."""
    return kind[5:-1]


def of(value: Any, kind: str, function_name: Callable[[Any], str] | None = None) -> Any:
    """`value` as an `AttrValue` of a kind.

    Args:
      function_name: gives the name of a function's body in the library.

    Raises TypeError for a value that is not of the kind.
    """
    attr = protos.AttrValue()
    if is_list(kind):
        attr.list.SetInParent()
        field = getattr(attr.list, _FIELDS[element(kind)])
        field.extend([_single(v, element(kind), function_name) for v in value])
        return attr
    single = _single(value, kind, function_name)
    if kind in ("shape", "tensor", "func"):
        getattr(attr, kind).CopyFrom(single)
    else:
        setattr(attr, _FIELDS[kind], single)
    return attr


def _single(value: Any, kind: str, function_name: Callable[[Any], str] | None) -> Any:
    if kind == "string":
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"{value!r} is not a string")
        return value.encode() if isinstance(value, str) else value
    if kind == "int":
        return int(value)
    if kind == "float":
        return float(value)
    if kind == "bool":
        return bool(value)
    if kind == "type":
        return as_dtype(value).as_datatype_enum
    if kind == "shape":
        return value if isinstance(value, protos.TensorShapeProto) else as_shape(value).as_proto()
    if kind == "tensor":
        return value if isinstance(value, protos.TensorProto) else tensor_proto.of_tensor(value)
    if isinstance(value, protos.NameAttrList):
        return value
    if function_name is None:
        raise TypeError(f"{value!r} is no function of a library")
    return protos.NameAttrList(name=function_name(value))


def guessed(value: Any) -> Any:
    """A Python value as an `AttrValue` of the kind that it seems to be.

    Raises TypeError if it is none.
    """
    if isinstance(value, protos.AttrValue):
        return value
    if isinstance(value, (list, tuple)):
        kinds = {_kind_of(v) for v in value} or {"int"}
        if len(kinds) == 1:
            return of(value, f"list({kinds.pop()})")
        if kinds == {"int", "float"}:
            return of(value, "list(float)")
        raise TypeError(f"{value!r} cannot be an attr: its elements are of several kinds")
    return of(value, _kind_of(value))


def _kind_of(value: Any) -> str:
    for types, kind in (
        ((bool, np.bool_), "bool"),
        ((int, np.integer), "int"),
        ((float, np.floating), "float"),
        ((str, bytes), "string"),
        (DType, "type"),
        ((TensorShape, protos.TensorShapeProto), "shape"),
        ((_native.EagerTensor, protos.TensorProto), "tensor"),
        (protos.NameAttrList, "func"),
    ):  # fmt: skip
        if isinstance(value, types):
            return kind
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be an attr")


def kind_of(attr: Any) -> str:
    """The kind that an `AttrValue` says it is; "" for an empty one, "list" for a list."""
    which = attr.WhichOneof("value")
    if which is None:
        return ""
    return "list" if which == "list" else _KINDS.get(which, which)


def value_of(attr: Any, kind: str, where: str) -> Any:
    """The Python value of an `AttrValue`: dtypes as `DType`, shapes as `TensorShape`, tensors as eager ones.

    Functions stay `NameAttrList`. Raises ValueError, which names `where`, unless it holds the kind.
    """
    found = kind_of(attr)
    if is_list(kind):
        if found not in ("list", ""):
            raise ValueError(
                f"AttrValue had value with type '{found}' when '{kind}' expected\n\t for attr '{where}'"
            )
        for other, name in _FIELDS.items():
            if other != element(kind) and len(getattr(attr.list, name)):
                raise ValueError(
                    f"AttrValue had value with type 'list({other})' when '{kind}' expected\n\t for attr '{where}'"
                )
        return [
            _python(v, element(kind), where) for v in getattr(attr.list, _FIELDS[element(kind)])
        ]
    if found != kind:
        if not found:
            raise ValueError(
                f"AttrValue missing value with expected type '{kind}'\n\t for attr '{where}'"
            )
        found = _list_kind(attr) if found == "list" else found
        raise ValueError(
            f"AttrValue had value with type '{found}' when '{kind}' expected\n\t for attr '{where}'"
        )
    return _python(getattr(attr, _FIELDS[kind]), kind, where)


def _list_kind(attr: Any) -> str:
    kinds = [kind for kind, name in _FIELDS.items() if len(getattr(attr.list, name))]
    return f"list({kinds[0]})" if kinds else "list(any)"


def _python(value: Any, kind: str, where: str) -> Any:
    if kind == "string":
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if kind == "type":
        try:
            return as_dtype(value)
        except TypeError:
            raise ValueError(f"{value} is no DataType, for attr '{where}'") from None
    if kind == "shape":
        return shape_of(value, where)
    if kind == "tensor":
        return tensor_proto.to_tensor(value, where)
    return value


def shape_of(proto: Any, where: str) -> TensorShape:
    """A `TensorShape` of a message. Raises ValueError for sizes that cannot be."""
    if proto.unknown_rank:
        if len(proto.dim):
            raise ValueError(
                f"An unknown shape must not have any dimensions set, for attr '{where}'"
            )
        return TensorShape(None)
    if len(proto.dim) > 254:
        raise ValueError(f"Shape of attr '{where}' has too many dimensions: {len(proto.dim)}")
    sizes = [d.size for d in proto.dim]
    if any(size < -1 for size in sizes):
        raise ValueError(
            f"Shape {sizes} of attr '{where}' has dimensions with values below -1 (where -1 means unknown)"
        )
    return TensorShape([None if size == -1 else size for size in sizes])


def own_value(attr: Any) -> Any:
    """The Python value of an attr that no definition describes; lists of one kind become lists of it."""
    found = kind_of(attr)
    if not found:
        return attr
    if found == "placeholder":  # stands for an attr of the function that a node is in
        raise ValueError(
            f"attr placeholder '{attr.placeholder}' stands outside of a function's body"
        )
    if found != "list":
        return attr.s if found == "string" else value_of(attr, found, "")
    kind = _list_kind(attr)
    if kind == "list(any)":
        return []
    return list(attr.list.s) if kind == "list(string)" else value_of(attr, kind, "")
