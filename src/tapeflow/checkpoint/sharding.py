"""Which tensors of a checkpoint go to which of its files: `tf.train.experimental.ShardingCallback` and its kinds."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.checkpoint import slices
from tapeflow.checkpoint.slices import Part
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.device import DeviceSpec
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape

_DEVICE = DeviceSpec(job="localhost", replica=0, task=0, device_type="CPU", device_index=0)


@dataclasses.dataclass(frozen=True)
class ShardableTensor:
    """A tensor of a checkpoint, or the part of one that `slice_spec` tells."""

    _tensor_save_spec: Any
    tensor: Any
    dtype: Any
    device: Any
    name: str
    shape: Any
    slice_spec: Any
    checkpoint_key: str
    trackable: Any

    def __hash__(self) -> int:
        return hash((self.name, self.slice_spec))


class ShardingCallback(abc.ABC):
    """Says what goes to which file: called with `ShardableTensor`s, it returns for each file
    {key: {slice spec: tensor}}.
    """

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What the callback does, as text."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Any]:
        """The tensors of each file."""


class ShardByTaskPolicy(ShardingCallback):
    """One file for each process that has tensors; here that is one file."""

    @property
    def description(self) -> str:
        return "Split tensors into shards based on task."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Any]:
        return [{t.checkpoint_key: {t.slice_spec: t.tensor} for t in shardable_tensors}]


class MaxShardSizePolicy(ShardingCallback):
    """Files of at most so many bytes; larger tensors are cut along their first axis.

    Raises ValueError for a size that is not positive.
    """

    def __init__(self, max_shard_size: int):
        if max_shard_size <= 0:
            raise ValueError(f"The size of a shard must be positive, got {max_shard_size}")
        self.max_shard_size = max_shard_size

    @property
    def description(self) -> str:
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Any]:
        shards: list[Any] = [{}]
        room = self.max_shard_size
        for each in shardable_tensors:
            value = np.asarray(each.tensor)
            start, rows = 0, len(value) if value.ndim else 1
            row = max(_bytes(value) // max(rows, 1), 1)
            if not value.ndim or not rows or each.dtype == dtypes.string or _bytes(value) <= room:
                room = self._place(shards, room, each.checkpoint_key, "", each.tensor, _bytes(value))
                continue
            while start < rows:
                if room < row and shards[-1]:
                    shards.append({})
                    room = self.max_shard_size
                count = min(max(room // row, 1), rows - start)
                spec = _spec(value.shape, start, count)
                part = convert_to_tensor(value[start : start + count])
                room = self._place(shards, room, each.checkpoint_key, spec, part, count * row)
                start += count
        return shards

    def _place(self, shards: list[Any], room: int, key: str, spec: str, tensor: Any, size: int) -> int:
        """Puts a tensor where there is room; how much is left."""
        if size > room and shards[-1]:
            shards.append({})
            room = self.max_shard_size
        shards[-1].setdefault(key, {})[spec] = tensor
        return room - size


def _bytes(value: np.ndarray) -> int:
    if value.dtype == object:
        return sum(len(text) for text in value.ravel().tolist())
    return value.nbytes


def _spec(shape: Sequence[int], start: int, count: int) -> str:
    rest = ":".join([f"{start},{count}", *["-"] * (len(shape) - 1)])
    return f"{' '.join(map(str, shape))} {rest}"


def shards_of(callback: Callable[..., Any], tensors: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The arrays of each file, as a callback wants them. Raises ValueError if it leaves out some."""
    given = []
    for key, value in tensors.items():
        array = np.asarray(value)
        tensor = convert_to_tensor(array.tolist() if array.dtype == object else array)
        given.append(
            ShardableTensor(
                None, tensor, tensor.dtype, _DEVICE, key, TensorShape(array.shape), "", key, None
            )
        )
    found: list[dict[str, Any]] = []
    seen = set()
    for shard in callback(given):
        own: dict[str, Any] = {}
        for key, parts in shard.items():
            seen.add(key)
            for spec, tensor in parts.items():
                spec = str(spec).strip()
                value = tensor.numpy() if hasattr(tensor, "numpy") else tensor
                value = np.asarray(value, object) if isinstance(value, bytes) else value
                if spec:
                    own.setdefault(key, []).append(Part(value, *slices.parse(spec)))
                else:
                    own[key] = value
        found.append(own)
    missing = sorted(tensors.keys() - seen)
    if missing:
        raise ValueError(f"The sharding callback left out {missing}")
    return found


boundaries(globals())
