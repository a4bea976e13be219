"""Parts of stacks of operators: `operator[...]` picks among the matrices, by slices of what each is made of."""

from __future__ import annotations

from typing import Any

from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import ones

OPERATORS = -1  # in place of a number of dimensions: the parameter is an operator, or a list of such


def sliced(operator: Any, slices: Any) -> Any:
    """The operator of the matrices that `slices` of the batch dimensions pick; its hints are kept."""
    slices = tuple(slices) if isinstance(slices, (list, tuple)) else (slices,)
    given = {name: value for name, value in operator.parameters.items() if name != "self"}
    if "batch_shape" in given:
        given["batch_shape"] = ones(operator.batch_shape_tensor())[slices].shape.as_list()
    for name, inner in operator._matrix_dimensions.items():
        given[name] = _part(given[name], inner, slices, operator.batch_shape)
    return type(operator)(**given)


def _part(value: Any, inner: Any, slices: tuple[Any, ...], batch: Any) -> Any:
    """A parameter's part. `inner`: how many of its dimensions are those of one matrix; a list of these for a list."""
    if value is None:
        return None
    if isinstance(inner, list):
        return [_part(v, n, slices, batch) for v, n in zip(value, inner, strict=True)]
    if inner == OPERATORS and isinstance(value, (list, tuple)):
        return [_part(v, inner, slices, batch) for v in value]
    if inner == OPERATORS:
        own = value.batch_shape
    else:
        value = convert_to_tensor(value)
        own = value.shape if value.shape.rank is None else value.shape[: value.shape.rank - inner]
    if batch.rank is None or own.rank is None:
        picked = slices if any(each is Ellipsis for each in slices) else (*slices, ...)
        return value[picked] if inner == OPERATORS else value[(*picked, *(slice(None),) * inner)]
    missing = batch.rank - own.rank  # it is the same along leading dimensions that it does not have
    if missing:
        value = value[(None,) * missing]
    sizes = zip([1] * missing + own.as_list(), batch.as_list(), strict=True)
    same = [size == 1 and of_all != 1 for size, of_all in sizes]
    picked = _for_same(slices, same)
    return value[picked] if inner == OPERATORS else value[(*picked, *(slice(None),) * inner)]


def _for_same(slices: tuple[Any, ...], same: list[bool]) -> tuple[Any, ...]:
    """Slices of all batch dimensions, which take the one element of those along which a parameter is the `same`."""
    taken = sum(each is not None and each is not Ellipsis for each in slices)
    rest = (slice(None),) * max(len(same) - taken, 0)
    if any(each is Ellipsis for each in slices):
        at = next(i for i, each in enumerate(slices) if each is Ellipsis)
        slices = (*slices[:at], *rest, *slices[at + 1 :])
    else:
        slices = (*slices, *rest)
    found, left = [], iter(same)
    for each in slices:
        if each is not None and next(left, False):
            each = slice(None) if isinstance(each, slice) else 0
        found.append(each)
    return tuple(found)
