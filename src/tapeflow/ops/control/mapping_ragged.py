"""map_fn of ragged and sparse tensors: rows picked one by one, rows of different lengths put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.sparse_tensor import SparseTensor, SparseTensorSpec
from tapeflow.core.structures import nest
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control import flow as control
from tapeflow.ops.control import staging
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_max
from tapeflow.ops.ragged.joining import stack as stack_ragged
from tapeflow.ops.ragged.tensor import (
    RaggedTensor,
    RaggedTensorSpec,
    rowids_of_splits,
    splits_of_lengths,
)
from tapeflow.ops.sparse import shaping
from tapeflow.ops.static import static_value

_VALUES = (RaggedTensor, SparseTensor)
_SPECS = (RaggedTensorSpec, SparseTensorSpec)


def concerns(elems: Any, signature: Any) -> bool:
    """Whether elements or results are ragged or sparse tensors."""
    return any(isinstance(v, _VALUES) for v in nest.flatten(elems)) or any(
        isinstance(s, _SPECS) for s in nest.flatten(signature)
    )


def _count(value: Any) -> Any:
    if isinstance(value, RaggedTensor):
        return cast(value.nrows(), dtypes.int32)
    if isinstance(value, SparseTensor):
        return cast(value.dense_shape[0], dtypes.int32)
    return Shape(value)[0]


def _row(value: Any, i: Any) -> Any:
    if not isinstance(value, SparseTensor):
        return value[i]
    start = concat([reshape(cast(i, dtypes.int64), [1]), value.dense_shape[1:] * 0], 0)
    size = concat([[cast(1, dtypes.int64)], value.dense_shape[1:]], 0)
    cut = shaping.slice_(value, start, size)
    return SparseTensor(cut.indices[:, 1:], cut.values, value.dense_shape[1:])


def _spec_of(value: Any) -> Any:
    """What is promised of a result that is to be like an element of `value`."""
    if isinstance(value, RaggedTensor):
        shape, depth = value.shape[1:], value.ragged_rank - 1
        return RaggedTensorSpec(shape, value.dtype, depth, value.row_splits.dtype)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape[1:], value.dtype)
    return value.dtype


class _Results:
    """The results of one output: what is written of each and how the whole is made of it."""

    def __init__(self, spec: Any, count: Any):
        self.spec, self.ragged = spec, isinstance(spec, RaggedTensorSpec)
        self.sparse = isinstance(spec, SparseTensorSpec)
        kind = dtypes.as_dtype(getattr(spec, "dtype", spec))
        if self.sparse:
            self.kinds = [kind] + [dtypes.int64] * 3
        elif self.ragged:
            self.kinds = [kind] + [spec.row_splits_dtype] * (spec.ragged_rank + 1)
        else:
            self.kinds = [kind]
        self.count = count

    def _whole_sparse(self, arrays: list[Any]) -> Any:
        values, places, counts = (array.concat() for array in arrays[:3])
        shapes, rank = arrays[3].stack(), self.spec.shape.rank
        values.set_shape([None])
        places.set_shape([None, rank])
        counts.set_shape([None])
        shapes.set_shape([None, rank])
        rows = rowids_of_splits(splits_of_lengths(counts))
        sizes = concat([reshape(cast(self.count, dtypes.int64), [1]), reduce_max(shapes, 0)], 0)
        return SparseTensor(concat([expand_dims(rows, 1), places], 1), values, sizes)

    def arrays(self) -> list[Any]:
        return [TensorArray(kind, self.count, infer_shape=False) for kind in self.kinds]

    def parts(self, value: Any) -> list[Any]:
        if self.sparse:
            count = cast(Shape(value.values), dtypes.int64)
            return [value.values, value.indices, count, value.dense_shape]
        if not self.ragged:
            return [convert_to_tensor(value, dtype_hint=self.kinds[0])]
        kind, out = self.spec.row_splits_dtype, []
        for _ in range(self.spec.ragged_rank):
            out.append(cast(value.row_lengths(), kind))
            value = value.values
        value = convert_to_tensor(value, dtype_hint=self.kinds[0])
        rows = out[0] if out else value
        return [value, reshape(cast(Shape(rows)[0], kind), [1]), *out]

    def whole(self, arrays: list[Any]) -> Any:
        if self.sparse:
            return self._whole_sparse(arrays)
        if not self.ragged:
            out = arrays[0].stack()
            shape = getattr(self.spec, "shape", None)
            if shape is not None and shape.rank is not None:
                out.set_shape([None, *shape.as_list()])
            return out
        flat = arrays[0].concat()
        shape = self.spec.shape
        if shape.rank is not None:
            flat.set_shape([None, *shape.as_list()[self.spec.ragged_rank + 1 :]])
        else:
            flat.set_shape([None])
        lengths = [array.concat() for array in arrays[1:]]
        for each in lengths:
            each.set_shape([None])
        return RaggedTensor.from_nested_row_lengths(flat, lengths, validate=False)


def map_rows(fn: Callable[..., Any], elems: Any, signature: Any, options: dict[str, Any]) -> Any:
    """`map_fn` for elements or results that are ragged or sparse.

    Raises ValueError where elements differ in number, InvalidArgumentError for a result of another dtype or kind.
    """
    flat = [v if isinstance(v, _VALUES) else convert_to_tensor(v) for v in nest.flatten(elems)]
    if any(v.shape.rank == 0 for v in flat):
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    promised = nest.flatten(signature) if signature is not None else [_spec_of(v) for v in flat]
    like = elems if signature is None else signature
    counts = {int(c) for c in map(static_value, map(_count, flat)) if c is not None}
    if len(counts) > 1:
        raise ValueError(f"The first dimensions of elems must be equal, but are {sorted(counts)}")
    leaves = nest.flatten(flat, expand_composites=True)
    if staging.staged(*leaves):
        return _staged(fn, elems, flat, promised, like, options)
    results = [
        _checked(fn(nest.pack_sequence_as(elems, [_row(v, i) for v in flat])), like, promised)
        for i in range(counts.pop())
    ]
    columns = list(zip(*results, strict=True)) or [()] * len(promised)
    wholes = [_together(list(c), spec) for c, spec in zip(columns, promised, strict=True)]
    return nest.pack_sequence_as(like, wholes)


def _checked(result: Any, like: Any, promised: list[Any]) -> list[Any]:
    nest.assert_same_structure(like, result)
    out = []
    for value, spec in zip(nest.flatten(result), promised, strict=True):
        kind = dtypes.as_dtype(getattr(spec, "dtype", spec))
        value = value if isinstance(value, _VALUES) else convert_to_tensor(value, dtype_hint=kind)
        if value.dtype != kind:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {kind.name} but Op is trying to write dtype {value.dtype.name} ",
            )
        depth = value.ragged_rank if isinstance(value, RaggedTensor) else 0
        if depth != getattr(spec, "ragged_rank", 0):
            raise ValueError(f"fn returned {value}, which does not match its signature {spec}")
        if isinstance(spec, RaggedTensorSpec) and value.shape.rank == 0:
            raise ValueError(f"fn returned a scalar, which does not match its signature {spec}")
        out.append(value)
    return out


def _together(values: list[Any], spec: Any) -> Any:
    if isinstance(spec, RaggedTensorSpec):
        if not values:
            empty = convert_to_tensor([], spec.dtype)
            rows: Any = empty
            for _ in range(spec.ragged_rank + 1):
                rows = RaggedTensor.from_row_splits(
                    rows, convert_to_tensor([0], spec.row_splits_dtype), validate=False
                )
            return rows
        whole = stack_ragged(values)
        return whole.with_row_splits_dtype(spec.row_splits_dtype)
    if isinstance(spec, SparseTensorSpec):
        return shaping.concat(0, [shaping.expand_dims(v, 0) for v in values], True)
    if not values:
        return convert_to_tensor([], dtypes.as_dtype(getattr(spec, "dtype", spec)))
    return stack(values)


def _staged(fn: Callable[..., Any], elems, flat: Sequence[Any], promised, like, options):
    count = _count(flat[0])
    outputs = [_Results(spec, count) for spec in promised]
    arrays = [output.arrays() for output in outputs]

    def body(i: int, arrays: Sequence[Any]):
        result = fn(nest.pack_sequence_as(elems, [_row(v, i) for v in flat]))
        found = _checked(result, like, promised)
        written = [
            [a.write(i, part) for a, part in zip(own, output.parts(value), strict=True)]
            for own, output, value in zip(arrays, outputs, found, strict=True)
        ]
        return i + 1, written

    _, arrays = control.while_loop(
        lambda i, _: i < count, body, (convert_to_tensor(0, dtypes.int32), arrays), **options
    )
    wholes = [output.whole(own) for output, own in zip(outputs, arrays, strict=True)]
    return nest.pack_sequence_as(like, wholes)


