"""Maps from tensors to tensors in scalar variant tensors: the TensorMap ops. A map is never changed."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.payload import element
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


class TensorMap:
    """The payload of a variant: (key, value), both tensors, by the bytes of the key."""

    def __init__(self, entries: dict[Any, tuple[Any, Any]] | None = None):
        self.entries = entries or {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorMap) and list(self.entries) == list(other.entries) and all(
            np.array_equal(list_payload.array_of(mine), list_payload.array_of(its))
            for key in self.entries
            for mine, its in zip(self.entries[key], other.entries[key], strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


def _boxed(value: TensorMap) -> np.ndarray:
    box = np.empty((), object)
    box[()] = value
    return box


def _map(x: Any) -> TensorMap:
    if x.ndim:
        raise invalid(f"Input map must be a scalar. Saw: {shape_text(x.shape)}")
    if not isinstance(x[()], TensorMap):
        raise invalid(f"Input handle is not a map. Saw: '{x[()]}'")
    return x[()]


def _key(x: np.ndarray) -> Any:
    kind = list_payload.dtype_of(x)
    if kind == dtypes.variant:
        raise invalid("A variant is no key of a map")
    text = tuple(x.ravel().tolist()) if x.dtype == object else np.ascontiguousarray(x).tobytes()
    return kind.name, x.shape, text


def _entry(found: TensorMap, key: np.ndarray, do: str) -> tuple[Any, Any]:
    entry = found.entries.get(_key(key))
    if entry is None:
        text = key.tolist()
        raise invalid(f"Trying to {do}. Could not find key \"{text.decode() if isinstance(text, bytes) else text}\".")
    return entry


def sample_map(**entries: Any) -> Any:
    """The variant of a map from strings, for samples."""
    made: dict[Any, tuple[Any, Any]] = {}
    for name, value in entries.items():
        key, array = np.array(name.encode(), object), np.asarray(value)
        made[_key(key)] = (element(key, dtypes.string), element(array, dtypes.as_dtype(array.dtype)))
    return element(_boxed(TensorMap(made)), dtypes.variant)


_KINDS = {"key_dtype": ANY, "value_dtype": ANY}
_ONE, _KEY, _OTHER = np.array(1.0), np.array(b"a", object), np.array(b"z", object)


@op("EmptyTensorMap", "-> handle: variant", shape=shapes.scalar)
def EmptyTensorMap(xp: ModuleType):
    return _boxed(TensorMap())


@EmptyTensorMap.samples
def _(rng: SampleGenerator):
    yield Sample(expect=sample_map())


@op("TensorMapInsert", "input_handle: variant, key: key_dtype, value: value_dtype -> output_handle: variant",
    types=_KINDS, shape=shapes.scalar)  # fmt: skip
def TensorMapInsert(xp: ModuleType, input_handle: Array, key: np.ndarray, value: np.ndarray):
    kinds = list_payload.dtype_of(key), list_payload.dtype_of(value)
    own = {_key(key): (element(np.array(key), kinds[0]), element(np.array(value), kinds[1]))}
    return _boxed(TensorMap({**_map(input_handle).entries, **own}))


@TensorMapInsert.samples
def _(rng: SampleGenerator):
    yield Sample(sample_map(), _KEY, _ONE, expect=sample_map(a=1.0), differentiable=False)
    yield Sample(sample_map(a=2.0, b=3.0), _KEY, _ONE, expect=sample_map(a=1.0, b=3.0), differentiable=False)


@op("TensorMapLookup", "input_handle: variant, key: key_dtype -> value: value_dtype", types={"key_dtype": ANY},
    attrs={"value_dtype": dtype}, shape=shapes.unknown)  # fmt: skip
def TensorMapLookup(xp: ModuleType, input_handle: np.ndarray, key: np.ndarray, value_dtype: DType):
    found = _entry(_map(input_handle), key, "lookup non-existent key")[1]
    if found.dtype != value_dtype:
        raise invalid(f"The value is {found.dtype.name}, not {value_dtype.name}")
    return list_payload.array_of(found)


@TensorMapLookup.samples
def _(rng: SampleGenerator):
    held = sample_map(a=[1.0, 2.0])
    yield Sample(held, _KEY, value_dtype=dtypes.float64, expect=np.array([1.0, 2.0]))
    yield Sample(held, _OTHER, value_dtype=dtypes.float64, raises=InvalidArgumentError)
    yield Sample(held, _KEY, value_dtype=dtypes.int32, raises=InvalidArgumentError)


@op("TensorMapErase", "input_handle: variant, key: key_dtype -> output_handle: variant", types={"key_dtype": ANY},
    attrs={"value_dtype": dtype}, shape=shapes.scalar)  # fmt: skip
def TensorMapErase(xp: ModuleType, input_handle: Array, key: np.ndarray, value_dtype: DType):
    held = _map(input_handle)
    _entry(held, key, "erase non-existent item")
    return _boxed(TensorMap({k: entry for k, entry in held.entries.items() if k != _key(key)}))


@TensorMapErase.samples
def _(rng: SampleGenerator):
    yield Sample(sample_map(a=1.0, b=2.0), _KEY, value_dtype=dtypes.float64, expect=sample_map(b=2.0))
    yield Sample(sample_map(a=1.0), _OTHER, value_dtype=dtypes.float64, raises=InvalidArgumentError)


@op("TensorMapHasKey", "input_handle: variant, key: key_dtype -> has_key: bool", types={"key_dtype": ANY},
    shape=shapes.scalar)  # fmt: skip
def TensorMapHasKey(xp: ModuleType, input_handle: np.ndarray, key: np.ndarray):
    return np.array(_key(key) in _map(input_handle).entries)


@TensorMapHasKey.samples
def _(rng: SampleGenerator):
    yield Sample(sample_map(a=1.0), _KEY, expect=np.array(True))
    yield Sample(sample_map(a=1.0), _OTHER, expect=np.array(False))


@op("TensorMapSize", "input_handle: variant -> size: int32", shape=shapes.scalar)
def TensorMapSize(xp: ModuleType, input_handle: Array):
    return np.array(len(_map(input_handle).entries), np.int32)


@TensorMapSize.samples
def _(rng: SampleGenerator):
    yield Sample(sample_map(a=1.0, b=2.0), expect=np.array(2, np.int32))


@op("TensorMapStackKeys", "input_handle: variant -> keys: key_dtype", attrs={"key_dtype": dtype},
    shape=shapes.unknown)  # fmt: skip
def TensorMapStackKeys(xp: ModuleType, input_handle: Array, key_dtype: DType):
    keys = [key for key, _ in _map(input_handle).entries.values()]
    if not keys:
        raise invalid("TensorMapStackKeys cannot be called on empty map.")
    for key in keys:
        if key.dtype != key_dtype:
            raise invalid(f"Key does not match requested dtype: {key.dtype.name}, not {key_dtype.name}")
        if key.shape != keys[0].shape:
            raise invalid("Keys must all have the same shape.")
    parts = [list_payload.array_of(key)[None] for key in keys]
    return list_payload.joined(parts, (len(keys), *list_payload.shape_of(keys[0])), key_dtype)


@TensorMapStackKeys.samples
def _(rng: SampleGenerator):
    yield Sample(sample_map(a=1.0, b=2.0), dtypes.string, expect=np.array([b"a", b"b"], object))
    yield Sample(sample_map(), dtypes.string, raises=InvalidArgumentError)
    yield Sample(sample_map(a=1.0), dtypes.int32, raises=InvalidArgumentError)


for _row in (
    EmptyTensorMap, TensorMapInsert, TensorMapLookup, TensorMapErase, TensorMapHasKey, TensorMapSize,
    TensorMapStackKeys,
):  # fmt: skip
    _row.gradient(None)
    _row.compiled(never="maps are objects")
