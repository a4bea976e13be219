"""What kernels raise and check: the things that a schema cannot say about inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapeflow.core.annotations import TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError


def invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def shape_text(shape: Iterable) -> str:
    """A shape as error messages write it: `[2,3]`, an unknown dimension as `?`."""
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def type_text(dtype: DType) -> str:
    """A dtype as TensorFlow's error messages write it: `float` for float32, `half` for float16."""
    name = dtype.base_dtype.name
    text = {"float16": "half", "float32": "float", "float64": "double"}.get(name, name)
    return text + "_ref" if dtype.name.endswith("_ref") else text


def known(x: Any) -> bool:
    """Whether the elements of `x` are there to be looked at; they are not while the call is compiled."""
    return isinstance(x, (np.ndarray, np.generic, int, float))


def one_value(x: TensorLike, text: str) -> int:
    """The only element of an integer array of any rank."""
    x = np.asarray(x)
    if x.size != 1:
        raise invalid(text)
    return int(x.reshape(()))


def vector_of(x: np.ndarray, text: str) -> list[int]:
    """The elements of a 1-D integer array; `text` may show its shape by `{}`."""
    x = np.asarray(x)
    if x.ndim != 1:
        raise invalid(text.format(shape_text(x.shape)))
    return [int(v) for v in x]


def index_kind(kind: DType, attr: str):
    """The NumPy type of the dtype attr `attr`, which must be int32 or int64."""
    if kind.name not in ("int32", "int64"):
        raise invalid(
            f"Value for attr '{attr}' of {kind.name} is not in the list of allowed values: int32, int64"
        )
    return kind.as_numpy_dtype


MAX_ELEMENTS = 2**63 - 1


def dimensions(x: Any, what: str = "dims") -> tuple[int, ...]:
    """The shape that an integer vector (or a scalar, for one size) spells; refuses negative and overflowing ones."""
    x = np.asarray(x)
    if x.ndim > 1:
        raise invalid(f"{what} must represent a vector, got shape {shape_text(x.shape)}")
    dims = tuple(int(v) for v in x.ravel())
    total = 1
    for d in dims:
        if d < 0:
            raise invalid(f"Dimension {d} must be >= 0")
        total *= d
    if total > MAX_ELEMENTS:
        raise invalid(f"Shape {shape_text(dims)} would have more than 2**63 - 1 elements")
    return dims


def first_out_of_range(indices: np.ndarray, limit: int) -> tuple[str, int] | None:
    """Where `indices` first leaves [0, limit), as text such as `[1,0]` (empty for a scalar), and its value.

    None, too, for indices whose values are not known yet, as when the call is compiled.
    """
    if not known(indices):
        return None
    bad = (indices < 0) | (indices >= limit)
    if not bad.any():
        return None
    at = np.unravel_index(int(np.argmax(bad)), indices.shape) if indices.ndim else ()
    place = "[" + ",".join(str(int(i)) for i in at) + "]" if indices.ndim else ""
    return place, int(indices[at])
