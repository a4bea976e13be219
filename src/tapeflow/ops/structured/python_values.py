"""Tensors of structures as dicts and nested lists of dicts, and made of these."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.convert import constant
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.ragged.construction import constant as ragged_constant
from tapeflow.ops.ragged.shape import DynamicRaggedShape
from tapeflow.ops.ragged.tensor import RaggedTensor, RaggedTensorSpec
from tapeflow.ops.static import static_value
from tapeflow.ops.structured import fields as fields_


class Maker:
    """Makes tensors of Python values.

    Args:
      cls: the class of tensors of structures.
    """

    def __init__(self, cls: Any):
        self._class = cls

    def made(self, value: Any, spec: Any, path: tuple[str, ...] = ()) -> Any:
        """The tensors of a value, as `spec` says, if one is given. Raises ValueError where it is no such value."""
        if isinstance(value, dict):
            return self._of_dict(value, spec, path)
        if not isinstance(value, (list, tuple)):
            if spec is not None and not (isinstance(spec, TensorSpec) and spec.shape.rank == 0):
                raise _unlike(path, spec, value)
            return _guarded(path, lambda: constant(value, None if spec is None else spec.dtype))
        keys: dict[str, None] = {}
        rank = _depth_of_dicts(value, keys)
        if rank is not None:
            return self._of_dicts(value, list(keys), rank, spec, path)
        return self._of_values(value, spec, path)

    def _is_spec(self, spec: Any) -> bool:
        return isinstance(spec, self._class.Spec)

    def _of_dict(self, value: dict[str, Any], spec: Any, path: tuple[str, ...]) -> Any:
        specs = None
        if spec is not None:
            if not self._is_spec(spec) or spec.rank != 0 or set(value) != set(spec.field_specs):
                raise _unlike(path, value, spec)
            specs = spec.field_specs
        made = {k: self.made(v, None if specs is None else specs[k], (*path, k)) for k, v in value.items()}
        return self._class.from_fields(made, shape=())

    def _of_dicts(self, value: Sequence[Any], keys: list[str], rank: int, spec: Any, path: tuple[str, ...]) -> Any:
        columns: dict[str, list[Any]] = {key: [] for key in keys}
        for child in value:
            _collect(child, columns, 1)
        shape = TensorShape([None] * rank)
        if spec is None:
            made = {key: self.made(column, None, (*path, key)) for key, column in columns.items()}
        else:
            if not self._is_spec(spec) or set(columns) - set(spec.field_specs):
                raise _unlike(path, value, spec)
            shape = spec.shape
            if shape.rank < rank:
                raise ValueError(f"Value at {path!r} does not match typespec (rank mismatch): {value!r} vs {spec!r}")
            made = {key: self.made(columns.get(key, []), s, (*path, key)) for key, s in spec.field_specs.items()}
        if not made and spec is None:
            return self._of_empty_dicts(value, rank)
        return _guarded(path, lambda: self._class.from_fields(made, shape=shape))

    def _of_empty_dicts(self, value: Sequence[Any], rank: int) -> Any:
        if rank == 1:
            return self._class.from_fields({}, shape=(len(value),), nrows=len(value))
        zeros = ragged_constant(_zeros(value))
        return self._class.from_shape(DynamicRaggedShape.from_tensor(zeros))

    def _of_values(self, value: Sequence[Any], spec: Any, path: tuple[str, ...]) -> Any:
        if spec is None:
            return _guarded(path, lambda: ragged_constant(value))
        if isinstance(spec, TensorSpec):
            found = _guarded(path, lambda: constant(value, spec.dtype))
            if not spec.shape.is_compatible_with(found.shape):
                raise _unlike(path, spec, value)
            return found
        if isinstance(spec, RaggedTensorSpec):
            inner = spec.shape.as_list()[spec.ragged_rank + 1 :]
            return _guarded(
                path, lambda: ragged_constant(value, spec.dtype, spec.ragged_rank, inner, None, spec.row_splits_dtype)
            )
        depth = _depth_of_nothing(value) if self._is_spec(spec) else None
        if depth is None:
            raise _unlike(path, spec, value)
        return self._of_dicts(value, [], depth, spec, path)


def _guarded(path: tuple[str, ...], make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:
        raise ValueError(f"Error parsing path {path!r}") from error


def _unlike(path: tuple[str, ...], one: Any, other: Any) -> ValueError:
    return ValueError(f"Value at {path!r} does not match typespec: {one!r} vs {other!r}")


def _depth_of_dicts(value: Any, keys: dict[str, None]) -> int | None:
    """How deep dicts are in lists, of which `keys` gets the keys; None where there are none."""
    if isinstance(value, dict):
        keys.update(dict.fromkeys(value))
        return 0
    if not isinstance(value, (list, tuple)):
        return None
    depths = {depth for depth in (_depth_of_dicts(child, keys) for child in value) if depth is not None}
    if len(depths) > 1:
        raise ValueError("Inconsistent depth of dictionaries")
    return depths.pop() + 1 if depths else None


def _collect(value: Any, columns: dict[str, list[Any]], depth: int) -> None:
    """Appends the values of each key, at a depth of the lists in `columns`."""
    if not isinstance(value, (dict, list, tuple)):
        raise ValueError("Expected dict or nested list/tuple of dict")
    for key, target in columns.items():
        for _ in range(1, depth):
            target = target[-1]
        target.append(value[key] if isinstance(value, dict) else [])
    if isinstance(value, (list, tuple)):
        for child in value:
            _collect(child, columns, depth + 1)


def _depth_of_nothing(value: Any) -> int | None:
    """How deep empty lists are nested; None where there is anything else."""
    if not isinstance(value, list):
        return None
    depths = [_depth_of_nothing(child) for child in value]
    known = [depth for depth in depths if depth is not None]
    return None if len(known) < len(depths) else 1 + max(known, default=0)


def _zeros(value: Any) -> Any:
    return 0 if isinstance(value, dict) else [_zeros(child) for child in value]


def as_python(value: Any) -> Any:
    """Structures as a dict, or nested lists of dicts."""
    columns = {name: _plain(value.field_value(name)) for name in value.field_names()}
    if not value.rank:
        return columns
    if not columns:
        return _empty_dicts(value)
    return _rows(list(columns), list(columns.values()), value.rank)


def _plain(field: Any) -> Any:
    if fields_.is_structured(field):
        return as_python(field)
    if isinstance(field, RaggedTensor):
        return field.to_list()
    found = field.numpy()
    return found.tolist() if isinstance(found, np.ndarray) else found


def _rows(names: list[str], columns: list[Any], rank: int) -> Any:
    if rank == 0:
        return dict(zip(names, columns, strict=True))
    return [_rows(names, list(row), rank - 1) for row in zip(*columns, strict=True)]


def _empty_dicts(value: Any) -> list[Any]:
    parts = fields_.row_partitions(value)
    rows = parts[-1].nvals() if parts else value.nrows()
    found: list[Any] = [{} for _ in range(int(rows))]
    for part in parts[::-1]:
        splits: Any = static_value(part.row_splits())
        found = [found[a:b] for a, b in itertools.pairwise(splits.tolist())]
    return found
