"""Implicit promotion of dtypes, off unless a program asks for it.

`legacy` gives the operators of tensors NumPy's rules. `all` and `safe` follow a rule of their own, in operators and
in the functions behind them: Python numbers are weakly typed, they take the dtype of the tensor beside them where
it can hold their kind of number. `safe` refuses promotions that may widen or lose precision.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import convert, dtypes
from tapeflow.core.annotations import ShapeLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.tensor_shape import TensorShape

Typed = tuple[DType, bool]  # a dtype, and whether it is weak

_TENSORS = (_native.Tensor, _native.Variable)
_INT32 = np.iinfo(np.int32)


class PromoMode(enum.Enum):
    OFF = 0
    LEGACY = 1
    SAFE = 2
    ALL = 3


class _State:
    mode = PromoMode.OFF
    prefer_float32 = False
    cast: Callable[[Any, DType], Any]
    matmul: Callable[[Any, Any], Any]


_state = _State()


def automatic() -> bool:
    """Whether functions promote as well as operators."""
    return _state.mode in (PromoMode.SAFE, PromoMode.ALL)


def numpy_style() -> bool:
    return _state.mode is PromoMode.LEGACY


def default_float() -> DType:
    """What a mean of integers is of."""
    return dtypes.float32 if automatic() else dtypes.float64


# -- the rule of `all` and `safe` ------------------------------------------------------------------

_WEAK = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.complex128)
_FLOATS = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
_COMPLEX = (dtypes.complex64, dtypes.complex128)
_WHOLE_BITS = (8, 16, 32, 64)
_SIGNED = dict(
    zip(_WHOLE_BITS, (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64), strict=True)
)
_UNSIGNED = dict(
    zip(_WHOLE_BITS, (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64), strict=True)
)
# The widest integers whose every value each of these holds.
_EXACT = {
    dtypes.bfloat16: 8,
    dtypes.float16: 8,
    dtypes.float32: 16,
    dtypes.float64: 32,
    dtypes.complex64: 16,
    dtypes.complex128: 32,
}
# Later kinds win over earlier ones.
_KINDS: list[tuple[DType, ...]] = [
    (dtypes.bool,),
    (*_SIGNED.values(), *_UNSIGNED.values()),
    _FLOATS,
    _COMPLEX,
]
_KNOWN = {dtype for kind in _KINDS for dtype in kind}


def _kind(dtype: DType) -> int:
    return next(i for i, kind in enumerate(_KINDS) if dtype in kind)


@functools.cache
def pair_type(x: Typed, y: Typed) -> tuple[Typed, bool] | None:
    """What two dtypes become, and whether `safe` allows it; None where there is nothing in common."""
    if not {x[0], y[0]} <= _KNOWN:
        return (x, True) if x == y and x[0] == dtypes.string else None
    if x == y:
        return x, True
    if _kind(x[0]) > _kind(y[0]) or (x[1] and not y[1] and _kind(y[0]) > 0):
        x, y = y, x
    if x[0] == dtypes.bool:
        return y, True
    if y[0] == dtypes.bool:
        return x, True
    if x[1] and y[1]:
        return max(x, y, key=lambda typed: _WEAK.index(typed[0])), True
    if x[1] or y[1]:
        strong, weak = (y[0], x[0]) if x[1] else (x[0], y[0])
        return _beside_weak(strong, weak)
    (small, _), (large, _) = x, y
    if _kind(large) == 1:
        return _whole(small, large)
    if _kind(small) == 1:
        return (large, False), small.size * 8 <= _EXACT[large]
    if {small, large} == {dtypes.bfloat16, dtypes.float16}:
        return (dtypes.float32, False), False
    if {small, large} == {dtypes.float64, dtypes.complex64}:
        return (dtypes.complex128, False), False
    if _kind(small) == _kind(large):
        return (max(small, large, key=lambda dtype: dtype.size), False), True
    return (large, False), True


def _whole(x: DType, y: DType) -> tuple[Typed, bool]:
    """Two integers: the smallest dtype that holds both; beyond 64 bits there is only floating point."""
    if x.is_unsigned == y.is_unsigned:
        return (max(x, y, key=lambda dtype: dtype.size), False), True
    unsigned, signed = (x, y) if x.is_unsigned else (y, x)
    bits = max(unsigned.size * 16, signed.size * 8)
    if bits > 64:
        return (dtypes.float64, True), False
    return (_SIGNED[bits], False), signed.size > unsigned.size


def _beside_weak(strong: DType, weak: DType) -> tuple[Typed, bool]:
    if _kind(weak) <= _kind(strong):
        return (strong, False), True
    if _kind(strong) == 1:
        if weak == dtypes.complex128:
            return (weak, True), strong.size < 8
        return (dtypes.float64, True), weak == dtypes.float64 and strong.size < 8
    # Only a complex number beside floating point is left.
    if strong == dtypes.float64:
        return (dtypes.complex128, False), True
    return (dtypes.complex64, False), False


class Unsupported(Exception):
    """A value that has no part in promotion: the call goes on without it."""


def is_weak(value: Any) -> bool:
    return getattr(value, "_weak", False) is True


def mark_weak(tensor: Any) -> Any:
    """The tensor, whose dtype gives way to those of others, as that of a Python number does."""
    tensor._weak = True
    return tensor


def _typed(value: Any) -> Typed:
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, DType):
        return dtype.base_dtype, is_weak(value)
    if isinstance(value, DType):
        return value.base_dtype, False
    if isinstance(dtype, np.dtype):
        return dtypes.as_dtype(dtype), False
    if isinstance(value, bool):
        return dtypes.bool, False
    if isinstance(value, int):
        if not _INT32.min <= value <= _INT32.max:
            raise OverflowError(f"Python int {value} too large to convert to np.int32")
        return dtypes.int32, True
    if isinstance(value, float):
        return dtypes.float32, True
    if isinstance(value, complex):
        return dtypes.complex128, True
    if isinstance(value, TensorShape):
        return dtypes.int32, False
    raise Unsupported(type(value))


def _leaves(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        elif value is not None:
            yield value


def result_type(*values: Any) -> Typed:
    """The dtype that `values` (tensors, arrays, numbers, lists of such) take together, and whether it is weak.

    Raises TypeError for what `safe` refuses, OverflowError for a Python int beyond 32 bits, Unsupported where the
    rule says nothing.
    """
    found: Typed | None = None
    for leaf in _leaves(values):
        typed = _typed(leaf)
        if found is None:
            found = typed
            continue
        pair = pair_type(found, typed)
        if pair is None:
            raise Unsupported(found, typed)
        if not pair[1] and _state.mode is PromoMode.SAFE:
            raise TypeError(
                f"In promotion mode {_state.mode}, implicit dtype promotion between "
                f"({found[0]}, weak={found[1]}) and ({typed[0]}, weak={typed[1]}) is disallowed. "
                "You need to explicitly specify the dtype in your op, or relax your dtype promotion "
                "rules (such as from SAFE mode to ALL mode)."
            )
        found = pair[0]
    return (dtypes.float32, True) if found is None else found


# -- the rule of `legacy` --------------------------------------------------------------------------


def _for_numpy(value: Any) -> Any:
    """What NumPy's rules look at: the dtype of tensors, the values of numbers and arrays."""
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, DType):
        return dtype.as_numpy_dtype
    if isinstance(value, DType):
        return value.as_numpy_dtype
    if isinstance(value, TensorShape):
        return np.int32
    if _state.prefer_float32 and isinstance(value, float):
        return np.float32(value)
    if _state.prefer_float32 and isinstance(value, complex):
        return np.complex64(value)
    return value


def numpy_type(*values: Any) -> DType:
    """The dtype that `values` take together by NumPy's rules, or `result_type` where that is on."""
    if automatic():
        return result_type(*values)[0]
    found = [_for_numpy(leaf) for leaf in _leaves(values)]
    return dtypes.as_dtype(np.result_type(*(found or [_for_numpy(1.0)])))  # of no elements: that of a Python float


# -- promoting -------------------------------------------------------------------------------------


# The numeric dtypes that Python's True and False convert to.
_HOLD_BOOL = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)


def as_dtype(value: Any, dtype: DType) -> Any:
    """`value` as a tensor of `dtype`; tensors are cast, others converted."""
    if isinstance(value, _TENSORS):
        return value if value.dtype == dtype else _state.cast(value, dtype)
    if isinstance(value, bool) and dtype in _HOLD_BOOL:
        value = int(value)
    return convert.convert_to_tensor(value, dtype)


_OPERATORS = {"add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq"}
# By the name of a row, what it declares: its operands, or a choice of them, are promoted together, or its result is
# as weak as its input.
PARTS: dict[str, str] = {}


def promoted(x: TensorLike, y: TensorLike) -> tuple[Any, Any, bool]:
    """Both as tensors of one dtype, and whether what they give is weak."""
    dtype, weak = result_type(x, y)
    return as_dtype(x, dtype), as_dtype(y, dtype), weak


def promoting(function: Callable[[Any, Any], Any], x: TensorLike, y: TensorLike) -> Any:
    """`function(x, y)` of both promoted, for a function that looks at the dtypes before any op does."""
    try:
        x, y, weak = promoted(x, y)
    except Unsupported:
        weak = False
    result = function(x, y)
    return mark_weak(result) if weak else result


def _operands(name: str, x: TensorLike, y: TensorLike) -> Any:
    if name not in _OPERATORS or isinstance(x, IndexedSlices) or isinstance(y, IndexedSlices):
        return None
    try:
        x, y, weak = promoted(x, y)
    except Unsupported:
        return None
    return x, y, weak and name != "eq"


def _numpy_operands(name: str, x: TensorLike, y: TensorLike) -> Any:
    dtype = numpy_type(x, y)
    x, y = as_dtype(x, dtype), as_dtype(y, dtype)
    return _state.matmul(x, y) if name == "matmul" else (x, y, False)


def _inputs(name: str, values: tuple[Any, ...]) -> Any:
    try:
        part = PARTS.get(name)
        if part == "weakness":
            return (values, True) if result_type(values[0])[1] else None
        if part is not None:
            x, y, weak = promoted(*values)
            return (x, y), weak and part == "operands"
    except Unsupported:
        pass
    return None


def _weak_constant(make: Callable[..., Any], value: Any, dtype: DType | None, shape: ShapeLike) -> Any:
    """`tf.constant`: Python numbers make weak tensors, and a tensor may be promoted to a given dtype."""
    try:
        if dtype is None:
            found, weak = result_type(value)
            if isinstance(value, _TENSORS):
                return make(value, None, shape)
            tensor = make(value, found, shape)
            return mark_weak(tensor) if weak else tensor
        if isinstance(value, _TENSORS) and result_type(value, dtype)[0] == dtype:
            value = as_dtype(value, dtype)
    except Unsupported:
        pass
    return make(value, dtype, shape)


def assigned(variable: Any, value: Any, method: str) -> Any:
    """`value` as `variable`, whose dtype stays, takes it. Raises TypeError where their common dtype is another."""
    if not automatic():
        return value
    try:
        dtype, _ = result_type(variable, value)
    except Unsupported:
        return value
    if dtype != variable.dtype:
        raise TypeError(
            f"Variable dtype is immutable. Calling {method} of Variable (with dtype {variable.dtype}) on {value} "
            f"requires converting {value} to {variable.dtype}. This is disabled in the current promotion semantics. "
            f"Please convert {value} manually before calling {method}."
        )
    return as_dtype(value, dtype)


def parse_mode(name: str) -> PromoMode:
    """Raises ValueError for an unknown mode."""
    if name not in ("off", "legacy", "safe", "all"):
        raise ValueError(
            f"The provided promotion mode {name} does not exist. Make sure the provided dtype conversion mode is one "
            "of the followings: 'off', 'legacy', 'safe' or 'all'."
        )
    return PromoMode[name.upper()]


def enable(
    mode: PromoMode,
    prefer_float32: bool,
    cast: Callable[[Any, DType], Any],
    matmul: Callable[[Any, Any], Any],
) -> None:
    """Switch the whole program to `mode`. `cast(tensor, dtype)` is the op, `matmul(x, y)` NumPy's product of ops."""
    _state.mode, _state.prefer_float32 = mode, bool(prefer_float32)
    _state.cast, _state.matmul = cast, matmul
    if automatic():
        _native.set_promotion(_operands, _inputs)
    else:
        _native.set_promotion(_numpy_operands if numpy_style() else None, None)
    convert.on_constant = _weak_constant if automatic() else None
