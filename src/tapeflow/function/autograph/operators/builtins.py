"""Python's builtins where their arguments are staged: the tensor's length, its `int`, a `range` up to it, and so on."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from tapeflow import _native
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import constant, convert_to_tensor
from tapeflow.core.dtypes import float32, int32, string
from tapeflow.function.autograph.errors import at_user_line
from tapeflow.function.autograph.operators import staging
from tapeflow.function.autograph.operators.calls import cv, register_overloads
from tapeflow.function.autograph.operators.conditional import choose
from tapeflow.function.autograph.operators.dataset_loop import next_element, next_or
from tapeflow.function.autograph.operators.iteration import (
    Enumerated,
    Zipped,
    can_join,
    is_countable,
)
from tapeflow.function.autograph.operators.lists import StagedList
from tapeflow.function.autograph.operators.state import is_tensor_array
from tapeflow.ops.array.ranges import range as tensor_range
from tapeflow.ops.array.sizes import rank, shape
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.mapping import map_fn
from tapeflow.ops.control.py_functions import numpy_function
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import arithmetic, logic, reductions
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_all, reduce_any, reduce_sum
from tapeflow.ops.math.sorting import argsort, sort
from tapeflow.ops.string.numbers import to_number

_NOTHING: Any = object()


def _is_dataset(x: TensorLike) -> bool:
    return hasattr(x, "element_spec") and hasattr(x, "reduce") and hasattr(x, "enumerate")


def printing(f: Any) -> Any:
    """What is called for `f(...)` where `f` was written as `print`: prints values when the graph runs."""
    return _print if f is print else f


def _print(*objects: Any, **kwargs: Any) -> None:
    if not any(staging.is_staged(x) for x in objects):
        print(*objects, **kwargs)
        return
    if unknown := kwargs.keys() - {"sep", "end", "file", "flush"}:
        raise ValueError(f"invalid keyword arguments: {tuple(unknown)}")

    def run(*arrays: Any) -> None:
        values = iter(arrays)
        print(*(next(values) if staging.is_staged(x) else x for x in objects), **kwargs)

    numpy_function(run, [x for x in objects if staging.is_staged(x)], [])


def abs_(x: Any) -> Any:
    if _is_dataset(x):
        return x.map(abs)
    return abs(x)


def float_(x: Any = 0.0) -> Any:
    if not staging.is_staged(x):
        return float(x)

    return _number(x, float32)


def int_(x: Any = 0, base: Any = _NOTHING) -> Any:
    if not staging.is_staged(x):
        return int(x) if base is _NOTHING else int(x, base)

    if base is not _NOTHING and base != 10:
        raise NotImplementedError(f"base {base} not supported for int")
    return _number(x, int32)


def _number(x: Any, dtype: Any) -> Any:
    if x.dtype == string:
        return to_number(x, dtype)
    return cast(x, dtype)


def len_(x: Any) -> Any:
    if isinstance(x, StagedList):
        return x.array.size()
    if is_tensor_array(x):
        return x.size() if staging.in_graph() else len(x) if hasattr(x, "__len__") else x.size()
    if not isinstance(x, _native.Tensor):
        return _dataset_len(x) if _is_dataset(x) and staging.in_graph() else len(x)
    if not staging.is_staged(x) and not staging.in_graph():
        return len(x)

    sizes = None if x.shape.rank is None else x.shape.as_list()
    if sizes == []:
        raise at_user_line(
            ValueError, f"len requires a non-scalar tensor, got one of shape {x.shape}"
        )
    if sizes is not None:
        return shape(x)[0] if sizes[0] is None else sizes[0]
    Assert(rank(x) > 0, ["len requires non-zero rank, got", rank(x)])
    return shape(x)[0]


def _dataset_len(dataset: Any) -> Any:
    count = dataset.cardinality()
    if staging.is_staged(count):
        Assert(
            count >= 0, ["len requires dataset with definitive and finite cardinality, got", count]
        )
        return count
    if int(count) < 0:
        kind = "infinite" if int(count) == -1 else "unknown"
        raise at_user_line(
            ValueError,
            f"len requires dataset with definitive and finite cardinality, got one of {kind} cardinality",
        )
    return int(count)


def range_(*args: Any) -> Any:
    if not any(map(staging.is_staged, args)):
        return range(*args)

    # Python's range is empty where the limit lies before the start.
    if len(args) == 1:
        return tensor_range(maximum(args[0], 0))
    if len(args) == 2:
        return tensor_range(args[0], maximum(args[0], args[1]))
    return tensor_range(*args)


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    if is_countable(iterable):
        return Enumerated(iterable, start)
    if _is_dataset(iterable):
        return iterable.enumerate(start)
    return enumerate(iterable, start)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    if iterables and any(map(is_countable, iterables)) and all(map(can_join, iterables)):
        return Zipped(iterables)
    if iterables and all(map(_is_dataset, iterables)):
        return type(iterables[0]).zip(iterables)
    return zip(*iterables, strict=strict)


def map_(function: Callable[..., Any], *iterables: Any) -> Any:
    function = cv(function)
    if iterables and all(map(_is_dataset, iterables)):
        if len(iterables) == 1:
            return iterables[0].map(function)
        return type(iterables[0]).zip(iterables).map(function)
    return map(function, *iterables)


def filter_(function: Any, iterable: Any) -> Any:
    function = function if function is None else cv(function)
    if _is_dataset(iterable):
        return iterable.filter(function)
    return filter(function, iterable)


def next_(iterator: Any, default: Any = _NOTHING) -> Any:
    if not (staging.in_graph() and hasattr(iterator, "get_next_as_optional")):
        return next(iterator) if default is _NOTHING else next(iterator, default)

    if default is _NOTHING:
        return next_element(iterator)
    return next_or(iterator, lambda: default, choose)


def any_(iterable: Any) -> Any:
    if _is_dataset(iterable):
        return _reduced(iterable, "logical_or", False)
    if staging.is_staged(iterable):
        return reduce_any(_vector(iterable, "any"))
    return any(iterable)


def all_(iterable: Any) -> Any:
    if _is_dataset(iterable):
        return _reduced(iterable, "logical_and", True)
    if staging.is_staged(iterable):
        return reduce_all(_vector(iterable, "all"))
    return all(iterable)


def _reduced(dataset: Any, name: str, start: bool) -> Any:
    return dataset.reduce(constant(start), getattr(logic, name))


def sorted_(iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    if not staging.is_staged(iterable):
        return sorted(iterable, key=key if key is None else cv(key), reverse=reverse)

    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        if iterable.shape.rank is not None and iterable.shape.rank != 1:
            raise at_user_line(ValueError, "sort is only supported for rank 1 tensors")
        return sort(iterable, direction=direction)

    keys = map_fn(cv(key), iterable)
    if keys.shape.rank is not None and keys.shape.rank != 1:
        raise at_user_line(ValueError, "sort is only supported for rank 1 tensors")
    return gather(iterable, argsort(keys, direction=direction, stable=True))


def sum_(iterable: Any, start: Any = 0) -> Any:
    if not staging.is_staged(iterable):
        return sum(iterable, start)

    total = reduce_sum(_vector(iterable, "sum"), axis=0)
    return total if isinstance(start, int) and start == 0 else total + start


def max_(*args: Any, **options: Any) -> Any:
    return _extreme("max", builtins.max, args, options)


def min_(*args: Any, **options: Any) -> Any:
    return _extreme("min", builtins.min, args, options)


def _extreme(name: str, plain: Callable[..., Any], args: tuple[Any, ...], options: Any) -> Any:
    if not any(map(staging.is_staged, args)):
        return plain(*args, **options)
    if options:
        raise at_user_line(
            ValueError, f"These keyword arguments are currently not supported: {tuple(options)}"
        )

    if len(args) == 1:
        x = convert_to_tensor(args[0])
        if x.shape.rank == 0:
            return x
        return getattr(reductions, f"reduce_{name}")(_vector(x, name), axis=0)
    found = args[0]
    for x in args[1:]:
        found = getattr(arithmetic, f"{name}imum")(found, x)
    if found.shape.rank not in (0, None):
        raise at_user_line(
            ValueError,
            f"{name}(arg1, arg2, *args) currently support only scalar tensor, but got a tensor with shape "
            f"{found.shape}",
        )
    return found


def _vector(x: Any, name: str) -> Any:
    if x.shape.rank not in (1, None):
        raise at_user_line(
            ValueError,
            f"{name}(arg) currently support only tensor with rank 1, but got a tensor with rank {x.shape.rank}",
        )
    return x


# What a call of each builtin becomes.
register_overloads({
    abs: abs_,
    all: all_,
    any: any_,
    enumerate: enumerate_,
    filter: filter_,
    float: float_,
    int: int_,
    len: len_,
    map: map_,
    max: max_,
    min: min_,
    next: next_,
    range: range_,
    sorted: sorted_,
    sum: sum_,
    zip: zip_,
})
