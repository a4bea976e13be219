"""Names of files that are parts of one: `name-00004-of-00100`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _check(**scalars) -> None:
    for name, value in scalars.items():
        if value.ndim:
            raise invalid(f"{name} must be a scalar, got shape {list(value.shape)}")


@op(
    "ShardedFilename",
    "basename: string, shard: int32, num_shards: int32 -> filename: string",
    ranks="basename: 0, shard: 0, num_shards: 0",
    shape=lambda call: [()],
)
def ShardedFilename(xp: ModuleType, basename: Array, shard: Array, num_shards: Array):
    _check(basename=basename, shard=shard, num_shards=num_shards)
    return np.array(basename.item() + b"-%05d-of-%05d" % (int(shard), int(num_shards)), object)


ShardedFilename.gradient(None)


@ShardedFilename.samples
def _(rng: SampleGenerator):
    name = np.array(b"a/b", object)
    yield Sample(name, np.int32(4), np.int32(100), expect=np.array(b"a/b-00004-of-00100", object))
    yield Sample(name, np.array([4], np.int32), np.int32(100), raises=InvalidArgumentError)


@op(
    "ShardedFilespec",
    "basename: string, num_shards: int32 -> filename: string",
    ranks="basename: 0, num_shards: 0",
    shape=lambda call: [()],
)
def ShardedFilespec(xp: ModuleType, basename: Array, num_shards: Array):
    _check(basename=basename, num_shards=num_shards)
    return np.array(basename.item() + b"-?????-of-%05d" % int(num_shards), object)


ShardedFilespec.gradient(None)


@ShardedFilespec.samples
def _(rng: SampleGenerator):
    name = np.array(b"a/b", object)
    yield Sample(name, np.int32(100), expect=np.array(b"a/b-?????-of-00100", object))
    yield Sample(np.array([b"a", b"b"], object), np.int32(1), raises=InvalidArgumentError)
