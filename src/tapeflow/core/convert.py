"""Values to tensors: `convert_to_tensor`, `constant`, and what programs register for their own types.

Native code converts tensors, variables, numbers, strings, NumPy arrays and lists of such. `convert_other` takes the
rest: lists that hold tensors, shapes, and objects that know how to become a tensor or an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.api import api, providers
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import computes_tensors, passing_tensors, tensor_function
from tapeflow.core.structures import structure
from tapeflow.core.structures.listed_constants import constant_of_list
from tapeflow.core.tensor_shape import Dimension, TensorShape

_convert = _native.convert
_Tensor = _native.Tensor
_TENSORS = (_native.Tensor, _native.Variable)
_OF_PYTHON = (int, float, str, bytes)

# Join tensors along a new first axis and cast one; set by the `ops` package.
stack: Callable[[list[Any]], Any] | None = None
cast: Callable[[Any, DType], Any] | None = None

# Stands between `constant` and the making of it while dtypes are promoted: (make, value, dtype, shape) -> tensor.
on_constant: Callable[..., Any] | None = None

# Puts a new eager tensor on the device of the scope around it; set where there are accelerators.
place: Callable[[Any], Any] | None = None

_registered: list[tuple[int, tuple[type, ...], Callable[..., Any]]] = []


@api("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Let `conversion_func(value, dtype, name, as_ref)` make tensors of instances of `base_type`.

    Args:
      base_type: a type or a tuple of types.
      conversion_func: may return NotImplemented to leave a value to the next function.
      priority: lower ones are asked first, equal ones in the order of their registration.

    Raises TypeError for arguments of a wrong type, and for Python numbers, arrays and tensors, which
    convert in one way only.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(cls, type) for cls in types):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}"
        )
    if any(issubclass(cls, (int, float, complex, np.generic, np.ndarray)) for cls in types):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays."
        )
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    _registered.append((priority, types, conversion_func))
    _registered.sort(key=lambda entry: entry[0])


def is_registered(value: Any) -> bool:
    """Whether a program registered a conversion for values like `value`."""
    return any(isinstance(value, types) for _, types, _function in _registered)


@api(v2="convert_to_tensor")
@computes_tensors
@passing_tensors
def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> _native.Tensor:
    """Make a tensor of a value; a tensor stays as it is.

    Args:
      value: a number, string, array, (nested) list of these, variable or tensor.
      dtype: the dtype of the result; None: it follows from the value. Tensors are not cast.
      dtype_hint: a dtype to be used if the value can have it.
      name: a name for the operation (optional).

    Returns:
      A tensor.

    Raises:
      TypeError: for a value that does not fit `dtype`.
      ValueError: for a value of none of these kinds, and for a tensor of another dtype.

    >>> tf.convert_to_tensor([1, 2], dtype_hint=tf.float32)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    tensor = _converted(value, dtype, dtype_hint)
    return tensor if place is None or isinstance(value, _TENSORS) else place(tensor)


def _converted(value: Any, dtype: Any, dtype_hint: Any) -> Any:
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    elif isinstance(value, _Tensor):
        return value
    elif dtype_hint is not None and not isinstance(value, _TENSORS):
        hint = dtypes.as_dtype(dtype_hint).base_dtype
        if not (isinstance(value, (np.ndarray, np.integer)) and _overflows(value, hint)):
            try:
                return _convert(value, hint)
            except (TypeError, ValueError):
                pass
    # Graphs have a rule of their own for lists. Where a list begins with a number or text of Python, it gives what the
    # eager one gives, as far as that does not refuse the list: the mode need not be asked for.
    listed = type(value) in (list, tuple)
    if listed and value and type(value[0]) not in _OF_PYTHON and not context.executing_eagerly():
        return constant_of_list(value, dtype)
    try:
        return _convert(value, dtype)
    except (TypeError, ValueError):
        if not listed or context.executing_eagerly():
            raise
    return constant_of_list(value, dtype)


def _overflows(value: np.ndarray | np.integer, dtype: DType) -> bool:
    """Whether a cast would change integers."""
    if value.dtype.kind not in "iu" or not dtype.is_integer or value.size == 0:
        return False
    return not dtype.min <= int(value.min()) <= int(value.max()) <= dtype.max


def int_array(numbers: Sequence[int]) -> np.ndarray:
    """Python ints as int32, or all of them as int64 where one needs it: the dtype of a constant of them.

    Raises:
        ValueError: a number that 64 bits cannot hold.
    """
    least, most = min(numbers, default=0), max(numbers, default=0)
    if least >= -(2**31) and most < 2**31:
        return np.array(numbers, np.int32)
    if least >= -(2**63) and most < 2**63:
        return np.array(numbers, np.int64)
    raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")


def ints(numbers: Sequence[Any]) -> Sequence[int] | np.ndarray | None:
    """A list of Python ints as a vector that any op takes; None where it holds other things."""
    for n in numbers:
        if type(n) is not int:
            return int_array(numbers) if all(isinstance(n, int) for n in numbers) else None
    return numbers or int_array(numbers)


@api(v1="convert_to_tensor")
@tensor_function
def convert_to_tensor_v1(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Any:
    """`convert_to_tensor` with the arguments of 1.x."""
    return convert_to_tensor(value, dtype, preferred_dtype if dtype_hint is None else dtype_hint)


@api(v2="constant")
@tensor_function
def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Make a tensor of given elements.

    Args:
      value: a number, string, array, or (nested) list of these, all of one length in each dimension.
      dtype: the dtype of the result; None: it follows from the value: int32, float32, bool, string or complex128
        for Python's.
      shape: the shape of the result: a scalar fills it, else the number of elements must agree; None: that of the
        value.
      name: a name for the operation (optional).

    Returns:
      A tensor.

    Raises:
      TypeError: for elements that do not fit `dtype` or `shape`.

    >>> tf.constant([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4]], dtype=int32)>
    >>> tf.constant(0.5, shape=[2, 2])
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)>
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    if on_constant is not None:
        return on_constant(_constant, value, wanted, shape)
    tensor = _constant(value, wanted, shape)
    return tensor if place is None or tensor is value else place(tensor)


def _constant(value: Any, wanted: DType | None, shape: ShapeLike) -> Any:
    if is_symbolic_tensor(value):
        raise TypeError("Expected any non-tensor type, but got a tensor instead.")
    if wanted is not None and isinstance(value, _TENSORS) and value.dtype != wanted:
        raise TypeError(
            f"Expected tensor {value} with dtype {wanted!r}, but got dtype {value.dtype!r}."
        )
    if shape is not None and not context.executing_eagerly() and not isinstance(value, _TENSORS):
        return _shaped_in_graph(value, wanted, shape, broadcast=True)
    tensor = _converted(value, wanted, None)
    if shape is None:
        return tensor
    dims: Any = tuple(TensorShape(shape).as_list())
    if tensor.shape == dims:
        return tensor
    elements = tensor.numpy()
    count = int(np.prod(dims, dtype=np.int64))
    if np.size(elements) == 1:
        if np.ndim(elements) > 1 and count != 1:
            given = ",".join(map(str, np.shape(elements)))
            raise InvalidArgumentError(None, None, f"value must be a scalar, got shape [{given}] [Op:Fill]")
        numpy_type: Any = object if tensor.dtype == dtypes.string else None
        element = elements if np.ndim(elements) == 0 else elements.reshape(-1)[0]
        return _native.tensor_of(np.full(dims, element, numpy_type), tensor.dtype)
    if np.size(elements) != count:
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape. Tensor {elements} (converted from "
            f"{value}) has {np.size(elements)} elements, but got `shape` {dims} with {count} elements)."
        )
    return _native.tensor_of(np.reshape(elements, dims), tensor.dtype)


def _shaped_in_graph(value: Any, wanted: DType | None, shape: ShapeLike, broadcast: bool) -> Any:
    """A constant of a graph with a shape: without `broadcast` the last element is repeated where some lack."""
    from tapeflow.core.files import tensor_proto

    dims = TensorShape(shape).as_list()
    proto = tensor_proto.make_tensor_proto(value, wanted, dims, allow_broadcast=broadcast)
    return _convert(tensor_proto.make_ndarray(proto), DType(proto.dtype))


@api(v1="constant")
@tensor_function
def constant_v1(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Any:
    """`constant` of 1.x.

    With `verify_shape` the value must have the given shape already, else TypeError is raised.
    """
    if verify_shape and shape is not None:
        with context.eager_mode():
            found = np.shape(_convert(value, None).numpy())
        if found != tuple(TensorShape(shape).as_list()):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, but got {found}.")
    if shape is not None and not context.executing_eagerly() and not isinstance(value, _TENSORS):
        return _shaped_in_graph(value, None if dtype is None else dtypes.as_dtype(dtype), shape, broadcast=False)
    return constant(value, dtype, shape)


@api("is_tensor")
def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a variable, or an IndexedSlices, SparseTensor or RaggedTensor.

    Datasets, TensorArrays, extension types and what can only be converted to a tensor are not.
    """
    return isinstance(x, (*_TENSORS, IndexedSlices)) or getattr(type(x), "_counts_as_tensor", False)


@api("is_symbolic_tensor")
def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether `tensor` is one of a graph."""
    return isinstance(tensor, _Tensor) and not isinstance(tensor, _native.EagerTensor)


def convert_other(value: Any, number: int) -> Any:
    """What native code asks for values that it does not know. `number` is that of a dtype, 0 for any.

    Raises ValueError for a value that no tensor can be made of.
    """
    dtype = dtypes.DType(number) if number else None
    for _, types, function in _registered:
        if isinstance(value, types):
            tensor = function(value, dtype=dtype, name=None, as_ref=False)
            if tensor is not NotImplemented:
                return _checked(tensor, value, dtype)
    if isinstance(value, TensorShape):
        return _shape_tensor(value, dtype)
    if isinstance(value, Dimension):
        return _convert(value.value, dtype)
    if isinstance(value, IndexedSlices):
        return _convert(value.to_dense(), dtype)
    if isinstance(value, _Tensor):  # of a graph
        if dtype is not None and value.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    own = getattr(type(value), "__tf_tensor__", None)
    if own is not None:
        return own(value, dtype, None)
    if isinstance(value, (list, tuple, range, memoryview)):
        return _from_sequence(value, dtype)
    if _is_sequence(value):
        return _convert(list(value), dtype)
    return _from_array(value, dtype)


def _is_sequence(value: Any) -> bool:
    """Whether `value`, no list or tuple, has all that makes a sequence and none of the array protocols."""
    kind = type(value)
    return (
        all(hasattr(kind, name) for name in ("__len__", "__getitem__", "__iter__"))
        and not any(hasattr(kind, name) for name in ("__array__", "__dlpack__", "keys"))
        and not any(hasattr(kind, name) for name in ("__array_interface__", "__array_struct__"))
        and not isinstance(value, (str, bytes, _Tensor))
    )


def _checked(tensor: Any, value: Any, dtype: DType | None) -> Any:
    if dtype is not None and tensor.dtype != dtype:
        raise RuntimeError(
            f"The conversion of {value!r} to dtype {dtype.name} returned dtype {tensor.dtype.name}."
        )
    return tensor


def _shape_tensor(shape: TensorShape, dtype: DType | None) -> Any:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        assert dtype is not None
        raise TypeError(
            f"Cannot convert TensorShape {shape} to dtype {dtype}. Allowed dtypes are tf.int32 and tf.int64."
        )
    dims = shape.as_list()
    wide = any(d >= 2**31 for d in dims)  # type: ignore[operator]
    if wide and dtype == dtypes.int32:
        raise ValueError(
            f"Cannot convert TensorShape {shape} to dtype int32; a dimension is too large. Consider using tf.int64."
        )
    if dtype is None:
        dtype = dtypes.int64 if wide else dtypes.int32
    return _native.tensor_of(np.array(dims, dtype.as_numpy_dtype), dtype)


def _first_dtype(value: Any) -> DType | None:
    """The dtype of the first tensor among the leaves."""
    pending = [value]  # instead of calls: lists may be nested deeper than a thread's stack is long
    while pending:
        value = pending.pop()
        if isinstance(value, _TENSORS):
            return value.dtype
        if isinstance(value, (list, tuple)):
            pending.extend(reversed(value))
    return None


def _from_sequence(value: Sequence[Any], dtype: DType | None) -> Any:
    """A tensor of the elements, stacked by an op if tensors are among them, so that gradients reach these."""
    given = _first_dtype(value)
    if given is not None:
        dtype = dtype or given
        if stack is None:
            providers.load("operators")
        if stack is not None:  # else an element is converted while operations are being loaded
            return _packed(value, dtype, dtype != given)
    if type(value) not in (list, tuple):
        return _convert(list(value), dtype)
    return _from_elements(value, dtype)


def _packed(value: Sequence[Any], dtype: DType, casts: bool) -> Any:
    """The elements, tensors or lists with tensors among them, as one tensor.

    `casts`: whether tensors are cast, as they are where another dtype than the first one's was asked for. Raises
    TypeError (in a graph) or InvalidArgumentError for tensors of several dtypes else.
    """
    assert stack is not None
    assert cast is not None
    parts = []
    for i, element in enumerate(tuple(value)):
        if isinstance(element, (list, tuple)) and _first_dtype(element) is not None:
            part = _packed(element, dtype, casts)
        elif not isinstance(element, _TENSORS) or element.dtype == dtype:
            part = _convert(element, dtype)
        elif casts:
            part = cast(element, dtype)
        elif hasattr(element, "numpy"):
            raise InvalidArgumentError(
                None, None,
                f"cannot compute Pack as input #{i}(zero-based) was expected to be a {dtype.name} tensor but is a "
                f"{element.dtype.name} tensor [Op:Pack]",
            )  # fmt: skip
        else:
            raise TypeError(
                f"Cannot convert a list containing a tensor of dtype {element.dtype!r} to {dtype!r} "
                f"(Tensor is: {element!r})"
            )
        parts.append(part)
    return stack(parts)


def _from_elements(value: Sequence[Any], dtype: DType | None) -> Any:
    """A tensor of elements without tensors among them: a NumPy array counts as a list of NumPy scalars."""
    if dtype in (dtypes.resource, dtypes.variant):
        raise TypeError(f"Cannot convert {value} to EagerTensor of dtype {dtype.name}")
    elements = [_as_numpy(element, dtype) for element in tuple(value)]  # a copy: this may change the list
    first = elements[0] if elements else None
    if (
        isinstance(first, np.ndarray)
        and first.dtype != object
        and all(isinstance(e, np.ndarray) and e.dtype == first.dtype for e in elements)
    ):
        return _from_arrays(elements, dtype)
    return _convert([_listed(element, dtype) for element in elements], dtype)


def _as_numpy(element: Any, dtype: DType | None) -> Any:
    """Numbers, strings, lists and arrays as they are; what becomes a tensor as the array of it."""
    if isinstance(element, (np.ndarray, bool, int, float, complex, str, bytes, list, tuple)):
        return element
    if hasattr(element, "__array__") and not is_registered(element):
        array = np.asarray(element)
        if array.dtype != object:
            _convert(array.dtype.type(), None)  # raises for what has no dtype here
        return array[()] if isinstance(element, np.generic) else array
    return _convert(element, dtype).numpy()


def _listed(element: Any, dtype: DType | None) -> Any:
    """Nested lists of Python's and NumPy's scalars."""
    if isinstance(element, np.ndarray) and element.ndim == 0:
        return element[()]
    if isinstance(element, (np.ndarray, list, tuple)):
        return [_listed(_as_numpy(e, dtype), dtype) for e in element]
    return element


def _from_arrays(arrays: list[np.ndarray], dtype: DType | None) -> Any:
    """Arrays of one dtype as one tensor, of what a list of all their elements would become."""
    if any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    joined = np.stack(arrays)
    result = _convert([np.zeros((), joined.dtype)[()]], dtype).dtype
    if joined.dtype.kind in "iu" and result.is_integer and joined.size:
        low, high = int(joined.min()), int(joined.max())
        if dtype is None:
            result = dtypes.as_dtype(int_array((low, high)).dtype)
        if not result.min <= low <= high <= result.max:
            raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    return _native.tensor_of(joined if result == dtypes.string else joined.astype(result.as_numpy_dtype), result)


def _from_array(value: Any, dtype: DType | None) -> Any:
    """What the array protocols make of a foreign object, such as an array of another library."""
    if (
        isinstance(value, memoryview)
        or hasattr(value, "__array__")
        or hasattr(value, "__array_interface__")
        or hasattr(value, "__array_struct__")
    ):
        array = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        array = np.from_dlpack(value)
    else:
        _require_length(value)
        raise ValueError(
            f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor."
        )
    return _convert(array, dtype)


def _require_length(value: Any) -> None:
    """Raises ValueError for a sequence that does not say how long it is: a ragged tensor, which may be long to show."""
    if all(hasattr(type(value), name) for name in ("__len__", "__getitem__")):
        try:
            len(value)
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}\n") from None


class _TensorLikeType(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, (_native.Tensor, _native.Variable)) or hasattr(type(value), "__tf_tensor__")


class TensorLike(metaclass=_TensorLikeType):
    """The type of what operations take as a tensor without conversion; also a base for classes of programs."""


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """The value as a tensor; a composite tensor as it is. Raises ValueError for one of another dtype."""
    if structure.is_composite(value):
        if dtype is not None and as_dtype(dtype) != value.dtype:
            raise ValueError(
                f"Tensor conversion dtype mismatch. Requested dtype is {as_dtype(dtype).name}, Tensor has dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    return convert_to_tensor(value, dtype, name=name)
